/**
 * Requests of the peer: the fibers that answer them, the limits that they share, and how they end.
 */
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { InMemory, McpServer, Tool, Transport } from "mcp-effect"
import { ErrorCode } from "../../src/protocol/JsonRpc.ts"
import { McpError } from "../../src/protocol/McpError.ts"
import { Gate } from "../support/Gate.ts"
import { at, eras, over, settle } from "../support/RawClient.ts"
import { make } from "./fixture.ts"

const request = (id: unknown, method = "work") => ({ jsonrpc: "2.0", id, method, params: {} })
const fork = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkScoped(effect, { startImmediately: true })

describe("answers to the peer", () => {
  it.effect("[ERR-01] every way to fail has its code, and what is inside stays inside", () =>
    Effect.gen(function* () {
      const failures: ReadonlyArray<readonly [Effect.Effect<never, McpError>, object]> = [
        [Effect.fail(McpError.protocol(-31000, "no", { a: 1 })), { code: -31000, message: "no", data: { a: 1 } }],
        [Effect.fail(McpError.invalidParams("bad")), { code: ErrorCode.InvalidParams, message: "bad" }],
        [Effect.fail(McpError.methodNotFound("x")), { code: ErrorCode.MethodNotFound, message: "Method not found: x" }],
        [Effect.fail(McpError.transport("at /srv/db")), { code: ErrorCode.InternalError, message: "Internal error" }],
        [Effect.fail(McpError.closed("peer 7")), { code: ErrorCode.InternalError, message: "Internal error" }],
        [Effect.die(new Error("hunter2")), { code: ErrorCode.InternalError, message: "Internal error" }],
        [
          Effect.fail(McpError.unsupported("no", { roots: {} })),
          {
            code: ErrorCode.MissingRequiredClientCapability,
            message: "no",
            data: { requiredCapabilities: { roots: {} } }
          }
        ]
      ]
      for (const [handler, error] of failures) {
        const { sent, take } = yield* make({ handler: () => handler })
        yield* take(request("a"))
        yield* settle
        expect(sent).toEqual([{ jsonrpc: "2.0", id: "a", error }])
      }
    })
  )

  it.effect("params that are null are as good as none", () =>
    Effect.gen(function* () {
      const { notified, sent, take } = yield* make({
        handler: (request) => Effect.succeed({ hasParams: "params" in request })
      })
      yield* take({ jsonrpc: "2.0", id: 1, method: "roots/list", params: null })
      yield* take({ jsonrpc: "2.0", method: "notifications/initialized", params: null })
      yield* settle
      expect(sent).toEqual([{ jsonrpc: "2.0", id: 1, result: { hasParams: false } }])
      expect(notified).toEqual([{ jsonrpc: "2.0", method: "notifications/initialized" }])
    })
  )

  it.effect("[BASE-09] what is no message is told so, without an id unless that could be read", () =>
    Effect.gen(function* () {
      const { sent, take } = yield* make()
      yield* take({ jsonrpc: "1.0", id: 7, method: "a" })
      yield* take({ jsonrpc: "2.0", id: null, method: "a" })
      yield* take(["nothing"])
      expect(sent.map((message) => ["id" in message ? message.id : "none", at(message, "error", "code")])).toEqual([
        [7, ErrorCode.InvalidRequest],
        ["none", ErrorCode.InvalidRequest],
        ["none", ErrorCode.InvalidRequest]
      ])
    })
  )
})

describe("cancellation", () => {
  it.effect("[CANC-01] reaches the handler as interruption, and from it what it waits for; no answer is sent", () =>
    Effect.gen(function* () {
      const [outer, inner] = [new Gate(), new Gate()]
      const child = Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(inner.work)
        yield* outer.work
        return yield* Fiber.join(fiber)
      })
      const { sent, session, take } = yield* make({ handler: () => Effect.as(child, {}) })
      yield* take(request("a"))
      yield* Effect.all([outer.started, inner.started])
      expect(session.inFlight).toBe(1)
      yield* take({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "a" } })
      yield* Effect.all([outer.interrupted, inner.interrupted])
      yield* settle
      expect(sent).toEqual([])
      expect(session.inFlight).toBe(0)
    })
  )

  it.effect("finalizers run, and what they take is waited for before the request counts as done", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const { session, take } = yield* make({
        handler: () =>
          Effect.as(
            Effect.onInterrupt(Effect.never, () => gate.work),
            {}
          )
      })
      yield* take(request("a"))
      yield* take({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "a" } })
      yield* gate.started
      expect(session.inFlight).toBe(1)
      yield* gate.open
      yield* settle
      expect(session.inFlight).toBe(0)
    })
  )

  it.effect("[BUG-29] for an unknown id, or none, it is one more notification", () =>
    Effect.gen(function* () {
      const { sent, take } = yield* make()
      for (const params of [{ requestId: "x" }, {}, { requestId: null }, undefined]) {
        yield* take({ jsonrpc: "2.0", method: "notifications/cancelled", ...(params && { params }) })
      }
      yield* settle
      expect(sent).toEqual([])
    })
  )
})

describe("limits", () => {
  it.effect("limits.requestsInFlight: more are refused, until one is done", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const { sent, session, take } = yield* make({
        limits: { requestsInFlight: 2 },
        handler: () => Effect.as(gate.work, {})
      })
      for (const id of [1, 2, 3, 4]) yield* take(request(id))
      expect(sent.map((message) => [at(message, "id"), at(message, "error", "code")])).toEqual([
        [3, ErrorCode.LimitExceeded],
        [4, ErrorCode.LimitExceeded]
      ])
      expect([session.inFlight, gate.begun]).toEqual([2, 2])
      yield* gate.open
      yield* settle
      yield* take(request(5))
      yield* settle
      expect(sent.slice(2).map((message) => at(message, "id"))).toEqual([1, 2, 5])
      expect(session.inFlight).toBe(0)
    })
  )

  it.effect("limits.answersUnread: while so many answers wait to be read, nothing more is read", () =>
    Effect.gen(function* () {
      const readers: Array<Deferred.Deferred<void>> = []
      const { take } = yield* make({
        limits: { answersUnread: 3 },
        send: () =>
          Effect.suspend(() => {
            const reader = Deferred.makeUnsafe<void>()
            readers.push(reader)
            return Deferred.await(reader)
          })
      })
      for (const id of [1, 2]) yield* take(request(id))
      const third = yield* fork(take(request(3)))
      yield* settle
      expect(readers).toHaveLength(3)
      expect(third.pollUnsafe()).toBeUndefined()
      yield* Deferred.succeed(readers[0]!, undefined)
      yield* Fiber.join(third)
      yield* Effect.forEach(readers, (reader) => Deferred.succeed(reader, undefined))
      yield* take(request(4))
    })
  )

  it.effect("[BASE-04][BUG-28] an id in use is refused on one connection; over HTTP each exchange has its own", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const one = yield* make({ handler: () => Effect.as(gate.work, { done: true }) })
      for (const id of [1, 1, "1"]) yield* one.take(request(id))
      expect(one.sent).toMatchObject([{ id: 1, error: { code: ErrorCode.InvalidRequest } }])
      const many = yield* make({ sharedIds: true, handler: () => Effect.as(gate.work, { done: true }) })
      for (const id of [1, 1]) yield* many.take(request(id))
      expect(many.session.inFlight).toBe(2)
      yield* gate.open
      yield* settle
      expect(one.sent.slice(1)).toHaveLength(2)
      expect(many.sent).toEqual([1, 1].map((id) => ({ jsonrpc: "2.0", id, result: { done: true } })))
      expect([one.session.inFlight, many.session.inFlight]).toEqual([0, 0])
    })
  )
})

describe("the end", () => {
  it.effect("closing interrupts every handler and waits for its finalizers; nothing is sent after it", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const gates = [new Gate(), new Gate()] as const
      const events: Array<string> = []
      const { sent, session, take } = yield* Scope.provide(
        make({
          handler: ({ id }) =>
            Effect.as(
              Effect.ensuring(
                gates[id as 0 | 1].work,
                Effect.andThen(
                  Effect.yieldNow,
                  Effect.sync(() => events.push(`finalized ${id}`))
                )
              ),
              {}
            )
        }),
        scope
      )
      for (const id of [0, 1]) yield* take(request(id))
      yield* Scope.close(scope, Exit.void)
      expect(events.toSorted()).toEqual(["finalized 0", "finalized 1"])
      yield* take(request(2))
      yield* settle
      expect(sent).toEqual([])
      expect(session.inFlight).toBe(0)
    })
  )

  it.effect("what is forked in the background ends with it, also when it comes too late", () =>
    Effect.gen(function* () {
      const { session } = yield* make()
      const gates = [new Gate(), new Gate()] as const
      session.fork(gates[0].work)
      yield* session.close(McpError.closed("gone"))
      expect(gates[0].stopped).toBe(1)
      session.fork(gates[1].work)
      yield* settle
      expect(gates[1].stopped).toBe(gates[1].begun)
      expect(gates[1].finished).toBe(0)
    })
  )

  it.effect("idle ends when nothing is under way", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const { session, take } = yield* make({ handler: () => Effect.as(gate.work, {}) })
      yield* session.idle
      yield* take(request(1))
      const idle = yield* fork(session.idle)
      yield* settle
      expect(idle.pollUnsafe()).toBeUndefined()
      yield* gate.open
      yield* Fiber.join(idle)
    })
  )

  for (const era of eras) {
    it.effect(`[BUG-128] a connection that ends takes its handlers with it; other connections go on (${era})`, () =>
      Effect.gen(function* () {
        const gates = [new Gate(), new Gate()] as const
        const Slow = (index: 0 | 1) =>
          Tool.handle(Tool.make(`slow${index}`), () => Effect.as(gates[index].work, "done"))
        const server = McpServer.make({ name: "s", version: "1", tools: [Slow(0), Slow(1)] })
        const context = yield* Layer.build(McpServer.layer(server).pipe(Layer.provideMerge(InMemory.layer)))
        const { connect } = yield* Effect.provide(Transport.ClientTransport, context)
        const staying = yield* over(yield* connect, { era })
        yield* staying.start("tools/call", { name: "slow1" }, "staying")
        yield* Effect.scoped(
          Effect.gen(function* () {
            const leaving = yield* over(yield* connect, { era })
            yield* leaving.start("tools/call", { name: "slow0" }, "leaving")
            yield* Effect.all([gates[0].started, gates[1].started])
          })
        )
        yield* TestClock.adjust("5 seconds")
        expect([gates[0].stopped, gates[1].stopped]).toEqual([1, 0])
        yield* gates[1].open
        expect(at(yield* staying.answerTo("staying"), "result", "content", 0, "text")).toBe("done")
      })
    )
  }
})
