/**
 * The law suite, held against transports that break one law each.
 */
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Queue } from "effect"
import { TestClock } from "effect/testing"
import { InMemory, type McpError, type Protocol, Transport } from "mcp-effect"
import { TransportLaws } from "mcp-effect/testing"

type Incoming = Protocol.JsonRpc.Incoming
type Outgoing = Protocol.JsonRpc.Outgoing

/** The in-memory transport, with a client's connection that was tampered with. */
const faulty = (tamper: (connection: Transport.Connection) => Transport.Connection) =>
  Layer.effect(
    Transport.ClientTransport,
    Effect.map(Transport.ClientTransport, ({ connect }) => ({ connect: Effect.map(connect, tamper) }))
  ).pipe(Layer.provideMerge(InMemory.layer))

const sending = (
  change: (
    send: (message: Outgoing) => Effect.Effect<void, McpError>
  ) => (message: Outgoing) => Effect.Effect<void, McpError>
) => faulty(({ run, send }) => ({ run, send: change(send) }))

/** One turn of the event loop. */
const turn = Effect.callback<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

const verdict = (law: string, layer: Layer.Layer<Transport.ClientTransport | Transport.ServerTransport>) => {
  const { check } = TransportLaws.all.find(({ name }) => name === law)!
  return Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(Effect.exit(Effect.provide(check, layer)))
    // In memory nothing takes time but what is lost, which a law waits for.
    while (fiber.pollUnsafe() === undefined) {
      yield* TestClock.adjust("50 millis")
      yield* turn
    }
    return yield* Fiber.join(fiber)
  })
}

const isBroken = (
  law: string,
  layer: Layer.Layer<Transport.ClientTransport | Transport.ServerTransport>,
  words: RegExp
) =>
  Effect.map(Effect.flip(Effect.flatten(verdict(law, layer))), (error) => {
    expect(error).toBeInstanceOf(TransportLaws.LawBroken)
    expect(error.message).toMatch(words)
  })

const text = (message: Outgoing) => JSON.stringify(message)

describe("TransportLaws", () => {
  it.effect("catches two messages that change places", () => {
    let held: Outgoing | undefined
    const swap = sending((send) => (message) => {
      if (text(message).includes(`"index":7,`)) {
        held = message
        return Effect.void
      }
      if (held === undefined) return send(message)
      const before = held
      held = undefined
      return Effect.andThen(send(message), send(before))
    })
    return isBroken("order", swap, /Expected message 7, got 8/)
  })

  it.effect("catches a message that is lost", () =>
    isBroken(
      "order",
      sending((send) => (message) => (text(message).includes(`"index":299,`) ? Effect.void : send(message))),
      /in vain: a message arrives/
    )
  )

  it.effect("catches text that is changed", () =>
    isBroken(
      "integrity",
      sending((send) => (message) => send(JSON.parse(text(message).replaceAll("\u2028", "\\n")))),
      /^Text was changed on the way: "line/
    )
  )

  it.effect("catches ids that change their type", () =>
    isBroken(
      "requests",
      sending((send) => (message) => send(JSON.parse(text(message).replace(`"id":0`, `"id":"0"`)))),
      /lost its id 0/
    )
  )

  it.effect("catches a sender that never waits", () =>
    isBroken(
      "backpressure",
      faulty((connection) => {
        const unbounded: Array<Outgoing> = []
        const drain: Effect.Effect<void, McpError> = Effect.suspend(() => {
          const next = unbounded.shift()
          return next === undefined ? Effect.void : Effect.andThen(connection.send(next), drain)
        })
        return {
          run: connection.run,
          send: (message) =>
            Effect.sync(() => {
              if (unbounded.push(message) === 1) Effect.runFork(Effect.ignore(drain))
            })
        }
      }),
      /blocks of 64 KiB were taken/
    )
  )

  it.effect("catches an end that is not told", () =>
    isBroken(
      "server hangs up",
      faulty(({ run, send }) => ({
        send,
        run: (onMessage: (message: Incoming) => Effect.Effect<void>) => Effect.andThen(run(onMessage), Effect.never)
      })),
      /in vain: run ends/
    )
  )

  it.effect("catches connections that hear each other", () => {
    const connections: Array<Transport.Connection> = []
    return isBroken(
      "many connections",
      faulty((connection) => {
        connections.push(connection)
        return { run: connection.run, send: (message) => (connections[0] as Transport.Connection).send(message) }
      }),
      /in vain|Expected message|Not the message/
    )
  })

  it("registers a test for every law, and skips what is left out, with the reason", () => {
    const seen: Array<string> = []
    const test = Object.assign((name: string) => void seen.push(name), {
      skip: (name: string) => void seen.push(`skip ${name}`)
    })
    const describe = (name: string, body: () => void) => {
      seen.push(name)
      body()
    }
    TransportLaws.suite({ describe, test }, "mine", InMemory.layer, {
      omit: { order: "it is a bag" },
      raw: Effect.succeed(() => Effect.void)
    })
    expect(seen).toContain("The laws of transports: mine")
    expect(seen).toContain("skip order (left out: it is a bag)")
    expect(seen).toContain("malformed input")
    expect(seen).toHaveLength(TransportLaws.all.length + 2)
  })

  it.effect("a server that accepts nobody breaks every law", () =>
    Effect.gen(function* () {
      const dialled = yield* Queue.unbounded<void>()
      const deaf = Layer.succeedContext(
        Context.make(Transport.ServerTransport, { run: () => Effect.never }).pipe(
          Context.add(Transport.ClientTransport, {
            connect: Effect.as(Queue.offer(dialled, undefined), { send: () => Effect.void, run: () => Effect.never })
          })
        )
      )
      yield* isBroken("order", deaf, /the server gets the connection/)
      expect(yield* Queue.size(dialled)).toBe(1)
    })
  )
})
