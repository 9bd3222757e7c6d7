/**
 * The server of the simulation: tools of every temper, and a ledger of what began and what ended.
 */
import { Effect, Schema, Stream } from "effect"
import { Catalog, McpServer, Peer, Progress, Prompt, PromptMessage, Resource, Step, Tool } from "../../src/index.ts"

/** What began must end, and what was opened be released. */
export class Ledger {
  readonly #open = new Map<string, number>()
  /** How much was ever begun. */
  begun = 0

  readonly #change = (what: string, by: number) =>
    Effect.sync(() => {
      if (by > 0) this.begun++
      this.#open.set(what, (this.#open.get(what) ?? 0) + by)
    })

  /** Runs work that is counted while it lasts, with a resource that it must not leave behind. */
  during<A, E, R>(what: string, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.acquireUseRelease(
      this.#change(what, 1),
      () => work,
      () => this.#change(what, -1)
    )
  }

  /** A stream that is counted while it is run. */
  running<A, E, R>(what: string, stream: Stream.Stream<A, E, R>): Stream.Stream<A, E, R> {
    return Stream.unwrap(
      Effect.as(
        Effect.acquireRelease(this.#change(what, 1), () => this.#change(what, -1)),
        stream
      )
    )
  }

  /** What is open, with how often. */
  get open(): ReadonlyArray<string> {
    return [...this.#open].filter(([, count]) => count !== 0).map(([what, count]) => `${what}: ${count}`)
  }
}

export class Refused extends Schema.TaggedError<Refused>()("Refused", { code: Schema.Number }) {}

export const Add = Tool.make("add", {
  input: Schema.Struct({ a: Schema.Number, b: Schema.Number }),
  output: Schema.Struct({ sum: Schema.Number })
})
export const Refuse = Tool.make("refuse", { input: Schema.Struct({ code: Schema.Number }), error: Refused })
export const Slow = Tool.make("slow", {
  input: Schema.Struct({ ms: Schema.Number, tag: Schema.String }),
  output: Schema.String
})
export const Count = Tool.make("count", {
  input: Schema.Struct({ to: Schema.Number, ms: Schema.Number }),
  output: Schema.Number
})
const Question = Schema.Struct({ question: Schema.String })
export const Ask = Tool.make("ask", { input: Question, output: Schema.String })
export const AskTwice = Tool.make("ask-twice", { input: Question, output: Schema.String })
export const Grow = Tool.make("grow", { input: Schema.Struct({ name: Schema.String }) })

const Form = Schema.Struct({ echo: Schema.String })

const ask = (message: string) =>
  Effect.map(Peer.elicit({ message, schema: Form }), (answer) =>
    answer._tag === "Accept" ? answer.value.echo : answer._tag
  )

/** Makes the server. */
export const make = (ledger: Ledger) =>
  Effect.gen(function* () {
    const more = yield* Catalog.make<Tool.Handled<never>>()
    const tools = [
      Tool.handle(Add, ({ a, b }) => ledger.during("add", Effect.succeed({ sum: a + b }))),
      Tool.handle(Refuse, ({ code }) => ledger.during("refuse", Effect.fail(new Refused({ code })))),
      Tool.handle(Slow, ({ ms, tag }) => ledger.during("slow", Effect.as(Effect.sleep(ms), tag))),
      Tool.handle(Count, ({ ms, to }) =>
        ledger.during(
          "count",
          Effect.gen(function* () {
            for (let progress = 1; progress <= to; progress++) {
              yield* Effect.sleep(ms)
              yield* Progress.report({ progress, total: to })
              yield* Effect.logInfo("counted", { progress })
            }
            return to
          })
        )
      ),
      Tool.handle(Ask, ({ question }) => ledger.during("ask", ask(question))),
      Tool.handle(AskTwice, ({ question }) =>
        ledger.during(
          "ask-twice",
          Effect.gen(function* () {
            const first = yield* ask(`${question}, first`)
            const step = yield* Step.run("step", Schema.String, Effect.succeed("between"))
            const second = yield* ask(`${question}, second`)
            return `${first} ${step} ${second}`
          })
        )
      ),
      Tool.handle(Grow, ({ name }) =>
        ledger.during("grow", Effect.as(more.set(Tool.handle(Tool.make(name), () => Effect.succeed(name))), name))
      )
    ]
    yield* more.set(...tools)
    const server = McpServer.make({
      name: "subject",
      version: "1.0.0",
      pageSize: 3,
      tools: more,
      resources: [
        Resource.make(
          "sim://ticks",
          { name: "ticks", changes: ledger.running("ticks", Stream.tick("700 millis")) },
          ledger.during("read", Effect.as(Effect.sleep(5), "tick"))
        )
      ],
      prompts: [
        Prompt.make("greet", { arguments: Schema.Struct({ name: Schema.String }) }, ({ name }) =>
          ledger.during("prompt", Effect.succeed([PromptMessage.user(name)]))
        )
      ]
    })
    return server
  })
