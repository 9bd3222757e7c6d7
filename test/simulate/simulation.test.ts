/**
 * Simulated lives of a client and a server, and the simulation itself.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Queue, Stream } from "effect"
import { TestClock } from "effect/testing"
import { McpClient, McpServer, Tool } from "mcp-effect"
import { Simulation, TransportLaws } from "mcp-effect/testing"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import type { ClientTransport, Connection, ServerTransport } from "../../src/transport/Transport.ts"
import { planOf, play } from "./scenario.ts"

describe("whatever goes wrong", () => {
  const seeds = 200
  const parts = 8

  for (let part = 0; part < parts; part++) {
    const first = (part * seeds) / parts
    it.live(
      `every call settles once and nothing is left over: seeds from ${first}`,
      () =>
        Effect.gen(function* () {
          let calls = 0
          for (let seed = first; seed < first + seeds / parts; seed++) {
            const outcome = yield* play(planOf(seed))
            calls += outcome.succeeded + outcome.failed + outcome.interrupted
            expect(outcome.violations, `again: npm run simulate -- --from ${seed} --seeds 1`).toEqual([])
          }
          expect(calls).toBeGreaterThan(0)
        }),
      60_000
    )
  }

  it.live("takes the same course for the same seed", () =>
    Effect.gen(function* () {
      for (const seed of [2, 3, 5, 8, 13]) expect(yield* play(planOf(seed))).toEqual(yield* play(planOf(seed)))
    })
  )
})

describe("virtual time", () => {
  it.live("passes at once, in order", () =>
    Effect.gen(function* () {
      const order: Array<string> = []
      const note = (what: string, after: number) =>
        Effect.delay(
          Effect.sync(() => void order.push(what)),
          after
        )
      const { exit, fibers, took } = yield* Simulation.run(
        Effect.all([note("third", 3_600_000), note("first", 1), note("second", 1000), note("zeroth", 0)], {
          concurrency: "unbounded"
        })
      )
      expect(order).toEqual(["zeroth", "first", "second", "third"])
      expect({ success: exit !== undefined && Exit.isSuccess(exit), took, fibers }).toEqual({
        success: true,
        took: 3_600_000,
        fibers: 0
      })
    })
  )

  it.live("ends when nothing can happen any more", () =>
    Effect.gen(function* () {
      expect(yield* Simulation.run(Effect.never)).toMatchObject({ exit: undefined, took: 0, fibers: 0 })
      const forever = Effect.forever(Effect.sleep("1 hour"))
      expect((yield* Simulation.run(forever, { maximum: "10 hours" })).exit).toBeUndefined()
    })
  )

  it.live("tells what is left over, and who died unseen", () =>
    Effect.gen(function* () {
      const careless = Effect.andThen(
        Effect.forkDetach(Effect.sleep("1 day")),
        Effect.andThen(Effect.forkDetach(Effect.die(new Error("unseen"))), Effect.sleep(1))
      )
      const { defects, fibers, sleepers } = yield* Simulation.run(careless)
      expect({ fibers, sleepers }).toEqual({ fibers: 1, sleepers: 1 })
      expect(defects).toEqual([expect.stringContaining("unseen")])
    })
  )

  it.live("waits for what a promise brings", () =>
    Effect.gen(function* () {
      const { exit } = yield* Simulation.run(Effect.promise(() => Promise.resolve(42)))
      expect(exit).toEqual(Exit.succeed(42))
    })
  )
})

/** Sends so many messages one way and gives what arrives, until it has been quiet for a minute. */
const arriving = (faults: Simulation.Faults, count: number) =>
  Effect.gen(function* () {
    const { client, server } = yield* Simulation.make({ seed: 1, faults })
    const arrived: Array<unknown> = []
    const serve = server.run((connection) =>
      Effect.ignore(
        connection.run((message) =>
          Effect.sync(() => {
            arrived.push("method" in message ? message.params?.text : message)
          })
        )
      )
    )
    yield* Effect.forkScoped(serve)
    const connection = yield* client.connect
    for (let index = 0; index < count; index++) {
      yield* Effect.ignore(connection.send(JsonRpc.notification("n", { text: `${index} \u00e4\u4e2d\u{1f600}` })))
    }
    yield* Effect.sleep("1 minute")
    return arrived
  }).pipe(Effect.scoped)

const texts = (count: number) => Array.from({ length: count }, (_, index) => `${index} \u00e4\u4e2d\u{1f600}`)

const resultOf = <A, E>(program: Effect.Effect<A, E>) =>
  Effect.map(Simulation.run(program), ({ defects, exit, fibers, sleepers }) => {
    expect({ defects, fibers, sleepers }).toEqual({ defects: [], fibers: 0, sleepers: 0 })
    if (exit === undefined || Exit.isFailure(exit)) throw new Error(`No result: ${String(exit)}`)
    return exit.value
  })

describe("a simulated link", () => {
  const { gentle, none } = Simulation

  it.live("cuts and joins text, and keeps its order", () =>
    Effect.gen(function* () {
      expect(yield* resultOf(arriving(none, 50))).toEqual(texts(50))
      expect(yield* resultOf(arriving({ ...gentle, split: 0.9 }, 50))).toEqual(texts(50))
    })
  )

  it.live("loses messages, and doubles them, as often as it is told", () =>
    Effect.gen(function* () {
      expect(yield* resultOf(arriving({ ...none, drop: 1 }, 50))).toEqual([])
      const fewer = yield* resultOf(arriving({ ...none, drop: 0.5 }, 50))
      expect(fewer.length).toBeGreaterThan(5)
      expect(fewer.length).toBeLessThan(45)
      expect(yield* resultOf(arriving({ ...none, duplicate: 1 }, 50))).toEqual(
        texts(50).flatMap((text) => [text, text])
      )
    })
  )

  it.live("stalls for a while, or for good", () =>
    Effect.gen(function* () {
      expect(yield* resultOf(arriving({ ...none, stall: 1, stallFor: 1000 }, 5))).toEqual(texts(5))
      expect(yield* resultOf(arriving({ ...none, stall: 1, stallFor: Infinity }, 5))).toEqual([])
    })
  )

  it.live("breaks in both directions, by chance or when it is told", () =>
    Effect.gen(function* () {
      const broken = (kill: (simulation: Simulation.Simulation) => Effect.Effect<void>, faults: Simulation.Faults) =>
        Effect.gen(function* () {
          const simulation = yield* Simulation.make({ seed: 1, faults })
          const ends: Array<string> = []
          const note = (who: string, connection: Connection) =>
            Effect.tapError(
              connection.run(() => Effect.void),
              () => Effect.sync(() => ends.push(who))
            )
          const serve = simulation.server.run((connection) => Effect.ignore(note("server", connection)))
          yield* Effect.forkScoped(serve)
          const connection = yield* simulation.client.connect
          const reading = yield* Effect.forkScoped(Effect.exit(note("client", connection)))
          yield* Effect.ignore(connection.send(JsonRpc.notification("n")))
          yield* kill(simulation)
          yield* Fiber.await(reading)
          yield* Effect.sleep(1)
          const sent = yield* Effect.result(connection.send(JsonRpc.notification("n")))
          return [...ends.toSorted(), sent._tag]
        }).pipe(Effect.scoped)
      expect(yield* resultOf(broken(({ kill }) => kill, none))).toEqual(["client", "server", "Failure"])
      expect(yield* resultOf(broken(() => Effect.void, { ...none, kill: 1 }))).toEqual(["client", "server", "Failure"])
    })
  )

  it.live("holds back who sends to a peer that does not read", () =>
    Effect.gen(function* () {
      const sent = yield* resultOf(
        Effect.gen(function* () {
          const { client } = yield* Simulation.make({ seed: 1, faults: none })
          const connection = yield* client.connect
          const done = yield* Queue.unbounded<number>()
          const text = "x".repeat(1000)
          const send = Stream.runForEach(Stream.range(1, 1000), (index) =>
            Effect.andThen(connection.send(JsonRpc.notification("n", { text })), Queue.offer(done, index))
          )
          yield* Effect.forkScoped(send)
          yield* Effect.sleep("1 hour")
          return yield* Queue.size(done)
        }).pipe(Effect.scoped)
      )
      expect(sent).toBeLessThan(20)
    })
  )

  it.effect("keeps the time of TestClock", () =>
    Effect.gen(function* () {
      const Late = Tool.make("late")
      const server = McpServer.make({
        name: "late",
        version: "1.0.0",
        tools: [Tool.handle(Late, () => Effect.as(Effect.sleep("1 minute"), "late"))]
      })
      const ends = Layer.merge(McpServer.layer(server), McpClient.layer({ name: "test", version: "1.0.0" }))
      const call = McpClient.McpClient.pipe(
        Effect.flatMap((client) => client.callTool("late", {}, { timeout: "10 minutes" })),
        Effect.provide(ends.pipe(Layer.provide(Simulation.layer({ seed: 1 }))))
      )
      const fiber = yield* Effect.forkChild(call)
      yield* TestClock.adjust("59 seconds")
      expect(fiber.pollUnsafe()).toBeUndefined()
      yield* TestClock.adjust("30 seconds")
      expect(yield* Fiber.join(fiber)).toMatchObject({ content: [{ text: "late" }] })
    })
  )
})

TransportLaws.suite(
  { describe, test: it.live },
  "simulated, cut anywhere",
  Simulation.layer({ seed: 1, faults: { ...Simulation.none, split: 0.5 } })
)

it("is typed as both transports", () => {
  const layer: Layer.Layer<ClientTransport | ServerTransport> = Simulation.layer({ seed: "a name" })
  expect(layer).toBeDefined()
})
