/**
 * Requests of our own: how they are answered, given up, and what becomes of them when the peer is gone.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import { McpError } from "../../src/protocol/McpError.ts"
import { settle } from "../support/RawClient.ts"
import { make, reasonOf } from "./fixture.ts"

const fork = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkScoped(effect, { startImmediately: true })
const result = (id: unknown, value: object = {}) => ({ jsonrpc: "2.0", id, result: value })
const cancelled = (requestId: number) => ({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } })
const progress = (progressToken: unknown, value: unknown = 1) => ({
  jsonrpc: "2.0",
  method: "notifications/progress",
  params: { progressToken, progress: value }
})

describe("answers", () => {
  it.effect("[BASE-02][BASE-04][BASE-06] every request has an id of its own, and gets the answer with that id", () =>
    Effect.gen(function* () {
      const { sent, session, take } = yield* make()
      const calls = yield* Effect.forEach([0, 1, 2], (n) => fork(session.request("ask", { n })))
      expect(sent).toEqual([0, 1, 2].map((n) => ({ jsonrpc: "2.0", id: n, method: "ask", params: { n } })))
      for (const n of [2, 0, 1]) yield* take(result(n, { n }))
      expect(yield* Effect.forEach(calls, Fiber.join)).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }])
      expect(session.waiting).toBe(0)
    })
  )

  it.effect("ids are compared as they are: neither text nor nothing is a number", () =>
    Effect.gen(function* () {
      const { session, strays, take } = yield* make()
      const call = yield* fork(session.request("ask"))
      for (const id of ["", " ", "0", "0x0", null, 1]) yield* take(result(id))
      yield* settle
      expect(session.waiting).toBe(1)
      expect(strays).toHaveLength(6)
      yield* take(result(0, { right: true }))
      expect(yield* Fiber.join(call)).toEqual({ right: true })
    })
  )

  it.effect("[CANC-05] an answer that comes twice, or too late, is ignored", () =>
    Effect.gen(function* () {
      const { session, strays, take } = yield* make()
      const call = yield* fork(session.request("ask"))
      yield* take(result(0, { first: true }))
      yield* take(result(0, { second: true }))
      expect(yield* Fiber.join(call)).toEqual({ first: true })
      const late = yield* fork(session.request("ask", undefined, { timeout: "1 second" }))
      yield* TestClock.adjust("1 second")
      expect(yield* reasonOf(Fiber.join(late))).toBe("Timeout")
      yield* take(result(1))
      yield* settle
      expect(strays).toHaveLength(2)
    })
  )

  it.effect("[ERR-06] an error is handed on with its code, whatever that is", () =>
    Effect.gen(function* () {
      const { session, take } = yield* make()
      for (const [id, code] of [-32000, -32002, -32019, -32601, 0, 7].entries()) {
        const call = yield* fork(Effect.flip(session.request("ask")))
        yield* take({ jsonrpc: "2.0", id, error: { code, message: "no", data: [1] } })
        expect((yield* Fiber.join(call)).reason).toMatchObject({
          _tag: "ProtocolFailure",
          code,
          message: "no",
          data: [1]
        })
      }
    })
  )

  it.effect("[BASE-08] an answer that is malformed fails its call at once", () =>
    Effect.gen(function* () {
      const { session, take } = yield* make()
      for (const [id, answer] of [
        { result: 7 },
        { error: "no" },
        { result: {}, error: { code: 1, message: "" } }
      ].entries()) {
        const call = yield* fork(reasonOf(session.request("ask")))
        yield* take({ jsonrpc: "2.0", id, ...answer })
        expect(yield* Fiber.join(call)).toBe("DecodeFailure")
      }
    })
  )
})

describe("timeouts", () => {
  it.effect("after 60 seconds by default: the call fails, and is cancelled at the other end, once", () =>
    Effect.gen(function* () {
      const { sent, session } = yield* make()
      const call = yield* fork(Effect.flip(session.request("ask")))
      yield* TestClock.adjust("59 seconds")
      expect(call.pollUnsafe()).toBeUndefined()
      yield* TestClock.adjust("1 second")
      expect((yield* Fiber.join(call)).reason).toMatchObject({ _tag: "Timeout", method: "ask", after: 60_000 })
      yield* TestClock.adjust("1 hour")
      expect(sent.slice(1)).toEqual([cancelled(0)])
      expect(session.waiting).toBe(0)
    })
  )

  it.effect("progress starts it anew, up to the maximum", () =>
    Effect.gen(function* () {
      const { session, take } = yield* make()
      const options = { timeout: "60 seconds", maximumTimeout: "2 minutes", onProgress: () => {} } as const
      const call = yield* fork(Effect.flip(session.request("ask", {}, options)))
      for (const _ of [1, 2]) {
        yield* TestClock.adjust("50 seconds")
        yield* take(progress(0))
      }
      yield* TestClock.adjust("19 seconds")
      expect(call.pollUnsafe()).toBeUndefined()
      yield* TestClock.adjust("1 second")
      expect((yield* Fiber.join(call)).reason).toMatchObject({ _tag: "Timeout", after: 120_000 })
    })
  )

  it.effect("the maximum is 10 minutes by default, and progress may be told not to extend", () =>
    Effect.gen(function* () {
      const { session, take } = yield* make()
      const extended = yield* fork(Effect.flip(session.request("ask", {}, { onProgress: () => {} })))
      const fixed = yield* fork(
        Effect.flip(session.request("ask", {}, { onProgress: () => {}, extendOnProgress: false }))
      )
      for (let seconds = 0; seconds < 570; seconds += 30) {
        yield* TestClock.adjust("30 seconds")
        yield* take(progress(0))
        yield* take(progress(1))
      }
      expect((yield* Fiber.join(fixed)).reason).toMatchObject({ _tag: "Timeout", after: 60_000 })
      expect(extended.pollUnsafe()).toBeUndefined()
      yield* TestClock.adjust("30 seconds")
      expect((yield* Fiber.join(extended)).reason).toMatchObject({ _tag: "Timeout", after: 600_000 })
    })
  )

  it.effect("an infinite one never comes", () =>
    Effect.gen(function* () {
      const { session, take } = yield* make()
      const options = { timeout: Infinity, maximumTimeout: Infinity }
      const call = yield* fork(session.request("ask", {}, options))
      yield* TestClock.adjust("1000 hours")
      yield* take(result(0, { at: "last" }))
      expect(yield* Fiber.join(call)).toEqual({ at: "last" })
    })
  )

  it.effect("a peer that does not even take the request times out too", () =>
    Effect.gen(function* () {
      const { session } = yield* make({ send: () => Effect.never })
      const call = yield* fork(reasonOf(session.request("ask", {}, { timeout: "5 seconds" })))
      yield* TestClock.adjust("5 seconds")
      expect(yield* Fiber.join(call)).toBe("Timeout")
    })
  )
})

describe("giving up", () => {
  it.effect("[CANC-01] interrupting a call cancels it at the other end, once", () =>
    Effect.gen(function* () {
      const { sent, session } = yield* make()
      const call = yield* fork(session.request("ask"))
      yield* Fiber.interrupt(call)
      yield* TestClock.adjust("1 hour")
      expect(sent.slice(1)).toEqual([cancelled(0)])
      expect(session.waiting).toBe(0)
    })
  )

  it.effect("[CANC-02] what can't be cancelled is given up in silence", () =>
    Effect.gen(function* () {
      const { sent, session } = yield* make({ cancellable: (method) => method !== "initialize" })
      yield* Fiber.interrupt(yield* fork(session.request("initialize")))
      yield* settle
      expect(sent).toHaveLength(1)
    })
  )

  it.effect("[CANC-01] what is answered already is not cancelled", () =>
    Effect.gen(function* () {
      const { sent, session, take } = yield* make()
      const call = yield* fork(Effect.andThen(session.request("ask"), Effect.never))
      yield* take(result(0))
      yield* Fiber.interrupt(call)
      yield* settle
      expect(sent).toHaveLength(1)
    })
  )

  it.effect("whoever gives up does not wait for a peer that reads slowly", () =>
    Effect.gen(function* () {
      const { session } = yield* make({ send: (message) => ("id" in message ? Effect.void : Effect.never) })
      const call = yield* fork(session.request("ask"))
      yield* Fiber.interrupt(call)
      expect(call.pollUnsafe()).toBeDefined()
    })
  )
})

describe("progress of a request of ours", () => {
  it.effect("[PROG-01] is asked for only where someone listens, under a token that no other call in flight has", () =>
    Effect.gen(function* () {
      const { sent, session, take } = yield* make()
      const heard: Array<unknown> = []
      yield* fork(session.request("silent", { a: 1 }))
      const call = yield* fork(
        session.request("loud", { _meta: { other: 1 } }, { onProgress: (params) => heard.push(params.progress) })
      )
      yield* fork(session.request("loud", {}, { onProgress: () => heard.push("other") }))
      expect(sent.map((message) => ("params" in message ? message.params : undefined))).toEqual([
        { a: 1 },
        { _meta: { other: 1, progressToken: 1 } },
        { _meta: { progressToken: 2 } }
      ])
      for (const value of [1, 2]) yield* take(progress(1, value))
      for (const token of [0, "1", "", 99, null]) yield* take(progress(token, 3))
      yield* take(progress(1, "much"))
      yield* take(result(1))
      yield* take(progress(1, 4))
      yield* Fiber.join(call)
      expect(heard).toEqual([1, 2])
    })
  )
})

describe("the end of a peer", () => {
  it.effect("[BUG-11] every call that waits fails once, and later ones at once", () =>
    Effect.gen(function* () {
      const { sent, session } = yield* make()
      const calls = yield* Effect.forEach([1, 2, 3], () => fork(Effect.flip(session.request("ask"))))
      yield* session.close(McpError.closed("gone"))
      for (const call of calls)
        expect((yield* Fiber.join(call)).reason).toMatchObject({ _tag: "Closed", message: "gone" })
      expect((yield* Effect.flip(session.request("ask"))).message).toBe("gone")
      expect((yield* Effect.flip(session.notify("note"))).message).toBe("gone")
      yield* session.close(McpError.closed("again"))
      expect(session.closed?.message).toBe("gone")
      yield* TestClock.adjust("1 hour")
      expect(sent).toHaveLength(3)
    })
  )

  it.effect("closing the scope is such an end", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { session } = yield* Scope.provide(make(), scope)
      const call = yield* fork(reasonOf(session.request("ask")))
      yield* Scope.close(scope, Exit.void)
      expect(yield* Fiber.join(call)).toBe("Closed")
    })
  )

  it.effect("a message that can't be sent fails its call, and no other", () =>
    Effect.gen(function* () {
      const { session, take } = yield* make({
        send: (message) =>
          "method" in message && message.method === "bad" ? Effect.fail(McpError.transport("broken")) : Effect.void
      })
      const good = yield* fork(session.request("good"))
      expect(yield* reasonOf(session.request("bad"))).toBe("TransportFailure")
      yield* take(result(0, { fine: true }))
      expect(yield* Fiber.join(good)).toEqual({ fine: true })
    })
  )
})
