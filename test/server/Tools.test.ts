/**
 * `tools/list` and `tools/call`: what a tool looks like, and what becomes of a call.
 */
import { describe, expect, it } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Effect, Schema } from "effect"
import { Content, McpServer, Tool } from "mcp-effect"
import { demo } from "../support/Demo.ts"
import { at, eras, legacy, modern, open, serve } from "../support/RawClient.ts"

const serverOf = <R>(...tools: ReadonlyArray<Tool.Handled<R>>) => McpServer.make({ name: "s", version: "1", tools })

const text = (result: object) => at(result, "content", 0, "text")

for (const era of eras) {
  describe(`tools in ${era}`, () => {
    it.effect(
      "[TOOL-02][TOOL-04][TOOL-09][TOOL-10] the list is the same for every connection, before and after calls",
      () =>
        Effect.gen(function* () {
          const connect = yield* serve(demo)
          const [one, other] = [yield* connect({ era }), yield* connect({ era, capabilities: { elicitation: {} } })]
          const before = yield* one.result("tools/list")
          yield* one.call("add", { a: 1, b: 2 })
          yield* one.call("withdraw", { amount: 12 })
          expect(yield* one.result("tools/list")).toEqual(before)
          expect(yield* other.result("tools/list")).toEqual(before)
          for (const tool of before.tools as ReadonlyArray<object>) {
            expect(at(tool, "name")).toMatch(/^[A-Za-z0-9_.-]{1,128}$/)
            expect(at(tool, "inputSchema", "type")).toBe("object")
          }
        })
    )

    it.effect("[TOOL-25] an unknown tool is a protocol error", () =>
      Effect.gen(function* () {
        const client = yield* open(demo, { era })
        for (const name of ["nothing", "", "Echo", "constructor", "__proto__"]) {
          expect((yield* client.error("tools/call", { name })).code).toBe(-32602)
        }
      })
    )

    it.effect("[TOOL-15][TOOL-16] every kind of content goes through, and isError stays out of success", () =>
      Effect.gen(function* () {
        const All = Tool.handle(Tool.make("all"), () =>
          Effect.succeed([
            Content.text("t"),
            Content.image(new Uint8Array([1]), "image/png"),
            Content.audio(new Uint8Array([2]), "audio/wav"),
            Content.resourceLink("config://app", "config"),
            Content.embeddedResource({ uri: "a:b", mimeType: "text/plain", text: "x" }),
            Content.embeddedResource({ uri: "a:c", blob: "AQ==" })
          ])
        )
        const client = yield* open(serverOf(All), { era })
        const result = yield* client.call("all")
        expect(result.isError ?? false).toBe(false)
        expect((result.content as ReadonlyArray<object>).map((block) => at(block, "type"))).toEqual([
          "text",
          "image",
          "audio",
          "resource_link",
          "resource",
          "resource"
        ])
      })
    )

    it.effect("[TOOL-19][BUG-99] structured output fits its schema, with content beside it", () =>
      Effect.gen(function* () {
        const client = yield* open(demo, { era })
        const tools = (yield* client.result("tools/list")).tools as ReadonlyArray<{
          name: string
          outputSchema?: object
        }>
        const { outputSchema } = tools.find(({ name }) => name === "add") ?? {}
        const result = yield* client.call("add", { a: 2, b: 3 })
        expect(result.structuredContent).toEqual({ sum: 5 })
        expect(result.content).toEqual([{ type: "text", text: '{"sum":5}' }])
        const isValid = new Ajv2020().compile(outputSchema as object)
        expect(isValid(result.structuredContent)).toBe(true)
      })
    )

    it.effect("[TOOL-19] output that breaks the schema never leaves the server", () =>
      Effect.gen(function* () {
        const Bad = Tool.make("bad", { output: Schema.Struct({ sum: Schema.Number }) })
        const broken = Tool.handle(Bad, () => Effect.succeed({ sum: "five" as unknown as number }))
        const client = yield* open(serverOf(broken), { era })
        const result = yield* client.call("bad")
        expect(result.isError).toBe(true)
        expect(result).not.toHaveProperty("structuredContent")
        expect(JSON.stringify(result)).not.toContain("five")
      })
    )

    it.effect("[TOOL-31][BUG-98] input is checked before the handler runs; the model is told what is wrong", () =>
      Effect.gen(function* () {
        let ran = 0
        const Add = Tool.make("add", { input: Schema.Struct({ a: Schema.Number, b: Schema.Number }) })
        const client = yield* open(serverOf(Tool.handle(Add, () => Effect.sync(() => void ran++))), { era })
        for (const args of [{}, { a: "1", b: 2 }, { a: 1 }, { a: null, b: 2 }]) {
          const result = yield* client.call("add", args)
          expect(result.isError).toBe(true)
          expect(at(result, "content", 0, "text")).toMatch(/Invalid arguments/)
        }
        for (const args of [null, "a", [1], 7]) {
          const error = yield* client.error("tools/call", { name: "add", arguments: args })
          expect(error.code).toBe(-32602)
        }
        expect(ran).toBe(0)
      })
    )

    it.effect("[BUG-98][LOG-07] a declared failure and a defect are results; the defect keeps its text to itself", () =>
      Effect.gen(function* () {
        const client = yield* open(demo, { era, meta: { "io.modelcontextprotocol/logLevel": "debug" } })
        if (era === legacy) yield* client.result("logging/setLevel", { level: "debug" })
        const declared = yield* client.call("withdraw", { amount: 17 })
        expect(declared.isError).toBe(true)
        expect(at(declared, "content", 0, "text")).toContain("7")
        const defect = yield* client.call("break")
        expect(defect.isError).toBe(true)
        expect(defect.content).toEqual([{ type: "text", text: 'The tool "break" failed unexpectedly' }])
        expect(JSON.stringify(client.received)).not.toMatch(/hunter2|x\.ts/)
      })
    )

    it.effect("[BUG-87] a tool without arguments takes none, or an empty object, and says so", () =>
      Effect.gen(function* () {
        const client = yield* open(serverOf(Tool.handle(Tool.make("go"), () => Effect.succeed("gone"))), { era })
        const schema = at(yield* client.result("tools/list"), "tools", 0, "inputSchema")
        expect(schema).toEqual({ type: "object", properties: {}, additionalProperties: false })
        expect(at(yield* client.call("go"), "content", 0, "text")).toBe("gone")
        expect(at(yield* client.call("go", {}), "content", 0, "text")).toBe("gone")
        const error = yield* client.error("tools/call", { name: "go", arguments: null })
        expect(error.code).toBe(-32602)
        expect(error.message).toContain("arguments")
      })
    )

    it.effect("[BUG-88][BUG-92] absent, null and default are three things, in the schema as in the call", () =>
      Effect.gen(function* () {
        const Fields = Tool.make("fields", {
          input: Schema.Struct({
            a: Schema.NullOr(Schema.String),
            b: Schema.optionalKey(Schema.String),
            c: Schema.Number.pipe(Schema.withDecodingDefaultKey(Effect.succeed(10)))
          })
        })
        const Optional = Tool.make("optional", {
          input: Schema.Struct({ c: Schema.Number.pipe(Schema.withDecodingDefaultKey(Effect.succeed(10))) })
        })
        const client = yield* open(
          serverOf(
            Tool.handle(Fields, (input) => Effect.succeed(JSON.stringify(input))),
            Tool.handle(Optional, (input) => Effect.succeed(JSON.stringify(input)))
          ),
          { era }
        )
        expect(text(yield* client.call("fields", { a: null }))).toBe('{"a":null,"c":10}')
        expect(text(yield* client.call("optional"))).toBe('{"c":10}')
        const nullB = yield* client.call("fields", { a: null, b: null })
        expect([nullB.isError, text(nullB)]).toEqual([true, expect.stringContaining('"b"')])
        const noA = yield* client.call("fields", {})
        expect([noA.isError, text(noA)]).toEqual([true, expect.stringContaining('"a"')])
        const schema = at(yield* client.result("tools/list"), "tools", 0, "inputSchema")
        expect(at(schema, "required")).toEqual(["a"])
        expect(JSON.stringify(at(schema, "properties", "a"))).toContain("null")
        expect(JSON.stringify(at(schema, "properties", "b"))).not.toContain("null")
      })
    )

    it.effect("[BUG-85] a union of objects as input keeps its members and says that it is an object", () =>
      Effect.gen(function* () {
        const Shape = Schema.Union([
          Schema.Struct({ kind: Schema.Literal("circle"), r: Schema.Number }),
          Schema.Struct({ kind: Schema.Literal("rect"), w: Schema.Number, h: Schema.Number })
        ])
        const Area = Tool.make("area", { input: Shape })
        const area = Tool.handle(Area, (shape) => Effect.succeed(shape.kind))
        const client = yield* open(serverOf(area), { era })
        const schema = at(yield* client.result("tools/list"), "tools", 0, "inputSchema")
        expect(at(schema, "type")).toBe("object")
        expect(at(schema, "anyOf")).toHaveLength(2)
        expect(at(yield* client.call("area", { kind: "rect", w: 1, h: 2 }), "content", 0, "text")).toBe("rect")
        expect((yield* client.call("area", { kind: "rect", r: 1 })).isError).toBe(true)
        expect(() => Tool.make("bad", { input: Schema.String as never })).toThrow(/object/)
      })
    )

    it.effect(
      "[BUG-86][TOOL-12] output that is no object: said as it is where that is allowed, left out where not",
      () =>
        Effect.gen(function* () {
          class Named extends Schema.Class<Named>("Named")({ n: Schema.Number }) {}
          const Identified = Tool.make("identified", { output: Named })
          const Union = Tool.make("union", {
            output: Schema.Union([Schema.TaggedStruct("A", {}), Schema.TaggedStruct("B", { n: Schema.Number })])
          })
          const List = Tool.make("list", { output: Schema.Array(Schema.Number) })
          const client = yield* open(
            serverOf(
              Tool.handle(Identified, () => Effect.succeed(new Named({ n: 1 }))),
              Tool.handle(Union, () => Effect.succeed({ _tag: "B" as const, n: 2 })),
              Tool.handle(List, () => Effect.succeed([1, 2]))
            ),
            { era }
          )
          const { tools } = yield* client.result("tools/list")
          expect(at(tools, 0, "outputSchema", "type")).toBe("object")
          expect(at(tools, 1, "outputSchema", "type")).toBe("object")
          expect(at(tools, 2, "outputSchema", "type")).toBe(era === legacy ? undefined : "array")
          expect((yield* client.call("identified")).structuredContent).toEqual({ n: 1 })
          expect((yield* client.call("union")).structuredContent).toEqual({ _tag: "B", n: 2 })
          const list = yield* client.call("list")
          expect(list.structuredContent).toEqual(era === legacy ? undefined : [1, 2])
          expect(list.content).toEqual([{ type: "text", text: "[1,2]" }])
        })
    )

    it.effect("[BUG-91][JSCH-06] every $ref of a published schema resolves inside it", () =>
      Effect.gen(function* () {
        interface Tree {
          readonly color: "red" | "green"
          readonly children: ReadonlyArray<Tree>
        }
        const Color = Schema.Literals(["red", "green"]).annotate({ identifier: "Color" })
        const Tree: Schema.Codec<Tree> = Schema.Struct({
          color: Color,
          children: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => Tree))
        }).annotate({ identifier: "Tree" })
        const Paint = Tool.make("paint", { input: Schema.Struct({ first: Color, second: Color, tree: Tree }) })
        const client = yield* open(serverOf(Tool.handle(Paint, () => Effect.succeed("painted"))), { era })
        const schema = at(yield* client.result("tools/list"), "tools", 0, "inputSchema")
        const references = [...JSON.stringify(schema).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] as string)
        expect(references.length).toBeGreaterThan(0)
        for (const reference of references) {
          expect(reference.startsWith("#/$defs/")).toBe(true)
          expect(at(schema, "$defs", reference.slice("#/$defs/".length))).toBeDefined()
        }
        const leaf = { color: "green", children: [] }
        const painted = yield* client.call("paint", {
          first: "red",
          second: "red",
          tree: { color: "red", children: [leaf] }
        })
        expect(at(painted, "content", 0, "text")).toBe("painted")
      })
    )
  })
}

describe("tools in 2026-07-28", () => {
  it.effect("[TOOL-11] the root of an input schema is an object, whatever else it says", () =>
    Effect.gen(function* () {
      const client = yield* open(demo, { era: modern })
      const { tools } = yield* client.result("tools/list")
      for (const tool of tools as ReadonlyArray<object>) expect(at(tool, "inputSchema", "type")).toBe("object")
    })
  )

  it.effect("[TOOL-18] structured content may be null", () =>
    Effect.gen(function* () {
      const None = Tool.make("none", { output: Schema.Null })
      const client = yield* open(serverOf(Tool.handle(None, () => Effect.succeed(null))))
      const result = yield* client.call("none")
      expect(result).toHaveProperty("structuredContent", null)
      expect(result.content).toEqual([{ type: "text", text: "null" }])
    })
  )
})
