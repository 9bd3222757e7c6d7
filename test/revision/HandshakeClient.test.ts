/**
 * A client in every revision that opens with a handshake: what holds in all of them, on the wire.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { type McpClient, type McpError, type Protocol, Tool } from "mcp-effect"
import { v2024_11_05 } from "../../src/revision/v2024_11_05.ts"
import { v2025_03_26 } from "../../src/revision/v2025_03_26.ts"
import { v2025_06_18 } from "../../src/revision/v2025_06_18.ts"
import { v2025_11_25 } from "../../src/revision/v2025_11_25.ts"
import { answerInitialize, connecting, exchange, identity } from "../client/scripted.ts"
import { available, type Json, validateTraffic, type Version } from "../protocol/OfficialSchema.ts"
import { at } from "../support/RawClient.ts"

const completion: Protocol.CreateMessageResult = {
  role: "assistant",
  content: { type: "text", text: "yo" },
  model: "small"
}
const elicit = () => Effect.succeed({ action: "decline", content: { a: "b" } } as const)
const handlers: McpClient.Handlers<never> = {
  elicit,
  sample: () => Effect.succeed(completion),
  roots: Effect.succeed([{ uri: "file:///work" }])
}
const sampling = { messages: [{ role: "user", content: { type: "text", text: "hi" } }], maxTokens: 5 }

for (const revision of [v2024_11_05, v2025_03_26, v2025_06_18, v2025_11_25]) {
  const version = revision.version as Version

  /** Our client, which speaks no other revision of this era, and the server that the test plays. */
  const scripted = (options: Partial<McpClient.Options> = {}) =>
    Effect.gen(function* () {
      const { client, server } = yield* connecting({ revisions: [version], ...options })
      const peer = yield* server.accept
      const opening = yield* answerInitialize(peer, { protocolVersion: version })
      return { client: yield* client, peer, opening }
    })

  describe(`a client in ${version}`, () => {
    it.effect("[LIFE-02][LIFE-04][LIFE-07][LIFE-14] opens with the handshake and what the revision can declare", () =>
      Effect.gen(function* () {
        const { opening, peer } = yield* scripted({ handlers })
        expect(opening.params).toEqual({
          protocolVersion: version,
          capabilities: {
            sampling: {},
            roots: {},
            // [ELIC-01] came with 2025-06-18, its modes with 2025-11-25.
            ...(revision === v2025_06_18 && { elicitation: {} }),
            ...(revision === v2025_11_25 && { elicitation: { form: {} } })
          },
          clientInfo: identity
        })
        yield* peer.expectNothing
      })
    )

    it.effect(
      "[TOOL-14][RES-04][PROMPT-04][COMP-02][PAGE-02][BASE-04] asks as the schema says, with ids of their own",
      () =>
        Effect.gen(function* () {
          const { client, peer } = yield* scripted()
          const sent: Array<Json> = []
          const call = <A>(effect: Effect.Effect<A, McpError>, method: string, result: Json) =>
            Effect.map(exchange(peer, effect, method, result), ({ request }) => {
              sent.push({ ...request })
              return request.params
            })
          yield* call(client.callTool("t", { a: 1 }), "tools/call", { content: [] })
          yield* call(client.readResource("a:b"), "resources/read", { contents: [] })
          yield* call(client.getPrompt("p", { a: "b" }), "prompts/get", { messages: [] })
          yield* call(
            client.complete({ type: "ref/prompt", name: "p" }, { name: "a", value: "b" }),
            "completion/complete",
            { completion: { values: [] } }
          )
          const listing = yield* Effect.forkScoped(Stream.runCollect(client.listResources))
          const first = yield* peer.expectRequest("resources/list")
          yield* peer.respond(first, { resources: [], nextCursor: " ={}" })
          const second = yield* peer.expectRequest("resources/list", { params: { cursor: " ={}" } })
          yield* peer.respond(second, { resources: [{ uri: "a:b", name: "a" }] })
          expect(yield* Fiber.join(listing)).toHaveLength(1)
          sent.push({ ...first }, { ...second })
          expect(new Set(sent.map(({ id }) => id)).size).toBe(sent.length)
          const traffic = sent.map((message) => ({ from: "client" as const, message }))
          if (available) expect(validateTraffic(version, traffic)).toEqual([])
        })
    )

    it.effect("[BASE-07][PING-02][SAMP-03][ROOT-05][ROOT-06] answers the server with one of result and error", () =>
      Effect.gen(function* () {
        const { peer } = yield* scripted({ handlers: { ...handlers, rootsChanges: Stream.make(undefined) } })
        yield* peer.expectNotification("notifications/roots/list_changed")
        const ask = (id: string, method: string, params: Json = {}) =>
          Effect.andThen(peer.send({ jsonrpc: "2.0", id, method, params }), peer.next)
        expect(yield* ask("a", "ping")).toEqual({ jsonrpc: "2.0", id: "a", result: {} })
        expect(yield* ask("b", "roots/list")).toEqual({
          jsonrpc: "2.0",
          id: "b",
          result: { roots: [{ uri: "file:///work" }] }
        })
        expect(yield* ask("c", "sampling/createMessage", sampling)).toEqual({
          jsonrpc: "2.0",
          id: "c",
          result: completion
        })
        expect(yield* ask("d", "no/such")).toEqual({
          jsonrpc: "2.0",
          id: "d",
          error: { code: -32601, message: expect.any(String) }
        })
      })
    )

    it.effect("[ELIC-13][ELIC-01] a declined form has no content; before 2025-06-18 there are no forms", () =>
      Effect.gen(function* () {
        const { peer } = yield* scripted({ handlers: { elicit } })
        const params = { message: "?", requestedSchema: { type: "object", properties: {} } }
        yield* peer.send({ jsonrpc: "2.0", id: "q", method: "elicitation/create", params })
        const answer = yield* peer.next
        if (revision.serverRequests["elicitation/create"] === undefined) {
          expect(answer).toMatchObject({ id: "q", error: { code: -32601 } })
        } else {
          expect(answer).toEqual({ jsonrpc: "2.0", id: "q", result: { action: "decline" } })
        }
      })
    )

    it.effect("[CANC-01][PROG-01] gives up by the id of its request, and each of its tokens is another", () =>
      Effect.gen(function* () {
        const { client, peer } = yield* scripted()
        const tokens = new Set<unknown>()
        for (const _ of [1, 2, 3]) {
          const call = yield* Effect.forkScoped(Stream.runDrain(client.stream(Tool.make("slow"), {})))
          const request = yield* peer.expectRequest("tools/call")
          tokens.add(at(request.params, "_meta", "progressToken"))
          yield* Fiber.interrupt(call)
          yield* peer.expectNotification("notifications/cancelled", { params: { requestId: request.id } })
        }
        expect(tokens.size).toBe(3)
        expect(tokens.has(undefined)).toBe(false)
      })
    )
  })
}
