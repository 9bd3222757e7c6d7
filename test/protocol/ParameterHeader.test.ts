/** `x-mcp-header`: the rules for annotations, what a client writes and what a server checks. */
import { describe, expect, it } from "vitest"
import { Result } from "effect"
import * as ParameterHeader from "../../src/protocol/ParameterHeader.ts"

const declared = (properties: unknown, rest?: object) =>
  Result.merge(ParameterHeader.declared({ type: "object", properties, ...rest }))

const headers = Result.getOrThrow(
  ParameterHeader.declared({
    type: "object",
    properties: {
      region: { type: "string", "x-mcp-header": "Region" },
      count: { type: "integer", "x-mcp-header": "Count" },
      dry: { type: "boolean", "x-mcp-header": "Dry" },
      query: { type: "string" },
      target: { type: "object", properties: { tenant: { type: "string", "x-mcp-header": "Tenant" } } }
    }
  })
)

const check = (args: unknown, sent: Record<string, string>) => {
  const http = new Headers(sent)
  return ParameterHeader.check(headers, args, (name) => http.get(name))
}

describe("declared", () => {
  it("[HDR-06] [HDR-10] [A12] finds annotations, nested ones too", () => {
    expect(headers).toEqual([
      { header: "Mcp-Param-Region", path: ["region"], type: "string" },
      { header: "Mcp-Param-Count", path: ["count"], type: "integer" },
      { header: "Mcp-Param-Dry", path: ["dry"], type: "boolean" },
      { header: "Mcp-Param-Tenant", path: ["target", "tenant"], type: "string" }
    ])
    expect(declared({ m: { type: "string", "x-mcp-header": "Method" } })).toMatchObject([
      { header: "Mcp-Param-Method" }
    ])
    expect(declared({ "x-mcp-header": { type: "array" }, items: { type: "string", "x-mcp-header": "I" } })).toEqual([
      { header: "Mcp-Param-I", path: ["items"], type: "string" }
    ])
    expect(declared({ a: { type: "string", default: { "x-mcp-header": "No" } } })).toEqual([])
    expect(Result.merge(ParameterHeader.declared(true))).toEqual([])
  })

  it("lets a mirrored parameter be null", () => {
    expect(declared({ a: { type: ["string", "null"], "x-mcp-header": "A" } })).toMatchObject([{ type: "string" }])
    expect(declared({ a: { anyOf: [{ type: "null" }, { type: "integer" }], "x-mcp-header": "A" } })).toMatchObject([
      { type: "integer" }
    ])
  })

  it.each(["", "My Region", "Region:Primary", "Région", "Region\t1", "a\r\nb", "a\u0000", 1, null, {}])(
    "[HDR-08] refuses the name %j",
    (name) => {
      expect(declared({ a: { type: "string", "x-mcp-header": name } })).toMatch(/not a header name/)
    }
  )

  it("[HDR-08] refuses a name that is there twice, ignoring case", () => {
    expect(
      declared({ a: { type: "string", "x-mcp-header": "Region" }, b: { type: "string", "x-mcp-header": "REGION" } })
    ).toMatch(/there twice/)
  })

  it.each([
    { type: "number" },
    { type: "array" },
    { type: "object" },
    { type: "null" },
    { type: ["string", "integer"] },
    { anyOf: [{ type: "string" }, { type: "boolean" }] },
    { anyOf: [{ type: "string" }, { enum: [1] }] },
    { enum: ["a"] },
    { $ref: "#/$defs/a" }
  ])("[HDR-09] refuses a property that is %j", (schema) => {
    expect(declared({ a: { ...schema, "x-mcp-header": "A" } })).toMatch(/type string, integer or boolean/)
  })

  const annotated = { type: "string", "x-mcp-header": "A" }
  it.each([
    [{ a: { type: "array", items: annotated } }, {}],
    [{ a: { type: "array", prefixItems: [annotated] } }, {}],
    [{ a: { anyOf: [annotated, { type: "null" }] } }, {}],
    [{ a: { additionalProperties: annotated } }, {}],
    [{ a: { patternProperties: { "^x": annotated } } }, {}],
    [{}, { $defs: { a: annotated } }],
    [{}, { definitions: { a: annotated } }],
    [{}, { allOf: [{ properties: { a: annotated } }] }],
    [{}, { if: { properties: { a: annotated } } }],
    [{}, { else: { properties: { a: annotated } } }],
    [{}, { not: annotated }],
    [{}, { dependentSchemas: { b: { properties: { a: annotated } } } }]
  ])("[HDR-10] refuses the annotation in %j %j", (properties, rest) => {
    expect(declared(properties, rest)).toMatch(/not on a property that "properties" alone lead to/)
  })

  it("[HDR-10] refuses an annotation on the root", () => {
    expect(declared({}, { "x-mcp-header": "A" })).toMatch(/on the root/)
  })

  it("gives up on a schema that is nested without end", () => {
    let deep: object = {}
    for (let level = 0; level < 10_000; level++) deep = { items: deep }
    expect(Result.merge(ParameterHeader.declared(deep))).toMatch(/128 levels/)
  })
})

describe("write", () => {
  it("[HDR-12] [HDR-13] [HDR-14] [A15] mirrors values, and only those that are there", () => {
    expect(
      ParameterHeader.write(headers, {
        region: "eu west",
        count: -7,
        dry: false,
        query: "x",
        target: { tenant: "日本語" }
      })
    ).toEqual({
      "Mcp-Param-Region": "eu west",
      "Mcp-Param-Count": "-7",
      "Mcp-Param-Dry": "false",
      "Mcp-Param-Tenant": "=?base64?5pel5pys6Kqe?="
    })
    expect(ParameterHeader.write(headers, { region: "", count: 1e20, dry: true })).toEqual({
      "Mcp-Param-Region": "",
      "Mcp-Param-Count": "100000000000000000000",
      "Mcp-Param-Dry": "true"
    })
    expect(ParameterHeader.write(headers, { region: null, target: null })).toEqual({})
    expect(ParameterHeader.write(headers, { region: {}, count: 1.5, target: [] })).toEqual({})
    expect(ParameterHeader.write(headers, undefined)).toEqual({})
  })

  it("[HDR-12] reads own properties only", () => {
    const inherited = Result.getOrThrow(
      ParameterHeader.declared({
        properties: { constructor: { properties: { name: { type: "string", "x-mcp-header": "N" } } } }
      })
    )
    expect(ParameterHeader.write(inherited, {})).toEqual({})
  })
})

describe("check", () => {
  it("[HDR-04] [HDR-16] takes what a client writes, whatever the case of names", () => {
    const args = { region: " padded ", count: 42, dry: true, target: { tenant: "=?base64?x?=" } }
    expect(check(args, ParameterHeader.write(headers, args))).toBeUndefined()
    expect(check({ region: "eu" }, { "MCP-PARAM-REGION": "eu" })).toBeUndefined()
    expect(check({ region: "" }, { "Mcp-Param-Region": "" })).toBeUndefined()
    expect(check({ region: "a" }, { "mcp-param-region": "=?base64?YQ==?=" })).toBeUndefined()
  })

  it.each([["42"], ["42.0"], ["4.2e1"], ["=?base64?NDI=?="]])("[HDR-17] takes %s for 42", (text) => {
    expect(check({ count: 42 }, { "Mcp-Param-Count": text })).toBeUndefined()
  })

  it.each(["43", "", "0x2a", "42a", "NaN", "4 2"])("[HDR-17] does not take %j for 42", (text) => {
    expect(check({ count: 42 }, { "Mcp-Param-Count": text })).toMatch(/does not match/)
  })

  it("[HDR-09] refuses integers outside the safe range", () => {
    expect(check({ count: 2 ** 53 }, { "Mcp-Param-Count": String(2 ** 53 + 1) })).toMatch(/safe range/)
  })

  it("[HDR-18] wants a header exactly when there is a value", () => {
    expect(check({ region: "eu" }, {})).toMatch(/Mcp-Param-Region header is missing/)
    expect(check({ target: { tenant: "a" } }, {})).toMatch(/Mcp-Param-Tenant header is missing/)
    expect(check({ region: null }, {})).toBeUndefined()
    expect(check({}, {})).toBeUndefined()
    expect(check({}, { "Mcp-Param-Region": "eu" })).toMatch(/no such value/)
    expect(check({ region: null }, { "Mcp-Param-Region": "null" })).toMatch(/no such value/)
    expect(check({}, { "Mcp-Param-Other": "x" })).toBeUndefined()
  })

  it("[HDR-05] refuses what differs or is broken", () => {
    expect(check({ region: "eu" }, { "Mcp-Param-Region": "EU" })).toMatch(/'EU' does not match/)
    expect(check({ dry: true }, { "Mcp-Param-Dry": "True" })).toMatch(/does not match/)
    expect(check({ region: "Hello" }, { "Mcp-Param-Region": "=?base64?SGVsbG8?=" })).toMatch(/Base64 is malformed/)
    expect(check({ region: "é" }, { "Mcp-Param-Region": "é" })).toMatch(/characters/)
  })

  it("[BUG-139] refuses a header that came twice", () => {
    const twice = new Headers({ "Mcp-Param-Region": "eu" })
    twice.append("Mcp-Param-Region", "eu")
    expect(ParameterHeader.check(headers, { region: "eu" }, (name) => twice.get(name))).toMatch(/does not match/)
    expect(ParameterHeader.check(headers, { region: "eu" }, () => ["eu", "eu"])).toMatch(/came 2 times/)
  })
})
