/**
 * A server in every revision that opens with a handshake: what holds in all of them, on the wire.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { v2024_11_05 } from "../../src/revision/v2024_11_05.ts"
import { v2025_03_26 } from "../../src/revision/v2025_03_26.ts"
import { v2025_06_18 } from "../../src/revision/v2025_06_18.ts"
import { v2025_11_25 } from "../../src/revision/v2025_11_25.ts"
import { available, type Json, validateTraffic, type Version } from "../protocol/OfficialSchema.ts"
import { bare, demo } from "../support/Demo.ts"
import { at, initializeParams, legacy, open, type RawClient, settle } from "../support/RawClient.ts"

for (const revision of [v2024_11_05, v2025_03_26, v2025_06_18, v2025_11_25]) {
  const version = revision.version as Version

  /** A connection on which nothing was said. */
  const unspoken = (server: typeof demo = demo): Effect.Effect<RawClient, never, Scope.Scope> =>
    open(server, { era: legacy, initialize: false, judged: false })

  /** A client that has shaken hands. */
  const connect = (server: typeof demo = demo, capabilities: Json = {}) =>
    Effect.tap(unspoken(server), (client) =>
      Effect.andThen(
        client.result("initialize", initializeParams(capabilities, version)),
        client.notify("notifications/initialized")
      )
    )

  const codeOf = (client: RawClient, method: string, params?: Json) =>
    Effect.map(client.error(method, params), ({ code }) => code)

  describe(`a server in ${version}`, () => {
    it.effect("[LIFE-01][LIFE-03][LIFE-08] is introduced before anything else, in the revision it was asked for", () =>
      Effect.gen(function* () {
        const client = yield* unspoken()
        expect(yield* codeOf(client, "tools/list")).toBe(-32600)
        expect(yield* client.result("ping")).toEqual({})
        expect(yield* client.result("initialize", initializeParams({}, version))).toEqual({
          protocolVersion: version,
          capabilities: {
            tools: {},
            prompts: {},
            resources: { subscribe: true },
            logging: {},
            // There was no such capability in 2024-11-05.
            ...(revision !== v2024_11_05 && { completions: {} })
          },
          serverInfo: { name: "demo", version: "1.2.3" },
          instructions: "Be kind"
        })
        expect(yield* client.result("tools/list")).toHaveProperty("tools")
      })
    )

    it.effect(
      "[BASE-01][BASE-06][BASE-07][BASE-10] answers with the id of the request and either a result or an error",
      () =>
        Effect.gen(function* () {
          const client = yield* connect()
          for (const id of ["a", "7", "", 7, 0, -3]) {
            const answer = yield* client.request("tools/list", {}, id)
            expect(answer).toEqual({ jsonrpc: "2.0", id, result: expect.any(Object) })
            const failure = yield* client.request("nothing/here", {}, id)
            expect(failure).toEqual({ jsonrpc: "2.0", id, error: { code: -32601, message: expect.any(String) } })
          }
          for (const method of ["tools/call", "resources/read", "prompts/get", "completion/complete"]) {
            const failure = yield* client.request(method, { name: "nothing" }, method)
            expect(Object.keys(failure).toSorted()).toEqual(["error", "id", "jsonrpc"])
            expect(failure.id).toBe(method)
          }
        })
    )

    it.effect("[BASE-02][BASE-03][BASE-12][BASE-13] takes no other ids, and does not answer a notification", () =>
      Effect.gen(function* () {
        const client = yield* connect()
        for (const id of [null, 1.5, true, {}]) {
          yield* client.start("tools/list", {}, id)
          const refusal = yield* client.next((message) => "error" in message)
          expect(at(refusal, "error", "code")).toBe(-32600)
        }
        const before = client.received.length
        yield* client.notify("notifications/whatever", { a: 1 })
        yield* client.notify("notifications/cancelled", { requestId: "unknown" })
        yield* client.notify("tools/list")
        yield* settle
        expect(client.received).toHaveLength(before)
      })
    )

    it.effect("[ERR-01][TOOL-25][LIFE-11] refuses what is not there, each with its code", () =>
      Effect.gen(function* () {
        const client = yield* connect()
        expect(yield* codeOf(client, "tools/call", { name: "nothing" })).toBe(-32602)
        expect(yield* codeOf(client, "tools/call", {})).toBe(-32602)
        expect(yield* codeOf(client, "resources/read", { uri: "config://other" })).toBe(-32002)
        expect(yield* codeOf(client, "prompts/get", { name: "nothing" })).toBe(-32602)
        expect(yield* codeOf(client, "prompts/get", { name: "review", arguments: {} })).toBe(-32602)
        expect(yield* codeOf(client, "tools/list", { cursor: "mine" })).toBe(-32602)
        expect(yield* codeOf(client, "logging/setLevel", { level: "shouting" })).toBe(-32602)
        for (const method of ["server/discover", "subscriptions/listen", "constructor"]) {
          expect(yield* codeOf(client, method)).toBe(-32601)
        }
        const nothing = yield* connect(bare)
        for (const method of ["logging/setLevel", "resources/subscribe"]) {
          expect(yield* codeOf(nothing, method, { level: "info", uri: "a:b" })).toBe(-32601)
        }
      })
    )

    it.effect("[TOOL-31] arguments that don't fit reach no handler, and are told as the revision tells them", () =>
      Effect.gen(function* () {
        const client = yield* connect()
        const answer = yield* client.request("tools/call", { name: "echo", arguments: { text: 1 } })
        if (revision === v2025_11_25) expect(at(answer, "result", "isError")).toBe(true)
        else expect(at(answer, "error", "code")).toBe(-32602)
      })
    )

    it.effect("[TOOL-04][TOOL-15][RES-03][PROMPT-03][COMP-04][PROG-02][LOG-05][PAGE-01] says what is valid", () =>
      Effect.gen(function* () {
        const client = yield* connect()
        yield* client.result("logging/setLevel", { level: "debug" })
        for (const method of ["tools/list", "resources/list", "resources/templates/list", "prompts/list"]) {
          yield* client.result(method)
        }
        yield* client.result("resources/read", { uri: "pixel://one" })
        yield* client.result("prompts/get", { name: "review", arguments: { code: "1" } })
        const ref = { type: "ref/prompt", name: "review" }
        const suggested = yield* client.result("completion/complete", {
          ref,
          argument: { name: "language", value: "p" }
        })
        expect(at(suggested, "completion", "values")).toEqual(["python", "perl"])
        yield* client.call("everything")
        yield* client.call("chatty")
        expect(client.called("notifications/message").map((message) => at(message, "params", "level"))).toEqual([
          "debug",
          "info",
          "error"
        ])
        const counted = yield* client.call("count", {}, { _meta: { progressToken: "p" } })
        expect(at(counted, "content")).toEqual([{ type: "text", text: "counted" }])
        const told = client.called("notifications/progress").map(({ params }) => params as Json)
        expect(told.map(({ progress, progressToken }) => [progressToken, progress])).toEqual([
          ["p", 1],
          ["p", 2]
        ])
        if (available) expect(validateTraffic(version, client.traffic)).toEqual([])
      })
    )

    it.effect("[LIFE-14][LIFE-11] asks for nothing that was not declared, and for what was", () =>
      Effect.gen(function* () {
        const silent = yield* connect()
        for (const name of ["greet", "think", "where"]) yield* silent.request("tools/call", { name })
        expect(silent.received.filter((message) => "method" in message)).toEqual([])
        const able = yield* connect(demo, { sampling: {}, roots: {} })
        yield* able.start("tools/call", { name: "where" }, "where")
        yield* able.answer(yield* able.nextCalled("roots/list"), { roots: [{ uri: "file:///work" }] })
        expect(at(yield* able.answerTo("where"), "result", "content", 0, "text")).toBe("file:///work")
        yield* able.start("tools/call", { name: "think" }, "think")
        yield* able.answer(yield* able.nextCalled("sampling/createMessage"), {
          role: "assistant",
          content: { type: "text", text: "yo" },
          model: "small"
        })
        expect(at(yield* able.answerTo("think"), "result", "content", 0, "text")).toBe("small")
        if (available) expect(validateTraffic(version, able.traffic)).toEqual([])
      })
    )
  })
}
