/**
 * A server that offers a little of everything, for tests of what all servers have in common.
 */
import { Effect, Schema, Stream } from "effect"
import type * as Completion from "../../src/definition/Completion.ts"
import { Content, McpError, McpServer, Peer, Progress, Prompt, PromptMessage, Resource, Tool } from "mcp-effect"

/** A failure that a tool declares. */
export class Overdrawn extends Schema.TaggedError<Overdrawn>()("Overdrawn", { missing: Schema.Number }) {}

const Echo = Tool.make("echo", {
  description: "Says what it is told",
  input: Schema.Struct({ text: Schema.String }),
  hints: { readOnly: true }
})

const Add = Tool.make("add", {
  title: "Sum",
  input: Schema.Struct({ a: Schema.Number, b: Schema.Number }),
  output: Schema.Struct({ sum: Schema.Number })
})

const Withdraw = Tool.make("withdraw", { input: Schema.Struct({ amount: Schema.Number }), error: Overdrawn })

const Name = Schema.Struct({ name: Schema.String })

export const tools = [
  Tool.handle(Echo, ({ text }) => Effect.succeed(text)),
  Tool.handle(Add, ({ a, b }) => Effect.succeed({ sum: a + b })),
  Tool.handle(Withdraw, ({ amount }) => Effect.fail(new Overdrawn({ missing: amount - 10 }))),
  Tool.handle(Tool.make("break"), () => Effect.die(new Error("pw=hunter2 at /srv/x.ts"))),
  Tool.handle(Tool.make("refuse"), () => Effect.fail(McpError.protocol(-31000, "Not today", { until: "tomorrow" }))),
  Tool.handle(Tool.make("count"), () =>
    Stream.make(Progress.update({ progress: 1, total: 2, message: "one" }), Progress.update({ progress: 2 }), "counted")
  ),
  Tool.handle(Tool.make("chatty"), () =>
    Effect.gen(function* () {
      yield* Effect.logDebug("a detail")
      yield* Effect.logInfo("a fact", { of: "life" })
      yield* Effect.logError("a problem")
      return "said"
    })
  ),
  Tool.handle(Tool.make("greet"), () =>
    Effect.map(Peer.elicit({ key: "who", message: "Who are you?", schema: Name }), (answer) =>
      answer._tag === "Accept" ? `Hello ${answer.value.name}` : answer._tag
    )
  ),
  Tool.handle(Tool.make("think"), () =>
    Effect.map(
      Peer.sample(
        { messages: [{ role: "user", content: { type: "text", text: "Think" } }], maxTokens: 10 },
        { key: "thought" }
      ),
      ({ model }) => model
    )
  ),
  Tool.handle(Tool.make("where"), () =>
    Effect.map(Peer.roots({ key: "roots" }), (roots) => roots.map(({ uri }) => uri).join(" "))
  ),
  Tool.handle(Tool.make("everything"), () =>
    Effect.succeed([
      Content.text("t"),
      Content.image(new Uint8Array([1]), "image/png"),
      Content.audio(new Uint8Array([2]), "audio/wav")
    ])
  )
]

export const resources = [
  Resource.make("config://app", { name: "config", mimeType: "application/json" }, Effect.succeed("{}")),
  Resource.make(
    "pixel://one",
    { name: "pixel", mimeType: "image/png", size: 3 },
    Effect.succeed(new Uint8Array([1, 2, 3]))
  ),
  Resource.template(
    "user://{id}/{+path}",
    {
      name: "users",
      complete: {
        id: (value: string) => Effect.succeed(["ada", "alan", "grace"].filter((name) => name.startsWith(value))),
        path: (value: string, { arguments: chosen }: Completion.CompletionContext) =>
          Effect.succeed([`${chosen.id ?? "nobody"}:${value}`])
      }
    },
    ({ id, path }) =>
      id === "nobody"
        ? Effect.fail(new Resource.NotFound({ uri: `user://${id}/${path}` }))
        : Effect.succeed(`${id} ${path}`)
  )
]

export const prompts = [
  Prompt.make(
    "review",
    {
      description: "Reviews code",
      arguments: Schema.Struct({ code: Schema.String, language: Schema.optionalKey(Schema.String) }),
      complete: {
        language: (value: string) =>
          Effect.succeed(["python", "perl", "typescript"].filter((it) => it.startsWith(value)))
      }
    },
    ({ code, language }) => Effect.succeed([PromptMessage.user(`Review ${language ?? "this"}: ${code}`)])
  ),
  Prompt.make("plain", {}, () => Effect.succeed([PromptMessage.user("Hello")]))
]

/** The server. */
export const demo = McpServer.make({
  name: "demo",
  version: "1.2.3",
  instructions: "Be kind",
  tools,
  resources,
  prompts
})

/** A server that offers nothing. */
export const bare = McpServer.make({ name: "bare", version: "1.0.0", logging: false })
