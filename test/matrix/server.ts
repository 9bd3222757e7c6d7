/**
 * The server of the matrix: one value, whatever the revision and the transport of its client.
 */
import { Deferred, Effect, Schema, Stream, SubscriptionRef } from "effect"
import {
  Catalog,
  Content,
  McpError,
  McpServer,
  Peer,
  Progress,
  Prompt,
  PromptMessage,
  type Protocol,
  Resource,
  Tool
} from "mcp-effect"
import * as Tools from "./tools.ts"

/** How many entries a list gives at a time. */
export const pageSize = 5

/** The resource that {@link Tools.Increase} changes. */
export const counterUri = "counter://value"

const question: Protocol.CreateMessageRequestParams = {
  messages: [{ role: "user", content: { type: "text", text: "What is six times seven?" } }],
  maxTokens: 10
}

/** What the client can't do, the tools that ask it declare as their failure; anything else is an error as it is. */
const orUnsupported = <A, R>(
  asking: Effect.Effect<A, McpError, R>
): Effect.Effect<A, McpError | Protocol.Unsupported, R> =>
  Effect.mapError(asking, (error) => (error.reason._tag === "Unsupported" ? error.reason : error))

const textOf = ({ content }: Protocol.CreateMessageResult): string =>
  [content]
    .flat()
    .map((block) => (block.type === "text" ? block.text : block.type))
    .join(" ")

const outcomeOf = <A>(answer: Peer.Answer<A>, accepted: (value: A) => string): string =>
  answer._tag === "Accept" ? accepted(answer.value) : answer._tag

const words =
  (...all: ReadonlyArray<string>) =>
  (typed: string) =>
    Effect.succeed(all.filter((word) => word.startsWith(typed)))

/** Makes the server, with a state of its own. */
export const makeServer = Effect.gen(function* () {
  const stopped = yield* Deferred.make<void>()
  const counter = yield* SubscriptionRef.make(0)
  const tools: Catalog.Mutable<Tool.Handled<never>> = yield* Catalog.make<Tool.Handled<never>>()
  yield* tools.set(
    Tool.handle(Tools.Add, ({ a, b }) => Effect.succeed({ sum: a + b })),
    Tool.handle(Tools.Show, ({ text }) =>
      Effect.succeed([
        Content.text(text),
        Content.image(new Uint8Array([1]), "image/png"),
        Content.audio(new Uint8Array([2]), "audio/wav"),
        { type: "resource_link", name: "counter", uri: counterUri } as const
      ])
    ),
    Tool.handle(Tools.Count, () =>
      Stream.make(
        Progress.update({ progress: 1, total: 2, message: "one" }),
        Progress.update({ progress: 2, total: 2, message: "two" }),
        "counted"
      )
    ),
    Tool.handle(Tools.Chat, () =>
      Effect.gen(function* () {
        yield* Effect.logDebug("a detail")
        yield* Effect.logInfo("a fact")
        yield* Effect.logWarning("a hint")
        yield* Effect.logError("a problem")
        return "said"
      })
    ),
    Tool.handle(Tools.Wait, () =>
      Progress.report({ progress: 1 }).pipe(
        Effect.andThen(Effect.never),
        Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
      )
    ),
    Tool.handle(Tools.Stopped, () => Effect.as(Deferred.await(stopped), "stopped")),
    Tool.handle(Tools.Increase, () =>
      Effect.map(
        SubscriptionRef.updateAndGet(counter, (count) => count + 1),
        String
      )
    ),
    Tool.handle(Tools.Grow, () =>
      Effect.as(tools.set(Tool.handle(Tool.make("grown"), () => Effect.succeed("tall"))), "grown")
    ),
    Tool.handle(Tools.AskName, () =>
      Peer.elicit({ message: "Who are you?", schema: Schema.Struct({ name: Schema.String }) }).pipe(
        Effect.map((answer) => outcomeOf(answer, ({ name }) => `Hello ${name}`)),
        orUnsupported
      )
    ),
    Tool.handle(Tools.AskPage, () =>
      Peer.elicitUrl({ message: "Please pay", url: "https://example.com/pay" }).pipe(
        Effect.map((answer) => outcomeOf(answer, () => "opened")),
        orUnsupported
      )
    ),
    Tool.handle(Tools.Think, () => Peer.sample(question).pipe(Effect.map(textOf), orUnsupported)),
    Tool.handle(Tools.ThinkWithTools, () =>
      Peer.sample({ ...question, tools: [{ name: "multiply", inputSchema: { type: "object" } }] }).pipe(
        Effect.map(textOf),
        orUnsupported
      )
    ),
    Tool.handle(Tools.Where, () =>
      Peer.roots().pipe(
        Effect.map((roots) => roots.map(({ uri }) => uri).join(" ")),
        orUnsupported
      )
    ),
    Tool.handle(Tools.Withdraw, ({ amount }) => Effect.fail(new Tools.Overdrawn({ missing: amount - 10 }))),
    Tool.handle(Tools.Refuse, () => Effect.fail(McpError.protocol(-31000, "Not today", { until: "tomorrow" }))),
    Tool.handle(Tools.Break, () => Effect.die(new Error("password=hunter2")))
  )
  return McpServer.make({
    name: "matrix",
    version: "1.0.0",
    title: "Matrix",
    instructions: "Be kind",
    pageSize,
    tools,
    resources: [
      Resource.make(
        counterUri,
        { name: "counter", title: "Counter", changes: Stream.drop(SubscriptionRef.changes(counter), 1) },
        Effect.map(SubscriptionRef.get(counter), String)
      ),
      Resource.template(
        "user://{id}/{+path}",
        {
          name: "users",
          complete: {
            id: words("ada", "alan", "grace"),
            path: (typed: string, context: { readonly arguments: { readonly [name: string]: string } }) =>
              Effect.succeed([`${context.arguments.id ?? "nobody"}:${typed}`])
          }
        },
        ({ id, path }) =>
          id === "nobody"
            ? Effect.fail(new Resource.NotFound({ uri: `user://${id}/${path}` }))
            : Effect.succeed(`${id} ${path}`)
      )
    ],
    prompts: [
      Prompt.make(
        "review",
        {
          title: "Review",
          arguments: Schema.Struct({ code: Schema.String, language: Schema.optionalKey(Schema.String) }),
          complete: { language: words("perl", "python", "typescript") }
        },
        ({ code, language }) => Effect.succeed([PromptMessage.user(`Review ${language ?? "this"}: ${code}`)])
      )
    ]
  })
})
