/**
 * Tools that are described by JSON Schemas: shown as they are, and held against what comes in and goes out.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { McpServer, Tool } from "mcp-effect"
import { at, eras, open } from "../support/RawClient.ts"

const inputSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: { place: { $anchor: "place", type: "object", properties: { city: { type: "string", minLength: 1 } } } },
  properties: { place: { $ref: "#/$defs/place" }, phone: { type: "string" }, email: { type: "string" } },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { required: ["phone"] },
  // oxlint-disable-next-line no-thenable -- a keyword of JSON Schema
  then: { properties: { phone: { pattern: "^[+]" } } },
  additionalProperties: false
} as const

const outputSchema = { type: "object", properties: { count: { type: "integer" } }, required: ["count"] } as const

const makeServer = () => {
  const seen: Array<unknown> = []
  const Contact = Tool.fromJsonSchema("contact", { description: "Contacts somebody", inputSchema, title: "Contact" })
  const Count = Tool.fromJsonSchema("count", { inputSchema: { type: "object" }, outputSchema })
  const Old = Tool.fromJsonSchema("old", {
    inputSchema: {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: { pair: { type: "array", items: [{ type: "string" }, { type: "number" }] } }
    }
  })
  const Broken = Tool.fromJsonSchema("broken", {
    inputSchema: { type: "object", properties: { a: { $ref: "https://example.com/elsewhere.json" } } }
  })
  const server = McpServer.make({
    name: "foreign",
    version: "1",
    tools: [
      Tool.handle(Contact, (args) =>
        Effect.as(
          Effect.sync(() => seen.push(args)),
          `contacted ${Object.keys(args)}`
        )
      ),
      Tool.handle(Count, ({ count }) => Effect.succeed({ count })),
      Tool.handle(Old, ({ pair }) => Effect.succeed(JSON.stringify(pair))),
      Tool.handle(Broken, () => Effect.succeed("never"))
    ]
  })
  return { seen, server }
}

for (const era of eras) {
  describe(`foreign tools in ${era}`, () => {
    it.effect("[TOOL-11] the schemas are listed as they were given", () =>
      Effect.gen(function* () {
        const client = yield* open(makeServer().server, { era })
        const { tools } = yield* client.result("tools/list")
        expect(at(tools, 0)).toEqual({
          name: "contact",
          title: "Contact",
          description: "Contacts somebody",
          inputSchema
        })
        expect(at(tools, 1)).toEqual({ name: "count", inputSchema: { type: "object" }, outputSchema })
      })
    )

    it.effect("[TOOL-27] arguments that match reach the handler, others are told to the model", () =>
      Effect.gen(function* () {
        const { seen, server } = makeServer()
        const client = yield* open(server, { era })
        const good = { phone: "+49", place: { city: "Ulm" } }
        expect(at(yield* client.call("contact", good), "content", 0, "text")).toBe("contacted phone,place")
        for (const bad of [{}, { phone: "49" }, { email: "a@b", place: { city: "" } }, { email: "a@b", other: 1 }]) {
          const result = yield* client.call("contact", bad)
          expect(result.isError).toBe(true)
          expect(at(result, "content", 0, "text")).toMatch(/^Invalid arguments: ./)
        }
        expect((yield* client.call("contact")).isError).toBe(true)
        expect(seen).toEqual([good])
      })
    )

    it.effect("[JSCH-05] a schema may be draft-07", () =>
      Effect.gen(function* () {
        const client = yield* open(makeServer().server, { era })
        expect(at(yield* client.call("old", { pair: ["a", 1] }), "content", 0, "text")).toBe('["a",1]')
        expect((yield* client.call("old", { pair: [1, "a"] })).isError).toBe(true)
      })
    )

    it.effect("[TOOL-19] an output that does not match is not sent", () =>
      Effect.gen(function* () {
        const client = yield* open(makeServer().server, { era })
        const good = yield* client.call("count", { count: 3 })
        expect(good.structuredContent).toEqual({ count: 3 })
        expect(at(good, "content", 0, "text")).toBe('{"count":3}')
        const bad = yield* client.call("count", { count: "three" })
        expect(bad.isError).toBe(true)
        expect(bad.structuredContent).toBeUndefined()
      })
    )

    it.effect("[JSCH-06][JSCH-08] a schema that leads elsewhere is not followed, and its tool does not run", () =>
      Effect.gen(function* () {
        const client = yield* open(makeServer().server, { era })
        const result = yield* client.call("broken", { a: 1 })
        expect(result.isError).toBe(true)
        expect(JSON.stringify(result)).not.toContain("never")
      })
    )
  })
}

const annotated = (name: string) => () =>
  Tool.fromJsonSchema("run", {
    inputSchema: { type: "object", properties: { region: { type: "string", "x-mcp-header": name } } }
  })

describe("fromJsonSchema", () => {
  it("knows the parameters that are mirrored in headers", () => {
    const tool = Tool.fromJsonSchema("run", {
      inputSchema: { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } }
    })
    expect(tool.headers).toEqual([{ header: "Mcp-Param-Region", path: ["region"], type: "string" }])
  })

  it("refuses an annotation that is not valid", () => {
    expect(annotated("Region")).not.toThrow()
    expect(annotated("My Region")).toThrow(/^The input of tool "run" is not valid: /)
  })
})
