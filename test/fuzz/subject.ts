/**
 * The server that is fuzzed: a little of everything, and a logger that remembers what must never be logged.
 */
import { Cause, Effect, type Layer, Logger, Schema, Stream } from "effect"
import * as fc from "fast-check"
import { McpServer, Peer, Progress, Prompt, PromptMessage, Resource, Tool } from "../../src/index.ts"
import * as Fuzz from "../../src/testing/Fuzz.ts"

/** Every revision, newest first. */
export const versions = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const

/** The generators under test, of moderate size: one server answers hundreds of thousands of messages. */
export const fuzz = Fuzz.make(fc, { depth: 10_000, length: 5000 })

export class TooMuch extends Schema.TaggedError<TooMuch>()("TooMuch", { most: Schema.Number }) {}

export const Add = Tool.make("add", {
  input: Schema.Struct({ a: Schema.Number, b: Schema.Number }),
  output: Schema.Struct({ sum: Schema.Number })
})

/** A tool with every kind of argument. */
export const Order = Tool.make("order", {
  input: Schema.Struct({
    name: Schema.String.check(Schema.isMinLength(1)),
    amount: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 })),
    on: Schema.optionalKey(Schema.DateFromString),
    size: Schema.Literals(["s", "m", "l"]),
    tags: Schema.optionalKey(Schema.Array(Schema.String)),
    more: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
    how: Schema.optional(Schema.Union([Schema.Struct({ by: Schema.Literal("post") }), Schema.NullOr(Schema.Boolean)]))
  }),
  error: TooMuch
})

export const Echo = Tool.make("echo", { input: Schema.Struct({ value: Schema.Unknown }), output: Schema.Unknown })

const tools = [
  Tool.handle(Add, ({ a, b }) => Effect.succeed({ sum: a + b })),
  Tool.handle(Order, ({ amount, name }) =>
    amount > 500 ? Effect.fail(new TooMuch({ most: 500 })) : Effect.succeed(`${amount} ${name}`)
  ),
  Tool.handle(Echo, ({ value }) => Effect.succeed(value)),
  Tool.handle(Tool.make("count"), () => Stream.make(Progress.update({ progress: 1, total: 2 }), "counted")),
  Tool.handle(Tool.make("chatty"), () => Effect.as(Effect.logInfo("a fact", { of: "life" }), "said")),
  Tool.handle(Tool.make("ask"), () =>
    Effect.map(
      Peer.elicit({ key: "who", message: "Who?", schema: Schema.Struct({ name: Schema.String }) }),
      (answer) => (answer._tag === "Accept" ? answer.value.name : answer._tag)
    )
  )
]

const resources = [
  Resource.make("config://app", { name: "config", changes: Stream.never }, Effect.succeed("{}")),
  Resource.template(
    "file:///{+path}",
    { name: "files", complete: { path: () => Effect.succeed(["a", "b"]) } },
    ({ path }) => Effect.succeed(path)
  ),
  Resource.template("db://{table}/{id}{?fields,order*}", { name: "rows" }, ({ table }) => Effect.succeed(table))
]

const prompts = [
  Prompt.make(
    "review",
    {
      arguments: Schema.Struct({ code: Schema.String, language: Schema.optionalKey(Schema.String) }),
      complete: { language: () => Effect.succeed(["perl"]) }
    },
    ({ code }) => Effect.succeed([PromptMessage.user(code)])
  )
]

export const subject = McpServer.make({ name: "subject", version: "1.0.0", tools, resources, prompts, pageSize: 2 })

/** Defects that reached the log since the last look. */
export class DefectLog {
  #found: Array<string> = []

  /** What there is, to be looked at once. */
  take(): ReadonlyArray<string> {
    const found = this.#found
    this.#found = []
    return found
  }

  /** Nothing is written; errors and defects are remembered. */
  readonly layer: Layer.Layer<never> = Logger.layer([
    Logger.make(({ cause, logLevel, message }) => {
      const causes = [cause, ...(Array.isArray(message) ? message : [message]).filter(Cause.isCause)]
      const defect = causes.find((found) => Cause.hasDies(found))
      if (defect !== undefined || logLevel === "Error" || logLevel === "Fatal") {
        this.#found.push(`${String(message)} ${defect === undefined ? "" : Cause.pretty(defect)}`)
      }
    })
  ])
}
