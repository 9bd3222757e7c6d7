/**
 * One simulated life of a client and a server: random calls over a link that fails in random ways, and what must be true
 * afterwards. Everything follows from the seed.
 */
import { Effect, Exit, Fiber, Logger, Option, Scope, Stream } from "effect"
import { HttpClient } from "effect/http"
// What is imported on first use has to be there before time is virtual: the engines that check answers to questions.
import "ajv"
import "ajv/dist/2020.js"
import { McpClient, type McpServer, StreamableHttp } from "../../src/index.ts"
import * as ServerPeer from "../../src/server/ServerPeer.ts"
import * as ServerRuntime from "../../src/server/ServerRuntime.ts"
import * as Simulation from "../../src/testing/Simulation.ts"
import { ClientTransport } from "../../src/transport/Transport.ts"
import { Add, Ask, AskTwice, Count, Grow, Ledger, make, Refuse, Refused, Slow } from "./subject.ts"

/** What a seed has decided. */
export interface Plan {
  readonly seed: number
  readonly transport: "stream" | "http"
  readonly revision: string
  readonly faults: Simulation.Faults
  readonly operations: number
}

/** What came of it. */
export interface Outcome {
  readonly plan: Plan
  /** What must not have happened. Empty when all is well. */
  readonly violations: ReadonlyArray<string>
  readonly opened: boolean
  readonly succeeded: number
  readonly failed: number
  readonly interrupted: number
}

const revisions = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const

const { gentle, none, rough } = Simulation

/** What goes wrong in a run: nothing, what may, one thing alone, or everything. */
const faults = [
  none,
  gentle,
  rough,
  { ...gentle, drop: 0.05 },
  { ...gentle, duplicate: 0.1 },
  { ...gentle, kill: 0.02 },
  { ...gentle, stall: 0.05, stallFor: Infinity },
  { ...rough, stallFor: 90_000, stall: 0.05 }
] as const

/** Decides what happens. */
export const planOf = (seed: number): Plan => {
  const dice = new Simulation.Dice(`plan ${seed}`)
  const transport = dice.pick<Plan["transport"]>(["stream", "http"])
  const all = revisions.filter((revision) => transport === "stream" || revision !== "2024-11-05")
  return {
    seed,
    transport,
    revision: all[dice.below(all.length)] ?? revisions[0],
    faults: dice.pick(faults),
    operations: 3 + dice.below(10)
  }
}

/** Whether everything arrives, once, sooner or later. */
const isReliable = ({ drop, duplicate, kill, stall, stallFor }: Simulation.Faults): boolean =>
  drop === 0 && duplicate === 0 && kill === 0 && (stall === 0 || stallFor < Infinity)

/** Time after which whatever was cut off has run into its limit, questions of the server included. */
const longAfter = "16 minutes"

type Operation = (client: McpClient.Client, index: number) => Effect.Effect<string | undefined, unknown>

/** Gives what is wrong with a value; nothing when it is as expected. */
const expected = <A>(what: string, actual: A, wanted: A): string | undefined =>
  JSON.stringify(actual) === JSON.stringify(wanted)
    ? undefined
    : `${what} gave ${JSON.stringify(actual)} and not ${JSON.stringify(wanted)}`

const answers = (asked: string): ReadonlyArray<string> => [`re: ${asked}`, "Decline", "Cancel"]

const operation = (dice: Simulation.Dice, faults: Simulation.Faults): Operation => {
  const options: McpClient.RequestOptions = {
    ...(dice.chance(0.3) && { timeout: 50 + dice.below(3000) }),
    ...(dice.chance(0.2) && { extendOnProgress: false })
  }
  switch (dice.below(12)) {
    case 0:
    case 1:
      return (client, index) =>
        Effect.map(client.call(Add, { a: index, b: 1000 }, options), ({ sum }) => expected("add", sum, index + 1000))
    case 2:
      return (client, index) =>
        Effect.matchEffect(client.call(Refuse, { code: index }, options), {
          onSuccess: () => Effect.succeed("refuse has succeeded"),
          onFailure: (error) =>
            error instanceof Refused ? Effect.succeed(expected("refuse", error.code, index)) : Effect.fail(error)
        })
    case 3:
    case 4: {
      const ms = dice.below(4000)
      return (client, index) =>
        Effect.map(client.call(Slow, { ms, tag: `slow ${index}` }, options), (tag) =>
          expected("slow", tag, `slow ${index}`)
        )
    }
    case 5: {
      const [to, ms] = [1 + dice.below(5), dice.below(600)]
      return (client) => {
        const seen: Array<number> = []
        const onProgress = ({ progress }: McpClient.Progress) => void seen.push(progress)
        return Effect.map(client.call(Count, { to, ms }, { ...options, onProgress }), (counted) =>
          faults.duplicate === 0 && seen.some((progress, index) => progress <= (seen[index - 1] ?? 0))
            ? `progress went back: ${seen.join(" ")}`
            : expected("count", counted, to)
        )
      }
    }
    case 6:
    case 7:
      return (client, index) => {
        const question = `question ${index}`
        return Effect.map(client.call(Ask, { question }, options), (answer) =>
          answers(question).includes(answer) ? undefined : `ask gave ${answer} to ${question}`
        )
      }
    case 8:
      return (client, index) => {
        const question = `question ${index}`
        return Effect.map(client.call(AskTwice, { question }, options), (answer) => {
          const [first, second, ...rest] = answer.split(" between ")
          const isRight =
            rest.length === 0 &&
            answers(`${question}, first`).includes(first ?? "") &&
            answers(`${question}, second`).includes(second ?? "")
          return isRight ? undefined : `ask-twice gave ${answer} to ${question}`
        })
      }
    case 9:
      return (client) =>
        Effect.map(Stream.runCollect(client.listTools), (tools) => {
          const names = tools.map(({ name }) => name)
          return names.includes("add") && new Set(names).size === names.length ? undefined : `listed ${names.join(" ")}`
        })
    case 10:
      return (client, index) => Effect.as(client.call(Grow, { name: `grown-${index}` }, options), undefined)
    default: {
      const most = 1 + dice.below(3)
      const during = 500 + dice.below(4000)
      return (client) =>
        client
          .changes({ tools: true, uris: ["sim://ticks"] })
          .pipe(Stream.take(most), Stream.runDrain, Effect.timeoutOption(during), Effect.as(undefined))
    }
  }
}

/** Answers questions: soon, with a no, or so late that nobody can still wait. */
const elicitWith = (dice: Simulation.Dice, ledger: Ledger) => (request: { readonly message: string }) =>
  ledger.during(
    "elicit",
    Effect.gen(function* () {
      yield* Effect.sleep(dice.below(3000))
      const chance = dice.below(10)
      if (chance < 3) return { action: "decline" as const }
      if (chance < 5) return { action: "cancel" as const }
      if (chance === 5) yield* Effect.sleep("15 minutes")
      return { action: "accept" as const, content: { echo: `re: ${request.message}` } }
    })
  )

/** A server on one of the transports: what a client connects to, and what is under way on it. */
interface Served {
  readonly transport: ClientTransport["Service"]
  readonly underWay: () => ReadonlyArray<string>
}

const serveStream = (server: McpServer.McpServer<never>, plan: Plan): Effect.Effect<Served, never, Scope.Scope> =>
  Effect.gen(function* () {
    const simulation = yield* Simulation.make(plan)
    const runtime = yield* ServerRuntime.make(server)
    const peers = new Set<ServerPeer.ServerPeer<never>>()
    const serve = simulation.server.run((connection) =>
      Effect.scoped(
        Effect.gen(function* () {
          const peer = yield* ServerPeer.open(runtime, connection)
          peers.add(peer)
          yield* Effect.ensuring(
            Effect.ignore(connection.run((message) => peer.receive(message, connection))),
            Effect.sync(() => peers.delete(peer))
          )
        })
      )
    )
    yield* Effect.forkScoped(serve)
    return {
      transport: simulation.client,
      underWay: () =>
        [...peers].flatMap(({ inFlight, waiting }) =>
          inFlight + waiting === 0 ? [] : [`${inFlight} requests and ${waiting} questions under way`]
        )
    }
  })

const serveHttp = (server: McpServer.McpServer<never>, plan: Plan): Effect.Effect<Served, never, Scope.Scope> =>
  Effect.gen(function* () {
    const http = yield* StreamableHttp.make(server)
    const layer = StreamableHttp.layerClient({ url: "http://localhost/mcp" })
    const transport = yield* ClientTransport.pipe(
      Effect.provide(layer),
      Effect.provideService(HttpClient.HttpClient, Simulation.httpClient(http, plan))
    )
    return { transport, underWay: () => [] }
  })

/** Plays a plan and says what was wrong with it. */
export const play = (plan: Plan): Effect.Effect<Outcome> =>
  Effect.suspend(() => {
    const dice = new Simulation.Dice(`scenario ${plan.seed}`)
    const ledger = new Ledger()
    const violations: Array<string> = []
    const counts = { succeeded: 0, failed: 0, interrupted: 0 }
    let opened = false

    const settled = (index: number, ends: Array<number>) => (exit: Exit.Exit<string | undefined, unknown>) =>
      Effect.sync(() => {
        ends[index] = (ends[index] ?? 0) + 1
        if (Exit.isSuccess(exit)) {
          counts.succeeded++
          if (exit.value !== undefined) violations.push(exit.value)
        } else if (Exit.hasInterrupts(exit)) counts.interrupted++
        else counts.failed++
      })

    const converse = (client: McpClient.Client) =>
      Effect.gen(function* () {
        const ends: Array<number> = []
        const fibers: Array<Fiber.Fiber<unknown, unknown>> = []
        for (let index = 0; index < plan.operations; index++) {
          const call = operation(dice, plan.faults)(client, index).pipe(Effect.onExit(settled(index, ends)))
          const fiber = yield* Effect.forkChild(Effect.exit(call), { startImmediately: true })
          fibers.push(fiber)
          if (dice.chance(0.25)) {
            yield* Effect.forkChild(Effect.delay(Fiber.interrupt(fiber), dice.below(3000)))
          }
          yield* Effect.sleep(dice.below(400))
        }
        yield* Fiber.awaitAll(fibers)
        for (let index = 0; index < plan.operations; index++) {
          if (ends[index] !== 1) violations.push(`operation ${index} has settled ${ends[index] ?? 0} times`)
        }
      })

    const life = Effect.gen(function* () {
      const server = yield* make(ledger)
      const serverScope = yield* Scope.make()
      const clientScope = yield* Scope.make()
      const serve = plan.transport === "stream" ? serveStream : serveHttp
      const served = yield* Scope.provide(serve(server, plan), serverScope)
      const client = yield* McpClient.make({
        name: "simulated",
        version: "1.0.0",
        revisions: [plan.revision],
        handlers: { elicit: elicitWith(dice, ledger) }
      }).pipe(Effect.provideService(ClientTransport, served.transport), Scope.provide(clientScope), Effect.option)
      if (Option.isSome(client)) {
        opened = true
        yield* converse(client.value)
      } else if (isReliable(plan.faults)) {
        violations.push("the client could not be opened")
      }
      if (isReliable(plan.faults)) {
        yield* Effect.sleep(longAfter)
        violations.push(...served.underWay(), ...ledger.open)
      }
      yield* Scope.close(clientScope, Exit.void)
      yield* Effect.sleep("1 minute")
      if (isReliable(plan.faults)) violations.push(...served.underWay(), ...ledger.open)
      yield* Scope.close(serverScope, Exit.void)
      violations.push(...ledger.open.map((open) => `still open at the end: ${open}`))
    })

    const logged: Array<string> = []
    const logger = Logger.make(({ cause, logLevel, message }) => {
      if (logLevel === "Error" || logLevel === "Fatal") logged.push(`${String(message)} ${String(cause)}`)
    })
    return Effect.map(
      Simulation.run(Effect.provide(life, Logger.layer([logger]))),
      ({ defects, exit, fibers, sleepers }) => {
        if (exit === undefined) violations.push("something waits for ever")
        else if (Exit.isFailure(exit)) violations.push(`the scenario failed: ${String(exit.cause)}`)
        if (fibers !== 0) violations.push(`${fibers} fibers are left`)
        if (sleepers !== 0) violations.push(`${sleepers} sleepers are left`)
        violations.push(...defects.map((defect) => `defect: ${defect}`), ...logged.map((text) => `logged: ${text}`))
        return { plan, violations, opened, ...counts }
      }
    )
  })
