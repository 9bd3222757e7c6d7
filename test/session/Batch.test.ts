/**
 * Batches, which only 2025-03-26 has: several messages in one array, taken and sent.
 */
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import { McpError } from "../../src/protocol/McpError.ts"
import type { Outlet } from "../../src/transport/Transport.ts"
import { Gate } from "../support/Gate.ts"
import { at, settle } from "../support/RawClient.ts"
import { make as makeFixture, type Options, reasonOf } from "./fixture.ts"

const make = (options: Options = {}) => makeFixture({ batches: () => true, ...options })
const fork = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkScoped(effect, { startImmediately: true })

const request = (id: unknown, method = "work") => ({ jsonrpc: "2.0", id, method, params: {} })
const notification = (method: string, params: object = {}) => ({ jsonrpc: "2.0", method, params })
const cancel = (requestId: unknown) => notification("notifications/cancelled", { requestId })
const result = (id: unknown, value: object = {}) => ({ jsonrpc: "2.0", id, result: value })
const error = (id: unknown, code: number) => ({ jsonrpc: "2.0", id, error: { code, message: "no" } })

/** Handlers by method: a gate to wait at, a failure, or nothing to do. */
const handlers = (gates: { readonly [method: string]: Gate }) => (received: JsonRpc.Request) => {
  if (received.method === "fail") return Effect.fail(McpError.protocol(-31000, "no"))
  return Effect.as(gates[received.method]?.work ?? Effect.void, { of: received.id })
}

describe("a batch that came", () => {
  it.effect("[BASE-15] is answered with one array, once all of its requests have come to their end", () =>
    Effect.gen(function* () {
      const slow = new Gate()
      const { notified, sent, take } = yield* make({ handler: handlers({ slow }) })
      yield* take([request(1), request("s", "slow"), notification("told"), request(2, "fail")])
      yield* slow.started
      expect(notified.map(({ method }) => method)).toEqual(["told"])
      yield* settle
      expect(sent).toEqual([])
      yield* slow.open
      yield* settle
      expect(sent).toEqual([[result(1, { of: 1 }), error(2, -31000), result("s", { of: "s" })]])
    })
  )

  it.effect("[BASE-15] one request in an array is answered in an array", () =>
    Effect.gen(function* () {
      const { sent, take } = yield* make({ handler: handlers({}) })
      yield* take([request(1)])
      expect(sent).toEqual([[result(1, { of: 1 })]])
    })
  )

  it.effect("[BASE-15] entries that are no messages have their errors in the array", () =>
    Effect.gen(function* () {
      const { sent, take } = yield* make({ handler: handlers({}) })
      yield* take([1, request(1), { jsonrpc: "1.0", id: 2, method: "work" }, [], [request(3)]])
      const [answers] = sent
      const ids = (answers as unknown as ReadonlyArray<object>).map((answer) => at(answer, "id"))
      expect(ids).toEqual([undefined, 1, 2, undefined, undefined])
      expect(at(answers, 0, "error", "code")).toBe(JsonRpc.ErrorCode.InvalidRequest)
      expect(at(answers, 4, "error", "message")).toBe("A batch must not hold another one")
    })
  )

  for (const [when, order] of [
    ["before the others are done", ["cancel", "open"]],
    ["as the last one", ["open", "cancel"]]
  ] as const) {
    it.effect(`[BASE-15][CANC-01] a request that is cancelled ${when} is left out`, () =>
      Effect.gen(function* () {
        const [doomed, slow] = [new Gate(), new Gate()]
        const { sent, session, take } = yield* make({ handler: handlers({ doomed, slow }) })
        yield* take([request(1, "doomed"), request(2, "slow")])
        const steps = {
          cancel: Effect.andThen(
            Effect.suspend(() => take(cancel(1))),
            doomed.interrupted
          ),
          open: slow.open
        }
        for (const step of order) {
          expect(sent).toEqual([])
          yield* steps[step]
          yield* settle
        }
        expect(sent).toEqual([[result(2, { of: 2 })]])
        expect(session.inFlight).toBe(0)
      })
    )
  }

  it.effect("[BASE-15] can cancel its own request", () =>
    Effect.gen(function* () {
      const doomed = new Gate()
      const { sent, take } = yield* make({ handler: handlers({ doomed }) })
      yield* take([request(1, "doomed"), cancel(1), request(2)])
      yield* doomed.interrupted
      yield* settle
      expect(sent).toEqual([[result(2, { of: 2 })]])
    })
  )

  it.effect("[BASE-15] is not answered when all of it was cancelled, and the outlet is told so", () =>
    Effect.gen(function* () {
      const doomed = new Gate()
      const { sent, session } = yield* make({ handler: handlers({ doomed }) })
      let unanswered = 0
      const outlet: Outlet = {
        send: (message) => Effect.sync(() => void sent.push(message as JsonRpc.Message)),
        unanswered: () => void unanswered++
      }
      const take = (message: unknown) => session.receive(JsonRpc.classify(message), outlet)
      yield* take([request(1, "doomed"), request(2, "doomed")])
      yield* take(cancel(1))
      yield* settle
      expect(unanswered).toBe(0)
      yield* take(cancel(2))
      yield* settle
      expect([sent, unanswered]).toEqual([[], 1])
    })
  )

  it.effect("[BASE-15] of notifications alone is not answered", () =>
    Effect.gen(function* () {
      const { notified, sent, take } = yield* make()
      yield* take([notification("a"), notification("b")])
      expect(notified.map(({ method }) => method)).toEqual(["a", "b"])
      expect(sent).toEqual([])
    })
  )

  it.effect("[BASE-15] of answers ends the calls that wait for them, each in its own way", () =>
    Effect.gen(function* () {
      const { session, strays, take } = yield* make()
      const calls = yield* Effect.forEach([0, 1, 2], () => fork(session.request("ask")))
      yield* take([result(9), error(1, -31000), { jsonrpc: "2.0", id: 2, result: 7 }, result(0, { a: 1 })])
      expect(yield* Fiber.join(calls[0]!)).toEqual({ a: 1 })
      expect(yield* reasonOf(Fiber.join(calls[1]!))).toBe("ProtocolFailure")
      expect(yield* reasonOf(Fiber.join(calls[2]!))).toBe("DecodeFailure")
      expect(strays).toEqual([result(9)])
    })
  )

  it.effect("[BASE-17] is refused with one error where there are no batches, and nothing in it is done", () =>
    Effect.gen(function* () {
      const { notified, sent, session, take } = yield* make({ batches: () => false })
      yield* take([request(1), notification("a"), request(2)])
      expect(sent).toHaveLength(1)
      expect(sent[0]).not.toHaveProperty("id")
      expect(at(sent[0], "error", "code")).toBe(JsonRpc.ErrorCode.InvalidRequest)
      expect([notified, session.inFlight]).toEqual([[], 0])
    })
  )

  it.effect("[BASE-15] that is empty is an invalid request", () =>
    Effect.gen(function* () {
      const { sent, take } = yield* make()
      yield* take([])
      expect(sent.map((message) => at(message, "error", "code"))).toEqual([JsonRpc.ErrorCode.InvalidRequest])
    })
  )

  it.effect("has a limit of messages, and its requests count as requests in flight", () =>
    Effect.gen(function* () {
      const slow = new Gate()
      const limits = { batchMessages: 3, requestsInFlight: 1 }
      const { sent, take } = yield* make({ handler: handlers({ slow }), limits })
      yield* take([1, 2, 3, 4].map((id) => request(id)))
      expect(at(sent.pop(), "error", "code")).toBe(JsonRpc.ErrorCode.LimitExceeded)
      yield* take([request(1, "slow"), request(2)])
      yield* slow.open
      yield* settle
      const codes = (sent[0] as unknown as ReadonlyArray<object>).map((answer) => at(answer, "error", "code"))
      expect(codes).toEqual([JsonRpc.ErrorCode.LimitExceeded, undefined])
    })
  )

  it.effect("[BASE-15] two requests with one id get an answer each", () =>
    Effect.gen(function* () {
      const slow = new Gate()
      const { sent, take } = yield* make({ handler: handlers({ slow }) })
      yield* take([request(1, "slow"), request(1)])
      yield* slow.open
      yield* settle
      expect(sent).toHaveLength(1)
      expect(at(sent[0], 0, "error", "code")).toBe(JsonRpc.ErrorCode.InvalidRequest)
      expect(at(sent[0], 1)).toEqual(result(1, { of: 1 }))
    })
  )

  it.effect("is interrupted with its session", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const slow = new Gate()
      const { take } = yield* Scope.provide(make({ handler: handlers({ slow }) }), scope)
      yield* take([request(1), request(2, "slow")])
      yield* Scope.close(scope, Exit.void)
      expect(slow.stopped).toBe(1)
    })
  )

  it.effect("the peer's slowness to read holds back what it sends next, not the batch", () =>
    Effect.gen(function* () {
      const readable = yield* Deferred.make<void>()
      const limits = { answersUnread: 1 }
      const send = () => Deferred.await(readable)
      const { sent, session, take } = yield* make({ handler: handlers({}), limits, send })
      const taking = yield* fork(take([request(1), request(2), request(3)]))
      yield* settle
      expect(sent).toHaveLength(1)
      expect(taking.pollUnsafe()).toBeUndefined()
      yield* Deferred.succeed(readable, undefined)
      yield* Fiber.join(taking)
      expect(session.inFlight).toBe(0)
    })
  )
})

const ask = (id: number) => ({ jsonrpc: "2.0", id, method: "ask" })

/** Asks so often, in one batch. */
const askTogether = (session: { batch<A>(start: () => A): A; request(method: string): Asking }, times: number) =>
  Effect.withFiber((caller) => {
    const run = Effect.runForkWith(caller.context)
    return Effect.succeed(session.batch(() => Array.from({ length: times }, () => run(session.request("ask")))))
  })
type Asking = Effect.Effect<JsonRpc.Members, McpError>

describe("a batch of ours", () => {
  it.effect("[BASE-14] is one array, and every call in it gets its own answer", () =>
    Effect.gen(function* () {
      const { sent, session, take } = yield* make()
      const [first, second] = yield* askTogether(session, 2)
      expect(sent).toEqual([[ask(0), ask(1)]])
      yield* take(result(1, { a: 1 }))
      yield* take([error(0, -31000)])
      expect(yield* reasonOf(Fiber.join(first!))).toBe("ProtocolFailure")
      expect(yield* Fiber.join(second!)).toEqual({ a: 1 })
      yield* fork(session.request("ask"))
      expect(sent[1]).toEqual(ask(2))
    })
  )

  it.effect("[BASE-14] of one request is that request, and of none is nothing", () =>
    Effect.gen(function* () {
      const { sent, session } = yield* make()
      yield* askTogether(session, 0)
      expect(sent).toEqual([])
      yield* askTogether(session, 1)
      expect(sent).toEqual([ask(0)])
    })
  )

  it.effect("[BASE-14] a batch inside another one joins it", () =>
    Effect.gen(function* () {
      const { sent, session } = yield* make()
      session.batch(() => {
        for (let times = 0; times < 2; times++) session.batch(() => Effect.runFork(session.request("ask")))
      })
      expect(sent).toEqual([[ask(0), ask(1)]])
    })
  )

  it.effect("[BASE-14] one call can be given up, and the others go on", () =>
    Effect.gen(function* () {
      const sending = new Gate()
      const { sent, session, take } = yield* make({
        send: (message) => (JsonRpc.isBatch(message) ? sending.work : Effect.void)
      })
      const [first, second, third] = yield* askTogether(session, 3)
      yield* Fiber.interrupt(second!)
      yield* settle
      expect(sent[1]).toEqual(cancel(1))
      expect(sending.stopped).toBe(0)
      yield* take(result(0))
      expect(yield* Fiber.join(first!)).toEqual({})
      yield* Fiber.interrupt(third!)
      yield* settle
      expect(sent[2]).toEqual(cancel(2))
    })
  )

  it.effect("[BASE-14] sending it ends when nobody waits for an answer any more", () =>
    Effect.gen(function* () {
      const sending = new Gate()
      const { session } = yield* make({
        send: (message) => (JsonRpc.isBatch(message) ? sending.work : Effect.void)
      })
      const [first, second] = yield* askTogether(session, 2)
      yield* Fiber.interrupt(first!)
      expect(sending.stopped).toBe(0)
      yield* Fiber.interrupt(second!)
      yield* sending.interrupted
    })
  )

  it.effect("[BASE-14] a call that is given up before it was sent is cancelled in the same array", () =>
    Effect.gen(function* () {
      const { sent, session } = yield* make()
      session.batch(() => {
        Effect.runFork(session.request("ask"))
        Effect.runFork(session.request("ask")).interruptUnsafe()
      })
      yield* settle
      expect(sent).toEqual([[ask(0), ask(1), cancel(1)]])
    })
  )

  it.effect("[BASE-14] that can't be sent fails every call in it", () =>
    Effect.gen(function* () {
      const { session } = yield* make({ send: () => Effect.fail(McpError.transport("broken pipe")) })
      const calls = yield* askTogether(session, 2)
      expect(yield* Effect.forEach(calls, (call) => reasonOf(Fiber.join(call)))).toEqual([
        "TransportFailure",
        "TransportFailure"
      ])
      expect(session.waiting).toBe(0)
    })
  )

  it.effect("[BASE-14] every call in it has its time limit", () =>
    Effect.gen(function* () {
      const { sent, session, take } = yield* make()
      const [first, second] = yield* askTogether(session, 2)
      yield* take(result(1))
      yield* TestClock.adjust("60 seconds")
      expect(yield* reasonOf(Fiber.join(first!))).toBe("Timeout")
      expect(yield* reasonOf(Fiber.join(second!))).toBe("Success")
      yield* settle
      expect(sent[1]).toEqual(cancel(0))
    })
  )
})
