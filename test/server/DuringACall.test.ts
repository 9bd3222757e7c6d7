/**
 * What happens while a call is under way: progress, logs, cancellation, and other calls.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, References, Schema, Stream } from "effect"
import { CallContext, McpServer, Peer, Progress, Tool } from "mcp-effect"
import type { Json } from "../protocol/OfficialSchema.ts"
import { demo } from "../support/Demo.ts"
import { Gate } from "../support/Gate.ts"
import { at, eras, legacy, modern, open, serve, settle } from "../support/RawClient.ts"

const serverOf = <R>(...tools: ReadonlyArray<Tool.Handled<R>>) => McpServer.make({ name: "s", version: "1", tools })
const progressOf = (messages: ReadonlyArray<Json>) =>
  messages.map(({ params }) => [at(params, "progressToken"), at(params, "progress")])

const levels = (messages: ReadonlyArray<Json>) => messages.map(({ params }) => at(params, "level"))

const wanting = (level: unknown) => ({ _meta: { "io.modelcontextprotocol/logLevel": level } })

for (const era of eras) {
  describe(`progress in ${era}`, () => {
    it.effect(
      "[PROG-01][PROG-02][BUG-82] goes out under the caller's token, of its type, and only when asked for",
      () =>
        Effect.gen(function* () {
          const client = yield* open(demo, { era })
          yield* client.call("count")
          expect(client.called("notifications/progress")).toEqual([])
          for (const token of ["abc", 7, "", 0])
            yield* client.call("count", undefined, { _meta: { progressToken: token } })
          expect(progressOf(client.called("notifications/progress"))).toEqual(
            ["abc", 7, "", 0].flatMap((token) => [
              [token, 1],
              [token, 2]
            ])
          )
          expect(client.called("notifications/progress")[0]?.params).toEqual({
            progressToken: "abc",
            progress: 1,
            total: 2,
            message: "one"
          })
          for (const token of [1.5, null, {}]) {
            const error = yield* client.error("tools/call", { name: "count", _meta: { progressToken: token } })
            expect(error.code).toBe(-32602)
          }
        })
    )

    it.effect("[PROG-02][BUG-83] only rises, and stops before the answer", () =>
      Effect.gen(function* () {
        let later: Effect.Effect<void> = Effect.void
        const Falling = Tool.handle(Tool.make("falling"), () =>
          Effect.gen(function* () {
            for (const progress of [1, 1, 0.5, 1.25, 2, -1, Number.NaN]) yield* Progress.report({ progress })
            const call = yield* CallContext.CallContext
            later = Effect.provideService(Progress.report({ progress: 3 }), CallContext.CallContext, call)
            return "done"
          })
        )
        const client = yield* open(serverOf(Falling), { era })
        yield* client.call("falling", undefined, { _meta: { progressToken: "t" } })
        yield* later
        yield* settle
        expect(progressOf(client.called("notifications/progress")).map(([, value]) => value)).toEqual([1, 1.25, 2])
        expect(client.received.at(-1)).toHaveProperty("result")
      })
    )

    it.effect("[PROG-02] two calls with the same token each rise on their own", () =>
      Effect.gen(function* () {
        const client = yield* open(demo, { era })
        const both = yield* Effect.all(
          [1, 2].map(() => client.call("count", undefined, { _meta: { progressToken: "t" } }))
        )
        expect(both).toHaveLength(2)
        expect(client.called("notifications/progress")).toHaveLength(4)
      })
    )
  })

  describe(`cancellation in ${era}`, () => {
    it.effect("[CANC-01][STDIO-08] interrupts the handler and what it waits for; nothing more is sent", () =>
      Effect.gen(function* () {
        const gate = new Gate()
        const inner = new Gate()
        const Slow = Tool.handle(Tool.make("slow"), () =>
          Effect.onInterrupt(Effect.all([gate.work, inner.work], { concurrency: 2 }), () =>
            Progress.report({ progress: 1 })
          ).pipe(Effect.as("late"))
        )
        const client = yield* open(serverOf(Slow), { era })
        yield* client.start("tools/call", { name: "slow", _meta: { progressToken: "t" } }, "slow")
        yield* inner.started
        const before = client.received.length
        yield* client.notify("notifications/cancelled", { requestId: "slow", reason: "no longer needed" })
        yield* Effect.all([gate.interrupted, inner.interrupted])
        yield* settle
        expect([gate.stopped, inner.stopped, gate.finished]).toEqual([1, 1, 0])
        const after = client.received.slice(before)
        expect(after.filter((message) => message.id === "slow")).toEqual([])
      })
    )

    it.effect("[CANC-01] only the request that is named, and only by an id of the same type", () =>
      Effect.gen(function* () {
        const gate = new Gate()
        const client = yield* open(serverOf(Tool.handle(Tool.make("slow"), () => Effect.as(gate.work, "done"))), {
          era
        })
        yield* client.start("tools/call", { name: "slow" }, 5)
        yield* gate.started
        for (const requestId of ["5", 6, null, {}, undefined])
          yield* client.notify("notifications/cancelled", { requestId })
        yield* settle
        yield* gate.open
        expect(at(yield* client.answerTo(5), "result", "content", 0, "text")).toBe("done")
        expect(gate.stopped).toBe(0)
      })
    )

    it.effect("[BUG-76] whenever it comes, there is at most one answer and the server lives on", () =>
      Effect.gen(function* () {
        const Yields = Tool.handle(
          Tool.make("yields", { input: Schema.Struct({ times: Schema.Number }) }),
          ({ times }) => Effect.as(Effect.repeat(Effect.yieldNow, { times }), "done")
        )
        const client = yield* open(serverOf(Yields), { era, judged: false })
        for (let round = 0; round < 1000; round++) {
          yield* client.start("tools/call", { name: "yields", arguments: { times: round % 5 } }, `n${round}`)
          yield* Effect.repeat(Effect.yieldNow, { times: round % 7 })
          yield* client.notify("notifications/cancelled", { requestId: `n${round}` })
        }
        yield* settle
        const answers = client.received.filter((message) => typeof message.id === "string")
        expect(new Set(answers.map(({ id }) => id)).size).toBe(answers.length)
        expect(answers.length).toBeGreaterThan(0)
        expect(answers.length).toBeLessThan(1000)
        expect(yield* client.result("tools/list")).toHaveProperty("tools")
      })
    )

    it.effect("a handler that interrupts itself still gets an answer out", () =>
      Effect.gen(function* () {
        const client = yield* open(serverOf(Tool.handle(Tool.make("quit"), () => Effect.interrupt)), { era })
        const answer = yield* client.request("tools/call", { name: "quit" })
        expect(answer.error ?? at(answer, "result", "isError")).toBeTruthy()
      })
    )

    it.effect("cancelling one of two does not touch the other, nor another connection's", () =>
      Effect.gen(function* () {
        const gates = { a: new Gate(), b: new Gate(), c: new Gate() }
        const Wait = Tool.handle(
          Tool.make("wait", { input: Schema.Struct({ at: Schema.Literals(["a", "b", "c"]) }) }),
          (input) => Effect.as(gates[input.at].work, input.at)
        )
        const connect = yield* serve(serverOf(Wait))
        const [one, other] = [yield* connect({ era }), yield* connect({ era })]
        yield* one.start("tools/call", { name: "wait", arguments: { at: "a" } }, 50)
        yield* one.start("tools/call", { name: "wait", arguments: { at: "b" } }, 51)
        yield* other.start("tools/call", { name: "wait", arguments: { at: "c" } }, 50)
        yield* Effect.all([gates.a.started, gates.b.started, gates.c.started])
        yield* one.notify("notifications/cancelled", { requestId: 50 })
        yield* gates.a.interrupted
        yield* Effect.all([gates.b.open, gates.c.open])
        expect(at(yield* one.answerTo(51), "result", "content", 0, "text")).toBe("b")
        expect(at(yield* other.answerTo(50), "result", "content", 0, "text")).toBe("c")
      })
    )
  })

  describe(`ids in ${era}`, () => {
    it.effect("[BASE-04][BUG-28] on one connection an id in use is refused, and the first call is not harmed", () =>
      Effect.gen(function* () {
        const gate = new Gate()
        const Slow = Tool.handle(Tool.make("slow"), () => Effect.as(gate.work, "first"))
        // The judge tells answers apart by their ids, and this client does not keep to that rule.
        const client = yield* open(serverOf(Slow), { era, judged: false })
        yield* client.start("tools/call", { name: "slow" }, 5)
        yield* gate.started
        expect(at(yield* client.request("tools/list", {}, 5), "error", "code")).toBe(-32600)
        expect(gate.begun).toBe(1)
        yield* gate.open
        expect(at(yield* client.answerTo(5), "result", "content", 0, "text")).toBe("first")
        expect(yield* client.request("tools/list", {}, 5)).toHaveProperty("result")
        expect(yield* client.request("tools/list", {}, "5")).toHaveProperty("result")
      })
    )
  })
}

describe("logs", () => {
  it.effect("[LOG-01][LOG-05][BUG-136] up to 2025-11-25 the session sets the level, and a default holds before", () =>
    Effect.gen(function* () {
      const client = yield* open(demo, { era: legacy })
      yield* client.call("chatty")
      expect(levels(client.called("notifications/message"))).toEqual(["info", "error"])
      expect(client.called("notifications/message")[0]?.params).toMatchObject({ data: ["a fact", { of: "life" }] })
      expect(yield* client.result("logging/setLevel", { level: "warning" })).toEqual({})
      yield* client.call("chatty")
      expect(levels(client.called("notifications/message")).slice(2)).toEqual(["error"])
      for (const level of ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]) {
        expect(yield* client.result("logging/setLevel", { level })).toEqual({})
      }
      for (const level of ["loud", "", 7, undefined]) {
        expect((yield* client.error("logging/setLevel", { level })).code).toBe(-32602)
      }
    })
  )

  it.effect("a peer gets the details it asked for, whatever this side prints", () =>
    Effect.gen(function* () {
      const client = yield* open(demo, { era: legacy })
      yield* client.result("logging/setLevel", { level: "debug" })
      yield* client.call("chatty")
      expect(levels(client.called("notifications/message"))).toEqual(["debug", "info", "error"])
    }).pipe(Effect.provideService(References.MinimumLogLevel, "Fatal"))
  )

  it.effect("[LOG-03][BUG-137] from 2026-07-28 on a request says so itself, and is alone in getting them", () =>
    Effect.gen(function* () {
      const client = yield* open(demo)
      yield* client.call("chatty")
      expect(client.called("notifications/message")).toEqual([])
      yield* client.call("chatty", undefined, wanting("warning"))
      expect(levels(client.called("notifications/message"))).toEqual(["error"])
      yield* client.call("chatty")
      expect(client.called("notifications/message")).toHaveLength(1)
      expect((yield* client.error("tools/call", { name: "chatty", ...wanting("loud") })).code).toBe(-32602)
      expect(client.received.at(-2)).toHaveProperty("result")
    })
  )

  it.effect("[LOG-01] a server that does not declare logs sends none", () =>
    Effect.gen(function* () {
      const Chatty = Tool.handle(Tool.make("chatty"), () => Effect.logError("a problem"))
      const silent = McpServer.make({ name: "s", version: "1", logging: false, tools: [Chatty] })
      for (const era of eras) {
        const client = yield* open(silent, { era, meta: { "io.modelcontextprotocol/logLevel": "debug" } })
        yield* client.call("chatty")
        expect(client.called("notifications/message")).toEqual([])
      }
    }).pipe(Effect.provideService(References.MinimumLogLevel, "None"))
  )

  it.effect("[LOG-05] messages of one call keep their order, annotations and all", () =>
    Effect.gen(function* () {
      const Numbers = Tool.handle(Tool.make("numbers"), () =>
        Effect.forEach(
          Array.from({ length: 50 }, (_, index) => index),
          (index) => Effect.annotateLogs(Effect.logWarning(index), "of", "many")
        ).pipe(Effect.as("counted"))
      )
      const client = yield* open(serverOf(Numbers), { meta: { "io.modelcontextprotocol/logLevel": "warning" } })
      yield* client.call("numbers")
      expect(client.called("notifications/message").map(({ params }) => at(params, "data"))).toEqual(
        Array.from({ length: 50 }, (_, message) => ({ message, of: "many" }))
      )
    }).pipe(Effect.provideService(References.MinimumLogLevel, "None"))
  )
})

describe("callers among themselves", () => {
  for (const era of eras) {
    it.effect(`[BUG-54][BUG-130] progress, logs and results of one client never reach another (${era})`, () =>
      Effect.gen(function* () {
        const Secret = Tool.make("secret", { input: Schema.Struct({ value: Schema.String }) })
        const secret = Tool.handle(Secret, ({ value }) =>
          Stream.fromEffect(Effect.logError(value)).pipe(
            Stream.drain,
            Stream.concat(Stream.make(Progress.update({ progress: 1, message: value }), value)),
            Stream.tap(() => Effect.yieldNow)
          )
        )
        const connect = yield* serve(serverOf(secret))
        const clients = yield* Effect.forEach(["A", "B", "C"], (name) =>
          Effect.map(connect({ era, meta: { "io.modelcontextprotocol/logLevel": "debug" } }), (client) => ({
            client,
            name
          }))
        )
        const calls = clients.flatMap(({ client, name }) =>
          Array.from({ length: 50 }, (_, index) =>
            client.call("secret", { value: `${name}-${index}-secret` }, { _meta: { progressToken: index } })
          )
        )
        yield* Effect.all(calls, { concurrency: "unbounded" })
        for (const { client, name } of clients) {
          const secrets = [...JSON.stringify(client.received).matchAll(/([ABC])-\d+-secret/g)].map((match) => match[1])
          expect(secrets.length).toBe(150)
          expect(new Set(secrets)).toEqual(new Set([name]))
        }
      }).pipe(Effect.provideService(References.MinimumLogLevel, "None"))
    )
  }

  it.effect("[CANC-07] a server cancels nothing by itself, except what it asked in 2025-11-25", () =>
    Effect.gen(function* () {
      const Ask = Tool.handle(Tool.make("ask"), () => Effect.as(Peer.roots(), "asked"))
      const connect = yield* serve(serverOf(Ask))
      const old = yield* connect({ era: legacy, capabilities: { roots: {} } })
      yield* old.start("tools/call", { name: "ask" }, "call")
      const question = yield* old.nextCalled("roots/list")
      yield* old.notify("notifications/cancelled", { requestId: "call" })
      const cancelled = yield* old.nextCalled("notifications/cancelled")
      expect(at(cancelled, "params", "requestId")).toBe(question.id)
      const current = yield* connect({ era: modern, capabilities: { roots: {} } })
      yield* current.call("ask")
      yield* current.start("tools/call", { name: "ask" }, "call")
      yield* current.notify("notifications/cancelled", { requestId: "call" })
      yield* settle
      expect(current.called("notifications/cancelled")).toEqual([])
    })
  )
})
