import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import type { Members } from "../../src/protocol/JsonRpc.ts"
import { type CreateMessageResult, MetaKey } from "../../src/protocol/index.ts"
import { connectModern, exchange } from "./scripted.ts"

const form = (message: string): Members => ({
  method: "elicitation/create",
  params: {
    message,
    requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] }
  }
})
const sampling: Members = {
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: { type: "text", text: "hi" } }], maxTokens: 10 }
}
const roots: Members = { method: "roots/list" }
const asks = (inputRequests: Members | undefined, requestState?: string): Members => ({
  resultType: "input_required",
  ...(inputRequests !== undefined && { inputRequests }),
  ...(requestState !== undefined && { requestState })
})
const completion: CreateMessageResult = { role: "assistant", content: { type: "text", text: "yo" }, model: "m" }

describe("input_required", () => {
  it.effect(
    "[MRTR-07] [MRTR-09] [MRTR-10] is answered by the same request with a new id, the answers and the very state",
    () =>
      Effect.gen(function* () {
        const { client, peer } = yield* connectModern({
          handlers: { elicit: () => Effect.succeed({ action: "accept", content: { name: "Ada" }, _meta: { x: 1 } }) }
        })
        const fiber = yield* Effect.forkScoped(client.callTool("greet", { loud: true }))
        const first = yield* peer.expectRequest("tools/call", {
          params: { _meta: { [MetaKey.clientCapabilities]: { elicitation: { form: {} } } } }
        })
        const state = '{"a": 1,  "ü": "\u2028"}'
        yield* peer.respond(first, asks({ user_name: form("Who?") }, state))
        const second = yield* peer.expectRequest("tools/call")
        expect(second.id).not.toBe(first.id)
        expect(second.params).toEqual({
          ...first.params,
          inputResponses: { user_name: { action: "accept", content: { name: "Ada" } } },
          requestState: state
        })
        yield* peer.respond(second, { resultType: "complete", content: [] })
        expect(yield* Fiber.join(fiber)).toMatchObject({ content: [] })
      })
  )

  it.effect(
    "[MRTR-07] [MRTR-09] [MRTR-11] carries nothing over: neither earlier answers, nor a state that was not given, nor to other calls",
    () =>
      Effect.gen(function* () {
        const { client, peer } = yield* connectModern({
          handlers: { elicit: () => Effect.succeed({ action: "decline" }) }
        })
        const fiber = yield* Effect.forkScoped(client.getPrompt("p", { a: "b" }))
        yield* peer.respond(yield* peer.expectRequest("prompts/get"), asks({ one: form("1") }, "s1"))
        const second = yield* peer.expectRequest("prompts/get", { params: { requestState: "s1" } })
        expect(Object.keys(second.params?.inputResponses as object)).toEqual(["one"])
        yield* peer.respond(second, asks({ two: form("2") }))
        const third = yield* peer.expectRequest("prompts/get")
        expect(third.params).not.toHaveProperty("requestState")
        expect(third.params?.inputResponses).toEqual({ two: { action: "decline" } })
        const other = yield* exchange(peer, client.callTool("other"), "tools/call", { content: [] })
        expect(Object.keys(other.request.params as object).toSorted()).toEqual(["_meta", "name"])
        yield* peer.respond(third, { messages: [] })
        expect((yield* Fiber.join(fiber)).messages).toEqual([])
      })
  )

  it.effect("[MRTR-08] with a state alone is retried at once, without answers", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      const fiber = yield* Effect.forkScoped(client.readResource("a://b"))
      yield* peer.respond(yield* peer.expectRequest("resources/read"), asks(undefined, "later"))
      const again = yield* peer.expectRequest("resources/read", { params: { uri: "a://b", requestState: "later" } })
      expect(again.params).not.toHaveProperty("inputResponses")
      yield* peer.respond(again, { contents: [] })
      expect((yield* Fiber.join(fiber)).contents).toEqual([])
    })
  )

  it.effect("answers the questions of a round at the same time", () =>
    Effect.gen(function* () {
      let running = 0
      let most = 0
      const together = <A>(value: A) =>
        Effect.gen(function* () {
          most = Math.max(most, ++running)
          yield* Effect.yieldNow
          running--
          return value
        })
      const { client, peer } = yield* connectModern({
        handlers: {
          elicit: () => together({ action: "cancel" } as const),
          sample: () => together(completion),
          roots: together([{ uri: "file:///work" }])
        }
      })
      const fiber = yield* Effect.forkScoped(client.callTool("all"))
      yield* peer.respond(yield* peer.expectRequest("tools/call"), asks({ form: form("?"), model: sampling, roots }))
      const second = yield* peer.expectRequest("tools/call")
      expect(second.params?.inputResponses).toEqual({
        form: { action: "cancel" },
        model: completion,
        roots: { roots: [{ uri: "file:///work" }] }
      })
      expect(most).toBe(3)
      yield* peer.respond(second, { content: [] })
      yield* Fiber.join(fiber)
    })
  )

  it.effect("has a limit of rounds (limits.rounds)", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern({ limits: { rounds: 2 } })
      const fiber = yield* Effect.forkScoped(Effect.flip(client.callTool("never")))
      for (let round = 0; round < 3; round++) {
        yield* peer.respond(yield* peer.expectRequest("tools/call"), asks(undefined, `${round}`))
      }
      expect((yield* Fiber.join(fiber)).reason).toMatchObject({ _tag: "LimitExceeded", limit: "rounds" })
      yield* peer.expectNothing
    })
  )

  it.effect("[MRTR-19] [BASE-21] for what was not declared fails the call, and nothing is sent", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern({
        handlers: { elicit: () => Effect.succeed({ action: "cancel" }) }
      })
      const url = { method: "elicitation/create", params: { mode: "url", message: "Pay", url: "https://pay.example" } }
      for (const question of [url, sampling, roots]) {
        const { value } = yield* exchange(peer, Effect.flip(client.callTool("ask")), "tools/call", asks({ question }))
        expect(value.reason).toMatchObject({ _tag: "Unsupported" })
      }
      yield* peer.expectNothing
    })
  )

  it.effect("[MRTR-03] without a question or a state is malformed", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      for (const inputRequests of [undefined, {}]) {
        const { value } = yield* exchange(peer, Effect.flip(client.callTool("ask")), "tools/call", asks(inputRequests))
        expect(value.reason).toMatchObject({ _tag: "DecodeFailure" })
      }
    })
  )

  it.effect("[MRTR-02] in answer to any other request is malformed", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      const complete = Effect.flip(client.complete({ type: "ref/prompt", name: "p" }, { name: "a", value: "" }))
      const { value } = yield* exchange(peer, complete, "completion/complete", asks(undefined, "s"))
      expect(value.reason).toMatchObject({ _tag: "DecodeFailure", message: /resultType/ })
    })
  )

  it.effect("ends with the call: a handler is interrupted", () =>
    Effect.gen(function* () {
      let interrupted = false
      const elicit = () =>
        Effect.onInterrupt(Effect.never, () =>
          Effect.sync(() => {
            interrupted = true
          })
        )
      const { client, peer } = yield* connectModern({ handlers: { elicit } })
      const fiber = yield* Effect.forkScoped(client.callTool("ask"))
      yield* peer.respond(yield* peer.expectRequest("tools/call"), asks({ q: form("?") }))
      yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
      expect(interrupted).toBe(true)
      yield* peer.expectNothing
    })
  )

  it.effect("[BASE-21] as a request of its own is let be", () =>
    Effect.gen(function* () {
      const { peer } = yield* connectModern({ handlers: { roots: Effect.succeed([]) } })
      yield* peer.send({ jsonrpc: "2.0", id: 1, method: "roots/list" })
      yield* peer.sendRaw("not JSON")
      yield* peer.expectNothing
    })
  )
})
