/**
 * Messages as such: ids, envelopes, errors and `_meta`, whatever the method.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { CallContext, Catalog, McpError, McpServer, Tool } from "mcp-effect"
import { isMetaKey, isReservedMetaKey } from "../../src/protocol/Meta.ts"
import { bare, demo } from "../support/Demo.ts"
import { Gate } from "../support/Gate.ts"
import { at, eras, legacy, modern, modernMeta, open, serve, settle } from "../support/RawClient.ts"

for (const era of eras) {
  describe(`messages in ${era}`, () => {
    it.effect("[BASE-01][BASE-06][BASE-08][BASE-10] answers are JSON-RPC 2.0 with the request's id, as it was", () =>
      Effect.gen(function* () {
        const client = yield* open(demo, { era })
        for (const id of ["a", "7", "", 7, 0, -3, "__proto__"]) {
          const answer = yield* client.request("tools/list", {}, id)
          expect(answer.jsonrpc).toBe("2.0")
          expect(answer.id).toBe(id)
          expect(answer).toHaveProperty("result")
          expect(answer).not.toHaveProperty("error")
          const failure = yield* client.request("nothing/here", {}, id)
          expect(Object.keys(failure).toSorted()).toEqual(["error", "id", "jsonrpc"])
          expect(failure.id).toBe(id)
          expect(failure.error).toEqual({ code: expect.any(Number), message: expect.any(String) })
        }
      })
    )

    it.effect("[BASE-02][BASE-03][BUG-24] refuses ids that are neither string nor integer, without an id", () =>
      Effect.gen(function* () {
        const client = yield* open(demo, { era })
        const before = client.received.length
        for (const id of [null, 1.5, true, {}, [1]]) {
          yield* client.start("tools/list", {}, id)
          const refusal = yield* client.next((message) => "error" in message)
          expect(at(refusal, "error", "code")).toBe(-32600)
          expect(refusal).not.toHaveProperty("id")
        }
        expect(client.received.length).toBe(before + 5)
      })
    )

    it.effect("[BASE-12][BASE-13][BUG-29] nobody answers a notification, known or not", () =>
      Effect.gen(function* () {
        const client = yield* open(demo, { era })
        const before = client.received.length
        yield* client.notify("notifications/whatever", { a: 1 })
        yield* client.notify("notifications/cancelled", { requestId: "unknown" })
        yield* client.notify("notifications/cancelled", { reason: "nothing" })
        yield* client.notify("notifications/progress", { progressToken: "none", progress: 1 })
        yield* client.notify("tools/list")
        yield* settle
        expect(client.received.length).toBe(before)
        expect((yield* client.result("tools/list")).tools).toBeInstanceOf(Array)
      })
    )

    it.effect("[BASE-17] an array is no message", () =>
      Effect.gen(function* () {
        const client = yield* open(demo, { era })
        yield* client.send([{ jsonrpc: "2.0", id: 1, method: "tools/list" }])
        const refusal = yield* client.next((message) => "error" in message)
        expect(at(refusal, "error", "code")).toBe(-32600)
        expect((yield* client.result("tools/list")).tools).toBeInstanceOf(Array)
      })
    )

    it.effect("[BASE-26][BASE-27] a server that offers nothing still speaks the protocol", () =>
      Effect.gen(function* () {
        const client = yield* open(bare, { era })
        if (era === legacy) expect(yield* client.result("ping")).toEqual({})
        else expect((yield* client.result("server/discover")).supportedVersions).toContain(modern)
        for (const method of [
          "tools/list",
          "resources/list",
          "prompts/list",
          "completion/complete",
          "resources/read"
        ]) {
          const params = { ref: { type: "ref/prompt", name: "a" }, argument: { name: "b", value: "" }, uri: "a:b" }
          expect((yield* client.error(method, params)).code).toBe(-32601)
        }
      })
    )

    it.effect("[ERR-01][ERR-07] the codes are those of JSON-RPC, each where it belongs", () =>
      Effect.gen(function* () {
        const client = yield* open(demo, { era })
        expect((yield* client.error("no/such")).code).toBe(-32601)
        expect((yield* client.error("tools/call", { name: 7 })).code).toBe(-32602)
        expect((yield* client.error("resources/read")).code).toBe(-32602)
        yield* client.send({ jsonrpc: "1.0", id: 90, method: "tools/list" })
        expect(at(yield* client.answerTo(90), "error", "code")).toBe(-32600)
        yield* client.send({ jsonrpc: "2.0", id: 91, method: "tools/list", params: [1] })
        expect(at(yield* client.answerTo(91), "error", "code")).toBe(-32600)
        const codes = client.received.flatMap((message) => ("error" in message ? [at(message, "error", "code")] : []))
        expect(codes.filter((code) => Number(code) <= -32020 && Number(code) >= -32099)).toEqual([])
      })
    )

    it.effect("[ERR-04] a code of the application's own goes out as it is, with its data", () =>
      Effect.gen(function* () {
        const client = yield* open(demo, { era })
        const error = yield* client.error("tools/call", { name: "refuse" })
        expect(error).toEqual({ code: -31000, message: "Not today", data: { until: "tomorrow" } })
      })
    )

    it.effect("[ERR-04] what the runtime itself refuses for has a code outside the reserved ranges", () =>
      Effect.gen(function* () {
        const gate = new Gate()
        const server = McpServer.make({
          name: "small",
          version: "1",
          limits: { requestsInFlight: 1 },
          tools: [Tool.handle(Tool.make("wait"), () => gate.work)]
        })
        const client = yield* open(server, { era })
        yield* client.start("tools/call", { name: "wait" })
        yield* gate.started
        const { code } = yield* client.error("tools/list")
        expect(code < -32768 || code > -32000).toBe(true)
      })
    )

    it.effect("[META-01][META-02][META-04] keys that the server puts into `_meta` are well formed and its own", () =>
      Effect.gen(function* () {
        const client = yield* open(demo, { era })
        const results = [
          yield* client.result("tools/list"),
          yield* client.call("withdraw", { amount: 11 }),
          yield* client.call("add", { a: 1, b: 2 }),
          yield* client.result("resources/read", { uri: "config://app" })
        ]
        const keys = results.flatMap((result) => Object.keys((result._meta ?? {}) as object))
        const specified = new Set(["io.modelcontextprotocol/serverInfo"])
        for (const key of keys) {
          expect(isMetaKey(key)).toBe(true)
          expect(isReservedMetaKey(key) && !specified.has(key)).toBe(false)
        }
      })
    )

    it.effect("[META-06][META-19][BUG-95] `_meta` and unknown members reach the handler and come back untouched", () =>
      Effect.gen(function* () {
        let seen: unknown
        const Look = Tool.handle(Tool.make("look"), () =>
          Effect.map(CallContext.CallContext, ({ meta }) => {
            seen = meta
            return {
              content: [{ type: "text" as const, text: "a", future: true }],
              _meta: { "com.example/x": 1 },
              unheardOf: [1]
            }
          })
        )
        const server = McpServer.make({ name: "open", version: "1", tools: [Look] })
        const client = yield* open(server, { era, capabilities: { holography: { depth: 3 } } })
        const trace = {
          traceparent: "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01",
          tracestate: "vendor=1",
          baggage: "a=b",
          "com.example/ours": { deep: [null] }
        }
        const result = yield* client.call("look", undefined, { _meta: trace, future: 1 })
        expect(seen).toMatchObject(trace)
        expect(result.content).toEqual([{ type: "text", text: "a", future: true }])
        expect(result._meta).toMatchObject({ "com.example/x": 1 })
        expect(result.unheardOf).toEqual([1])
      })
    )

    it.effect("[META-19] trace context that is not well formed is the sender's affair and breaks nothing", () =>
      Effect.gen(function* () {
        const client = yield* open(demo, { era })
        const result = yield* client.call("echo", { text: "a" }, { _meta: { traceparent: "nonsense", baggage: "=;=" } })
        expect(result.content).toEqual([{ type: "text", text: "a" }])
        expect(JSON.stringify(client.received)).not.toContain("nonsense")
      })
    )

    it.effect("[BUG-96] `_meta` is no argument: a tool with a strict input does not see it", () =>
      Effect.gen(function* () {
        const client = yield* open(demo, { era })
        const result = yield* client.call("echo", { text: "a" }, { _meta: { progressToken: 1 } })
        expect(result.content).toEqual([{ type: "text", text: "a" }])
      })
    )

    it.effect("a failure inside the runtime says nothing about itself", () =>
      Effect.gen(function* () {
        const leak = McpServer.make({
          name: "leak",
          version: "1",
          middleware: [() => Effect.fail(McpError.transport("password is hunter2"))],
          tools: []
        })
        const client = yield* open(leak, { era })
        expect(yield* client.error("tools/list")).toEqual({ code: -32603, message: "Internal error" })
      })
    )
  })
}

describe("messages of 2026-07-28", () => {
  it.effect("[META-14][BUG-141] a request without a required member of `_meta` is refused with -32602", () =>
    Effect.gen(function* () {
      const client = yield* open(demo, { era: legacy, initialize: false, judged: false })
      const full = modernMeta()
      for (const key of ["io.modelcontextprotocol/clientCapabilities"]) {
        const { [key]: _, ...partial } = full
        const error = yield* client.error("tools/list", { _meta: partial })
        expect(error.code).toBe(-32602)
        expect(error.message).toContain(key)
      }
      for (const version of [7, null, {}]) {
        const _meta = { ...full, "io.modelcontextprotocol/protocolVersion": version }
        expect((yield* client.error("tools/list", { _meta })).code).toBe(-32602)
      }
      const { "io.modelcontextprotocol/clientInfo": _, ...anonymous } = full
      expect(yield* client.result("tools/list", { _meta: anonymous })).toHaveProperty("tools")
    })
  )

  it.effect("[META-14] a server that has no older revision wants `_meta` from everyone", () =>
    Effect.gen(function* () {
      const server = McpServer.make({ name: "new", version: "1", tools: [], revisions: [modern] })
      const client = yield* open(server, { era: legacy, initialize: false, judged: false })
      expect((yield* client.error("tools/list")).code).toBe(-32602)
      const refusal = yield* client.error("initialize", { protocolVersion: legacy })
      expect(refusal).toMatchObject({ code: -32022, data: { supported: [modern], requested: legacy } })
    })
  )

  it.effect("[ERR-02] what the server has no capability for is an unknown method", () =>
    Effect.gen(function* () {
      const client = yield* open(McpServer.make({ name: "tools", version: "1", tools: [] }))
      expect((yield* client.result("server/discover")).capabilities).not.toHaveProperty("prompts")
      expect((yield* client.error("prompts/list")).code).toBe(-32601)
      expect((yield* client.error("resources/list")).code).toBe(-32601)
    })
  )

  it.effect("[ERR-11] retired codes are not used", () =>
    Effect.gen(function* () {
      const client = yield* open(demo)
      expect((yield* client.error("resources/read", { uri: "config://nowhere" })).code).toBe(-32602)
      expect((yield* client.error("resources/read", { uri: "user://nobody/x" })).code).toBe(-32602)
      const codes = client.received.map((message) => at(message, "error", "code"))
      expect(codes).not.toContain(-32002)
      expect(codes).not.toContain(-32042)
    })
  )

  it.effect("[BASE-20][BASE-22][BASE-31][STDIO-07] a server never asks, and says the type of every result", () =>
    Effect.gen(function* () {
      const everything = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} }
      const client = yield* open(demo, { capabilities: everything, meta: { progressToken: "t" } })
      for (const name of ["greet", "think", "where", "count", "chatty", "echo"]) {
        const text = name === "echo" ? { text: "a" } : undefined
        expect(["complete", "input_required"]).toContain((yield* client.call(name, text)).resultType)
      }
      yield* client.result("server/discover")
      yield* settle
      expect(client.received.filter((message) => "method" in message && "id" in message)).toEqual([])
      const notifications = client.received.filter((message) => !("id" in message))
      expect(notifications.map((message) => message.method)).toEqual([
        "notifications/progress",
        "notifications/progress"
      ])
      for (const message of client.received)
        if ("result" in message) expect(at(message, "result", "resultType")).toBeDefined()
    })
  )

  it.effect("[BASE-31] without a request in flight a change of the server is told to nobody", () =>
    Effect.gen(function* () {
      const tools = yield* Catalog.make<Tool.Handled<never>>()
      const connect = yield* serve(McpServer.make({ name: "changing", version: "1", tools }))
      const client = yield* connect()
      yield* client.result("tools/list")
      yield* tools.set(Tool.handle(Tool.make("new"), () => Effect.succeed("")))
      yield* settle
      expect(client.received.length).toBe(1)
      expect(at(yield* client.result("tools/list"), "tools", 0, "name")).toBe("new")
    })
  )
})
