/**
 * How a client and a server meet: the handshake up to 2025-11-25, and no handshake at all after it.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { CallContext, McpServer, Peer, Tool } from "mcp-effect"
import { isMetaKey } from "../../src/protocol/Meta.ts"
import { bare, demo } from "../support/Demo.ts"
import {
  at,
  type Era,
  eras,
  initializeParams,
  legacy,
  modern,
  modernMeta,
  open,
  serve,
  settle
} from "../support/RawClient.ts"

const everyRevision = [modern, legacy, "2025-06-18", "2025-03-26", "2024-11-05"]
const unspoken = { era: legacy, initialize: false } as const

const as = (name: string, capabilities: object) => ({
  _meta: {
    "io.modelcontextprotocol/clientInfo": { name, version: "1" },
    "io.modelcontextprotocol/clientCapabilities": capabilities
  }
})

describe("the handshake of 2025-11-25", () => {
  it.effect("[LIFE-01][VER-04] before it nothing but ping is served", () =>
    Effect.gen(function* () {
      const client = yield* open(demo, unspoken)
      expect((yield* client.error("tools/list")).code).toBe(-32600)
      expect(yield* client.result("ping")).toEqual({})
      expect((yield* client.error("resources/read", { uri: "config://app" })).code).toBe(-32600)
      yield* client.result("initialize", initializeParams())
      expect(yield* client.result("tools/list")).toHaveProperty("tools")
    })
  )

  it.effect("[LIFE-03][LIFE-14] the answer says who the server is and what it can do", () =>
    Effect.gen(function* () {
      const client = yield* open(demo, unspoken)
      expect(yield* client.result("initialize", initializeParams())).toEqual({
        protocolVersion: legacy,
        capabilities: { tools: {}, prompts: {}, resources: { subscribe: true }, completions: {}, logging: {} },
        serverInfo: { name: "demo", version: "1.2.3" },
        instructions: "Be kind"
      })
    })
  )

  it.effect("[BUG-71][LIFE-08] echoes a version it speaks, and offers its newest of this era against any other", () =>
    Effect.gen(function* () {
      const connect = yield* serve(demo)
      for (const offered of [legacy, "1999-01-01", "2099-01-01", modern, "banana", ""]) {
        const client = yield* connect(unspoken)
        const result = yield* client.result("initialize", initializeParams({}, offered))
        expect(result.protocolVersion).toBe(legacy)
      }
      for (const offered of ["2024-11-05", "2025-03-26", "2025-06-18"]) {
        const client = yield* connect({ ...unspoken, judged: false })
        const result = yield* client.result("initialize", initializeParams({}, offered))
        expect(result.protocolVersion).toBe(offered)
      }
    })
  )

  it.effect("[LIFE-14] what was negotiated stays: a second initialize is refused and changes nothing", () =>
    Effect.gen(function* () {
      const client = yield* open(demo, { era: legacy, capabilities: {} })
      const error = yield* client.error("initialize", initializeParams({ elicitation: {} }))
      expect(error.code).toBe(-32600)
      yield* client.start("tools/call", { name: "greet" }, "greet")
      expect(at(yield* client.answerTo("greet"), "error", "code")).toBe(-32600)
      expect(client.called("elicitation/create")).toEqual([])
    })
  )

  it.effect("[LIFE-11] uses no message that was not negotiated", () =>
    Effect.gen(function* () {
      const client = yield* open(bare, { era: legacy })
      for (const method of ["logging/setLevel", "resources/subscribe", "server/discover", "subscriptions/listen"]) {
        const params = { level: "info", uri: "a:b", notifications: {} }
        expect((yield* client.error(method, params)).code).toBe(-32601)
      }
      const all = yield* open(demo, { era: legacy, capabilities: {} })
      for (const name of ["greet", "think", "where"]) {
        yield* all.error("tools/call", { name })
      }
      expect(all.received.filter((message) => "method" in message)).toEqual([])
    })
  )

  it.effect("[LIFE-18] there is no message for the end: hanging up is all, and interrupts what runs", () =>
    Effect.gen(function* () {
      let interrupted = 0
      const never = Effect.onInterrupt(Effect.never, () => Effect.sync(() => interrupted++))
      const server = McpServer.make({ name: "s", version: "1", tools: [Tool.handle(Tool.make("hang"), () => never)] })
      yield* Effect.scoped(
        Effect.gen(function* () {
          const client = yield* open(server, { era: legacy })
          expect((yield* client.error("shutdown")).code).toBe(-32601)
          yield* client.start("tools/call", { name: "hang" })
          yield* settle
        })
      )
      expect(interrupted).toBe(1)
    })
  )

  it.effect("[PING-02] answers a ping with nothing, even while a tool runs", () =>
    Effect.gen(function* () {
      const hang = Tool.handle(Tool.make("hang"), () => Effect.never)
      const client = yield* open(McpServer.make({ name: "s", version: "1", tools: [hang] }), { era: legacy })
      yield* client.start("tools/call", { name: "hang" })
      expect(yield* client.request("ping", undefined, "p")).toEqual({ jsonrpc: "2.0", id: "p", result: {} })
    })
  )
})

describe("requests that stand for themselves (2026-07-28)", () => {
  it.effect("[VER-02] an unknown version is refused with the list of those that would do", () =>
    Effect.gen(function* () {
      const client = yield* open(demo, { judged: false })
      for (const version of ["1999-01-01", "2999-01-01", "", legacy]) {
        const _meta = { "io.modelcontextprotocol/protocolVersion": version }
        const error = yield* client.error("tools/list", { _meta })
        expect(error).toMatchObject({ code: -32022, data: { supported: everyRevision, requested: version } })
      }
      expect(yield* client.result("tools/list")).toHaveProperty("tools")
    })
  )

  it.effect("[VER-04][VER-09] nothing is remembered from one request to the next", () =>
    Effect.gen(function* () {
      const Who = Tool.handle(Tool.make("who"), () =>
        Effect.map(CallContext.CallContext, ({ caller }) => JSON.stringify([caller.info ?? null, caller.capabilities]))
      )
      const Ask = Tool.handle(Tool.make("ask"), () => Effect.as(Peer.roots(), "asked"))
      const client = yield* open(McpServer.make({ name: "s", version: "1", tools: [Who, Ask] }))
      const who = (name: string, capabilities: object) =>
        Effect.map(client.call("who", undefined, as(name, capabilities)), (result) => at(result, "content", 0, "text"))
      expect(yield* who("a", { roots: {} })).toBe('[{"name":"a","version":"1"},{"roots":{}}]')
      expect(yield* who("b", {})).toBe('[{"name":"b","version":"1"},{}]')
      expect((yield* client.call("ask", undefined, as("a", { roots: {} }))).resultType).toBe("input_required")
      const refused = yield* client.error("tools/call", { name: "ask", ...as("b", {}) })
      expect(refused).toMatchObject({ code: -32021, data: { requiredCapabilities: { roots: {} } } })
    })
  )

  it.effect("[VER-04] the eras share a connection without touching each other", () =>
    Effect.gen(function* () {
      const client = yield* open(demo, { era: legacy, judged: false })
      const first = yield* client.result("tools/list", { _meta: modernMeta() })
      expect(first.resultType).toBe("complete")
      const second = yield* client.result("tools/list")
      expect(second).not.toHaveProperty("resultType")
      expect(second).not.toHaveProperty("ttlMs")
      expect((yield* client.error("ping", { _meta: modernMeta() })).code).toBe(-32601)
      expect(yield* client.result("ping")).toEqual({})
    })
  )

  it.effect("[VER-08] a handle that a tool gives out is plain data, good for everyone who has it", () =>
    Effect.gen(function* () {
      const baskets = new Map<string, number>()
      const Open = Tool.handle(Tool.make("open"), () => Effect.sync(() => (baskets.set("b1", 0), "b1")))
      const Size = Tool.handle(Tool.make("size"), () => Effect.sync(() => `${baskets.get("b1")}`))
      const connect = yield* serve(McpServer.make({ name: "s", version: "1", tools: [Open, Size] }))
      const [one, other] = [yield* connect(), yield* connect()]
      yield* one.call("open")
      expect(at(yield* other.call("size"), "content", 0, "text")).toBe("0")
    })
  )

  it.effect("[DISC-01][DISC-03][VER-11] discover says what there is, to anyone at any time", () =>
    Effect.gen(function* () {
      const client = yield* open(demo)
      expect(yield* client.result("server/discover")).toEqual({
        resultType: "complete",
        supportedVersions: everyRevision,
        capabilities: { tools: {}, prompts: {}, resources: { subscribe: true }, completions: {}, logging: {} },
        instructions: "Be kind",
        ttlMs: 0,
        cacheScope: "private",
        _meta: { "io.modelcontextprotocol/serverInfo": { name: "demo", version: "1.2.3" } }
      })
      const nothing = yield* open(bare)
      expect(yield* nothing.result("server/discover")).toMatchObject({ capabilities: {} })
    })
  )

  it.effect("[VER-14] the messages of the handshake are gone", () =>
    Effect.gen(function* () {
      const client = yield* open(demo)
      const gone = ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"]
      for (const method of gone) expect((yield* client.error(method, initializeParams())).code).toBe(-32601)
      const before = client.received.length
      yield* client.notify("notifications/initialized")
      yield* client.notify("notifications/roots/list_changed")
      yield* settle
      expect(client.received.length).toBe(before)
    })
  )
})

const capabilitiesOf = (server: McpServer.McpServer<never>, era: Era) =>
  Effect.gen(function* () {
    const client = yield* open(server, { era, initialize: false })
    const result = yield* era === legacy
      ? client.result("initialize", initializeParams())
      : client.result("server/discover")
    return { client, capabilities: result.capabilities as { readonly [name: string]: object } }
  })

for (const era of eras) {
  describe(`what a server offers in ${era}`, () => {
    it.effect("[BUG-73][TOOL-01][RES-01][PROMPT-01][COMP-01][LOG-01] what is declared is served, even when empty", () =>
      Effect.gen(function* () {
        const empty = McpServer.make({ name: "empty", version: "1", tools: [], resources: [], prompts: [] })
        const { capabilities, client } = yield* capabilitiesOf(empty, era)
        expect(Object.keys(capabilities).toSorted()).toEqual([
          "completions",
          "logging",
          "prompts",
          "resources",
          "tools"
        ])
        expect(yield* client.result("tools/list")).toMatchObject({ tools: [] })
        expect(yield* client.result("prompts/list")).toMatchObject({ prompts: [] })
        expect(yield* client.result("resources/list")).toMatchObject({ resources: [] })
        expect(yield* client.result("resources/templates/list")).toMatchObject({ resourceTemplates: [] })
        const unknown = { ref: { type: "ref/prompt", name: "a" }, argument: { name: "b", value: "" } }
        expect((yield* client.error("completion/complete", unknown)).code).toBe(-32602)
        if (era === legacy) expect(yield* client.result("logging/setLevel", { level: "debug" })).toEqual({})
      })
    )

    it.effect("[BUG-73] what is not declared is not there", () =>
      Effect.gen(function* () {
        const { capabilities, client } = yield* capabilitiesOf(
          McpServer.make({ name: "t", version: "1", tools: [] }),
          era
        )
        expect(Object.keys(capabilities).toSorted()).toEqual(["logging", "tools"])
        for (const method of ["prompts/list", "resources/list", "resources/templates/list"]) {
          expect((yield* client.error(method)).code).toBe(-32601)
        }
      })
    )

    it.effect("[EXT-01][EXT-02][EXT-03] extensions are off; a client that has some is served all the same", () =>
      Effect.gen(function* () {
        const { capabilities } = yield* capabilitiesOf(demo, era)
        expect(capabilities).not.toHaveProperty("extensions")
        let seen: unknown
        const Look = Tool.handle(Tool.make("look"), () =>
          Effect.map(CallContext.CallContext, ({ caller }) => {
            seen = caller.capabilities.extensions
            return "core"
          })
        )
        const extensions = { "com.example/maps": {}, "io.modelcontextprotocol/tasks": { a: 1 } }
        expect(Object.keys(extensions).every((key) => key.includes("/") && isMetaKey(key))).toBe(true)
        const client = yield* open(McpServer.make({ name: "s", version: "1", tools: [Look] }), {
          era,
          capabilities: { extensions }
        })
        expect(at(yield* client.call("look"), "content", 0, "text")).toBe("core")
        expect(seen).toEqual(extensions)
        expect((yield* client.error("tasks/get", { taskId: "1" })).code).toBe(-32601)
      })
    )
  })
}
