/** What MCP publishes about an Effect schema, and that it says the same as decoding does. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Option, Result, Schema } from "effect"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"
import * as JsonCodec from "../../src/protocol/JsonCodec.ts"
import * as JsonSchema from "../../src/protocol/JsonSchema.ts"
import * as JsonSchemaValidator from "../../src/protocol/JsonSchemaValidator.ts"
import * as ParameterHeader from "../../src/protocol/ParameterHeader.ts"

const input = (schema: Schema.Top, options?: JsonSchema.Options) =>
  Result.merge(JsonSchema.fromSchema(schema, { root: "object", ...options }))
const output = (schema: Schema.Top) => Result.merge(JsonSchema.fromSchema(schema))

const rooted = (schema: Schema.Top) => Result.map(JsonSchema.fromSchema(schema), JsonSchema.isObjectRooted)

interface Tree {
  readonly name: string
  readonly children: ReadonlyArray<Tree>
}
const Tree = Schema.Struct({
  name: Schema.String,
  children: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => Tree))
}).annotate({ identifier: "Tree" })

const treeDefinition = {
  type: "object",
  properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/Tree" } } },
  required: ["name", "children"]
}

const Color = Schema.Literals(["red", "green"]).annotate({ identifier: "Color" })

class Station extends Schema.Class<Station>("Station")(
  { id: Schema.String, since: Schema.Date.annotate({ description: "first report" }) },
  { description: "A weather station" }
) {}

describe("fromSchema", () => {
  it("[BUG-85] keeps a root union and says that it is an object", () => {
    const Circle = Schema.Struct({ kind: Schema.Literal("circle"), r: Schema.Number })
    const Rectangle = Schema.Struct({ kind: Schema.Literal("rect"), w: Schema.Number, h: Schema.Number })
    expect(input(Schema.Union([Circle, Rectangle]))).toEqual({
      type: "object",
      anyOf: [
        {
          type: "object",
          properties: { kind: { type: "string", enum: ["circle"] }, r: { type: "number" } },
          required: ["kind", "r"]
        },
        {
          type: "object",
          properties: { kind: { type: "string", enum: ["rect"] }, w: { type: "number" }, h: { type: "number" } },
          required: ["kind", "w", "h"]
        }
      ]
    })
  })

  it("[BUG-85] refuses an input that can be something else than an object", () => {
    for (const schema of [
      Schema.String,
      Schema.Array(Schema.String),
      Schema.NullOr(Schema.Struct({ a: Schema.String })),
      Schema.Union([Schema.Struct({ a: Schema.String }), Schema.String]),
      Schema.Void
    ]) {
      expect(input(schema)).toMatch(/^The root has to be an object, but it is \{/)
    }
  })

  it("[BUG-87] writes an input without fields in full", () => {
    expect(input(Schema.Struct({}))).toEqual({ type: "object", properties: {}, additionalProperties: false })
    expect(input(Schema.Struct({}).annotate({ identifier: "Nothing", description: "none" }))).toEqual({
      type: "object",
      properties: {},
      additionalProperties: false,
      description: "none"
    })
    expect(input(Schema.Unknown)).toEqual({ type: "object" })
    expect(input(Schema.Record(Schema.String, Schema.Number))).toEqual({
      type: "object",
      additionalProperties: { type: "number" }
    })
  })

  it("[BUG-86] never has a bare reference at the root", () => {
    expect(input(Tree)).toEqual({ ...treeDefinition, $defs: { Tree: treeDefinition } })
    expect(output(Station)).toEqual({
      type: "object",
      description: "A weather station",
      properties: { id: { type: "string" }, since: { type: "string", description: "first report" } },
      required: ["id", "since"]
    })
    expect(output(Schema.Array(Color))).toEqual({
      type: "array",
      items: { $ref: "#/$defs/Color" },
      $defs: { Color: { type: "string", enum: ["red", "green"] } }
    })
  })

  it("[BUG-86] tells legacy revisions whether an output is an object", () => {
    expect(rooted(Schema.Union([Tree, Station]))).toEqual(Result.succeed(true))
    expect(rooted(Schema.Array(Tree))).toEqual(Result.succeed(false))
    expect(rooted(Schema.NullOr(Tree))).toEqual(Result.succeed(false))
  })

  it("[BUG-91] resolves every reference inside the same schema, each definition once", () => {
    const Input = Schema.Struct({
      first: Color,
      second: Schema.optionalKey(Color),
      tree: Tree,
      other: Schema.optional(Tree)
    })
    expect(input(Input)).toEqual({
      type: "object",
      properties: {
        first: { $ref: "#/$defs/Color" },
        second: { $ref: "#/$defs/Color" },
        tree: { $ref: "#/$defs/Tree" },
        other: { $ref: "#/$defs/Tree" }
      },
      required: ["first", "tree"],
      $defs: { Color: { type: "string", enum: ["red", "green"] }, Tree: treeDefinition }
    })
    const odd = Schema.Struct({ a: Schema.String }).annotate({ identifier: "a/b~c d" })
    expect(input(Schema.Struct({ x: odd, y: Schema.optional(odd) }))).toMatchObject({
      properties: { x: { $ref: "#/$defs/a~1b~0c%20d" }, y: { $ref: "#/$defs/a~1b~0c%20d" } },
      $defs: { "a/b~c d": { type: "object" } }
    })
  })

  it("[BUG-91] writes identified schemas in place on request, cycles excepted", () => {
    const Input = Schema.Struct({ color: Color, tree: Tree })
    const inlined = input(Input, { inline: true }) as { properties: { [name: string]: unknown }; $defs: object }
    expect(inlined.properties.color).toEqual({ type: "string", enum: ["red", "green"] })
    expect(Object.keys(inlined.$defs)).toHaveLength(1)
  })

  it("writes numbers as numbers with their checks, and descriptions of the outer schema", () => {
    const Input = Schema.Struct({
      latitude: Schema.Number.check(Schema.isBetween({ minimum: -90, maximum: 90 })),
      count: Schema.Int.annotate({ description: "how many" }),
      free: Schema.Number.annotate({ description: "any" }),
      when: Schema.DateFromString.annotate({ description: "a day" }),
      name: Schema.String.annotate({ description: "of the type" }).annotateKey({ description: "of the property" })
    })
    expect((input(Input) as { properties: unknown }).properties).toEqual({
      latitude: { type: "number", minimum: -90, maximum: 90 },
      count: { type: "integer", description: "how many" },
      free: { type: "number", description: "any" },
      when: { type: "string", description: "a day" },
      name: { type: "string", description: "of the property" }
    })
  })

  it("closes objects on request", () => {
    const nested = Schema.Struct({ a: Schema.Struct({ b: Schema.String }) })
    expect(input(nested, { onExcessProperty: "error" })).toMatchObject({
      additionalProperties: false,
      properties: { a: { additionalProperties: false } }
    })
  })

  it("refuses schemas without a JSON form, and says why", () => {
    const opaque = Schema.declare((value): value is () => void => typeof value === "function", { expected: "Function" })
    expect(input(Schema.Struct({ f: opaque }))).toMatch(/^Function has no JSON form/)
    expect(input(Schema.Struct({ [Symbol.iterator]: Schema.String }))).toMatch(/property names must be strings/)
  })

  it("[HDR-07] writes x- annotations as keywords, wherever the schema is used", () => {
    const Input = Schema.Struct({
      region: Schema.String.pipe(ParameterHeader.annotate("Region")),
      size: Schema.optional(Schema.Int.check(Schema.isGreaterThan(0)).pipe(ParameterHeader.annotate("Size"))),
      color: Color.pipe(ParameterHeader.annotate("Color")),
      zone: Schema.optional(Schema.String).pipe(ParameterHeader.annotate("Zone")),
      depth: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(3)), ParameterHeader.annotate("Depth")),
      page: Schema.NumberFromString.pipe(ParameterHeader.annotate("Page")),
      note: Schema.NullOr(Schema.String).pipe(ParameterHeader.annotate("Note"))
    })
    const schema = input(Input)
    expect(schema).toMatchObject({
      properties: {
        region: { type: "string", "x-mcp-header": "Region" },
        size: { type: "integer", exclusiveMinimum: 0, "x-mcp-header": "Size" },
        color: { type: "string", enum: ["red", "green"], "x-mcp-header": "Color" },
        zone: { type: "string", "x-mcp-header": "Zone" },
        depth: { type: "integer", "x-mcp-header": "Depth" },
        page: { type: "string", "x-mcp-header": "Page" },
        note: { anyOf: [{ type: "string" }, { type: "null" }], "x-mcp-header": "Note" }
      }
    })
    const declared = Result.getOrThrow(ParameterHeader.declared(schema))
    expect(declared.map(({ header, type }) => `${header}: ${type}`)).toEqual([
      "Mcp-Param-Region: string",
      "Mcp-Param-Size: integer",
      "Mcp-Param-Color: string",
      "Mcp-Param-Zone: string",
      "Mcp-Param-Depth: integer",
      "Mcp-Param-Page: string",
      "Mcp-Param-Note: string"
    ])
  })
})

describe("JsonCodec", () => {
  const Input = Schema.Struct({
    a: Schema.NullOr(Schema.String),
    b: Schema.optional(Schema.String),
    c: Schema.Number.pipe(Schema.withDecodingDefaultKey(Effect.succeed(10)))
  })

  for (const compiled of [false, true]) {
    it.effect(`[BUG-92] tells null from absent, as published (compiled: ${compiled})`, () =>
      Effect.gen(function* () {
        const codec = JsonCodec.make(Input)
        if (compiled) SchemaJITCompiler.enable(codec.ast)
        const decode = Schema.decodeUnknownResult(codec)
        const validate = yield* JsonSchemaValidator.compileValidator(input(Input))
        expect(input(Input)).toEqual({
          type: "object",
          properties: {
            a: { anyOf: [{ type: "string" }, { type: "null" }] },
            b: { type: "string" },
            c: { type: "number" }
          },
          required: ["a"]
        })
        expect(decode({ a: null })).toEqual(Result.succeed({ a: null, c: 10 }))
        expect(validate({ a: null })).toBeUndefined()
        expect(String(Result.merge(decode({ a: null, b: null })))).toContain('["b"]')
        expect(validate({ a: null, b: null })).toBe("/b must be string")
        expect(String(Result.merge(decode({})))).toContain('["a"]')
        expect(validate({})).toBe("the value must have required property 'a'")
      })
    )
  }

  it("encodes undefined as absent and refuses numbers that JSON has not", () => {
    const encode = Schema.encodeUnknownResult(JsonCodec.make(Input))
    expect(Object.keys(Result.getOrThrow(encode({ a: null, b: undefined, c: 1 })) as object)).toEqual(["a", "c"])
    for (const c of [Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(String(Result.merge(encode({ a: null, c })))).toContain('["c"]')
    }
  })

  it("goes both ways through classes, options, recursion and defaults", () => {
    const schema = Schema.Struct({
      station: Schema.optional(Station),
      tree: Schema.optional(Tree),
      maybe: Schema.Option(Schema.Struct({ n: Schema.optional(Schema.Number) })),
      map: Schema.ReadonlyMap(Schema.String, Schema.Number)
    })
    const value: typeof schema.Type = {
      station: new Station({ id: "s", since: new Date(0) }),
      tree: { name: "root", children: [{ name: "leaf", children: [] }] },
      maybe: Option.some({ n: 1 }),
      map: new Map([["k", 2]])
    }
    const codec = JsonCodec.make(schema)
    const encoded = Schema.encodeSync(codec)(value)
    expect(encoded).toEqual({
      station: { id: "s", since: "1970-01-01T00:00:00.000Z" },
      tree: { name: "root", children: [{ name: "leaf", children: [] }] },
      maybe: { _tag: "Some", value: { n: 1 } },
      map: [["k", 2]]
    })
    expect(Schema.decodeSync(codec)(JSON.parse(JSON.stringify(encoded)))).toEqual(value)
    expect(Schema.encodeSync(codec)({ maybe: Option.none(), map: new Map() })).toEqual({
      maybe: { _tag: "None" },
      map: []
    })
  })
})
