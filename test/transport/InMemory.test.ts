import { describe, expect, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Fiber, Scope } from "effect"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import type { McpError } from "../../src/protocol/McpError.ts"
import * as InMemory from "../../src/transport/InMemory.ts"
import { ClientTransport, ServerTransport } from "../../src/transport/Transport.ts"

const note = (n: number) => JsonRpc.notification("note", { n })

const numberOf = (message: JsonRpc.Incoming) =>
  JsonRpc.isNotification(message) && typeof message.params?.n === "number" ? message.params.n : NaN

const reasonOf = (error: McpError) => error.reason._tag

const fork = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkScoped(effect, { startImmediately: true })

describe("InMemory", () => {
  it.effect("an idle receiver has the message when send ends, as a value of its own", () =>
    Effect.gen(function* () {
      const { client, server } = yield* InMemory.link
      const received: Array<JsonRpc.Incoming> = []
      yield* fork(server.run((message) => Effect.sync(() => received.push(message))))
      const sent = JsonRpc.request(1, "echo", { text: "é漢🙂\u2028" })
      yield* client.send(sent)
      expect(received).toEqual([sent])
      expect(received[0]).not.toBe(sent)
    })
  )

  it.effect("what is no message arrives as malformed, like on any wire", () =>
    Effect.gen(function* () {
      const { client, server } = yield* InMemory.link
      const received: Array<JsonRpc.Incoming> = []
      yield* fork(server.run((message) => Effect.sync(() => received.push(message))))
      yield* client.send({ jsonrpc: "2.0", id: 1.5, method: "ping" })
      expect(received[0]).toBeInstanceOf(JsonRpc.Malformed)
    })
  )

  it.effect("messages that are sent before run begins are delivered in order", () =>
    Effect.gen(function* () {
      const { client, server } = yield* InMemory.link
      for (let n = 0; n < 10; n++) yield* client.send(note(n))
      const received: Array<number> = []
      yield* fork(server.run((message) => Effect.sync(() => received.push(numberOf(message)))))
      expect(received).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    })
  )

  it.effect("order is kept when the receiver causes new messages for itself", () =>
    Effect.gen(function* () {
      const { client, server } = yield* InMemory.link
      const events: Array<string> = []
      // The client answers each "1" with a "2" while the server is still at work on the message before.
      yield* fork(
        client.run((message) => (numberOf(message) === 1 ? client.send(note(2)).pipe(Effect.orDie) : Effect.void))
      )
      yield* fork(
        server.run((message) =>
          Effect.gen(function* () {
            const n = numberOf(message)
            events.push(`begin ${n}`)
            if (n === 0) yield* Effect.orDie(server.send(note(1)))
            events.push(`end ${n}`)
          })
        )
      )
      yield* client.send(note(0))
      expect(events).toEqual(["begin 0", "end 0", "begin 2", "end 2"])
    })
  )

  it.effect("send suspends when the receiver is slow, and no message is lost or overtaken", () =>
    Effect.gen(function* () {
      const { client, server } = yield* InMemory.link
      const gate = yield* Deferred.make<void>()
      const received: Array<number> = []
      yield* fork(
        server.run((message) =>
          Effect.andThen(
            Deferred.await(gate),
            Effect.sync(() => received.push(numberOf(message)))
          )
        )
      )
      let sent = 0
      const sender = yield* Effect.gen(function* () {
        for (let n = 0; n < 200; n++) {
          yield* client.send(note(n))
          sent++
        }
      }).pipe(fork)
      expect(sender.pollUnsafe()).toBeUndefined()
      expect(sent).toBeLessThan(100)
      // The other direction is free meanwhile.
      yield* server.send(note(0))
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(sender)
      yield* client.send(note(200))
      expect(received).toEqual(Array.from({ length: 201 }, (_, n) => n))
    })
  )

  it.effect("an interrupted send that was waiting sends nothing", () =>
    Effect.gen(function* () {
      const { client, server } = yield* InMemory.link
      for (let n = 0; n < 64; n++) yield* client.send(note(n))
      const waiting = yield* fork(client.send(note(64)))
      yield* Fiber.interrupt(waiting)
      const received: Array<number> = []
      yield* fork(server.run((message) => Effect.sync(() => received.push(numberOf(message)))))
      expect(received.length).toBe(64)
    })
  )

  it.effect("the receiver has nothing of the sender: not its services, not its interruption", () =>
    Effect.gen(function* () {
      const Color = Context.Reference<string>("test/Color", { defaultValue: () => "none" })
      const { client, server } = yield* InMemory.link
      const gate = yield* Deferred.make<void>()
      const done = yield* Deferred.make<string>()
      yield* server
        .run(() =>
          Effect.gen(function* () {
            const color = yield* Color
            yield* Deferred.await(gate)
            yield* Deferred.succeed(done, color)
          })
        )
        .pipe(Effect.provideService(Color, "server"), fork)
      const sender = yield* client
        .send(note(1))
        .pipe(Effect.andThen(Effect.never), Effect.provideService(Color, "client"), fork)
      yield* Fiber.interrupt(sender)
      yield* Deferred.succeed(gate, undefined)
      expect(yield* Deferred.await(done)).toBe("server")
    })
  )

  it.effect("a defect of the receiver is the defect of run", () =>
    Effect.gen(function* () {
      const { client, server } = yield* InMemory.link
      const running = yield* fork(server.run(() => Effect.die("broken")))
      yield* client.send(note(1))
      expect(yield* Fiber.await(running)).toEqual(Exit.die("broken"))
    })
  )

  it.effect("interrupting run interrupts the receiver at work", () =>
    Effect.gen(function* () {
      const { client, server } = yield* InMemory.link
      const interrupted = yield* Deferred.make<void>()
      const running = yield* fork(
        server.run(() => Effect.onInterrupt(Effect.never, () => Deferred.succeed(interrupted, undefined)))
      )
      yield* client.send(note(1))
      yield* Fiber.interrupt(running)
      yield* Deferred.await(interrupted)
    })
  )

  it.effect("closing delivers what was sent, ends run, and fails every send", () =>
    Effect.gen(function* () {
      const transport = yield* ClientTransport
      const listener = yield* ServerTransport
      const accepted = yield* Deferred.make<{ readonly send: () => Effect.Effect<void, McpError> }>()
      const gate = yield* Deferred.make<void>()
      const received: Array<number> = []
      const served = yield* Deferred.make<void>()
      yield* fork(
        listener.run((connection) =>
          Effect.gen(function* () {
            yield* Deferred.succeed(accepted, { send: () => connection.send(note(0)) })
            yield* connection
              .run((message) =>
                Effect.andThen(
                  Deferred.await(gate),
                  Effect.sync(() => received.push(numberOf(message)))
                )
              )
              .pipe(Effect.orDie)
            yield* Deferred.succeed(served, undefined)
          })
        )
      )
      const scope = yield* Scope.make()
      const connection = yield* Scope.provide(transport.connect, scope)
      const running = yield* fork(connection.run(() => Effect.void))
      const server = yield* Deferred.await(accepted)
      for (let n = 0; n < 65; n++) yield* connection.send(note(n))
      const waiting = yield* Effect.flip(connection.send(note(65))).pipe(fork)

      yield* Scope.close(scope, Exit.void)
      yield* Fiber.join(running)
      expect(reasonOf(yield* Fiber.join(waiting))).toBe("Closed")
      expect(reasonOf(yield* Effect.flip(connection.send(note(66))))).toBe("Closed")
      expect(reasonOf(yield* Effect.flip(server.send()))).toBe("Closed")
      yield* Deferred.succeed(gate, undefined)
      yield* Deferred.await(served)
      expect(received).toEqual(Array.from({ length: 65 }, (_, n) => n))
    }).pipe(Effect.provide(InMemory.layer))
  )

  it.effect("many clients of one server do not see each other", () =>
    Effect.gen(function* () {
      const transport = yield* ClientTransport
      const listener = yield* ServerTransport
      // The first connects before the server runs.
      const first = yield* transport.connect
      const running = yield* fork(
        listener.run((connection) =>
          connection
            .run((message) => (JsonRpc.isNotification(message) ? Effect.orDie(connection.send(message)) : Effect.void))
            .pipe(Effect.orDie)
        )
      )
      const second = yield* transport.connect
      const results = yield* Effect.forEach(
        [first, second],
        (connection, index) =>
          Effect.gen(function* () {
            const answer = yield* Deferred.make<number>()
            const reading = yield* fork(connection.run((message) => Deferred.succeed(answer, numberOf(message))))
            yield* connection.send(note(index))
            return { answer: yield* Deferred.await(answer), reading }
          }),
        { concurrency: "unbounded" }
      )
      expect(results.map(({ answer }) => answer)).toEqual([0, 1])
      // When the server stops, every client is told.
      yield* Fiber.interrupt(running)
      for (const { reading } of results) yield* Fiber.join(reading)
      expect(reasonOf(yield* Effect.flip(first.send(note(9))))).toBe("Closed")
    }).pipe(Effect.provide(InMemory.layer))
  )
})
