/**
 * The client against our own server: the same program in both eras.
 */
import { describe, expect, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Schema, type Scope, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import {
  Catalog,
  InMemory,
  McpClient,
  McpServer,
  Peer,
  Prompt,
  PromptMessage,
  Resource,
  StreamableHttp,
  Tool
} from "../../src/index.ts"
import type { CreateMessageResult } from "../../src/protocol/index.ts"
import * as StreamableHttpClient from "../../src/transport/StreamableHttpClient.ts"
import type { ClientTransport } from "../../src/transport/Transport.ts"

const completion: CreateMessageResult = { role: "assistant", content: { type: "text", text: "Dear" }, model: "m" }

const Greet = Tool.make("greet", { output: Schema.Struct({ greeting: Schema.String }) })
const greet = Tool.handle(Greet, () =>
  Effect.gen(function* () {
    const answer = yield* Peer.elicit({ message: "Who?", schema: Schema.Struct({ name: Schema.String }) })
    if (answer._tag !== "Accept") return { greeting: answer._tag }
    const { content } = yield* Peer.sample({
      messages: [{ role: "user", content: { type: "text", text: answer.value.name } }],
      maxTokens: 5
    })
    const [root] = yield* Peer.roots()
    return { greeting: `${(content as { text: string }).text} ${answer.value.name} of ${root?.uri}` }
  })
)

const handlers = {
  elicit: () => Effect.succeed({ action: "accept", content: { name: "Ada" } } as const),
  sample: () => Effect.succeed(completion),
  roots: Effect.succeed([{ uri: "file:///work" }])
}

/** A client of a server in the same process, over a link in memory or over HTTP without a network. */
const transports: {
  readonly [name: string]: (
    server: McpServer.McpServer<never>
  ) => Effect.Effect<Layer.Layer<ClientTransport>, never, Scope.Scope>
} = {
  memory: (server) =>
    Effect.map(
      Layer.build(McpServer.layer(server).pipe(Layer.provideMerge(InMemory.layer))),
      Layer.succeedContext
    ).pipe(Effect.orDie),
  HTTP: (server) =>
    Effect.gen(function* () {
      const { dispose, handler } = StreamableHttp.toWebHandler(server, Context.empty())
      yield* Effect.addFinalizer(() => Effect.promise(dispose))
      const fetch: typeof globalThis.fetch = (input, init) => handler(new Request(input, init))
      return StreamableHttpClient.layer({ url: "http://127.0.0.1/mcp" }).pipe(
        Layer.provide(FetchHttpClient.layer),
        Layer.provide(Layer.succeed(FetchHttpClient.Fetch, fetch))
      )
    })
}

const cases = Object.keys(transports).flatMap((name) =>
  ["2025-11-25", "2026-07-28"].map((revision) => ({ name, revision }))
)

describe.each(cases)("a client and a server that speak $revision over $name", ({ name, revision }) => {
  const connect = (server: McpServer.McpServer<never>, options: { readonly handlers?: typeof handlers } = {}) =>
    Effect.gen(function* () {
      const transport = yield* (transports[name] as (typeof transports)[string])(server)
      const client = { name: "test", version: "1", revisions: [revision], ...options }
      return yield* Effect.provide(McpClient.make(client), yield* Layer.build(transport))
    })

  it.live("ask and answer in the middle of a call", () =>
    Effect.gen(function* () {
      const client = yield* connect(McpServer.make({ name: "s", version: "1", tools: [greet] }), { handlers })
      expect(yield* client.call(Greet, {})).toEqual({ greeting: "Dear Ada of file:///work" })
    })
  )

  it.live("[CANC-04] stop the handler of a call that is interrupted", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      const stopped = yield* Deferred.make<void>()
      const Wait = Tool.make("wait")
      const wait = Tool.handle(Wait, () =>
        Effect.andThen(Deferred.succeed(started, undefined), Effect.as(Effect.never, undefined)).pipe(
          Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
        )
      )
      const client = yield* connect(McpServer.make({ name: "s", version: "1", tools: [wait] }))
      const fiber = yield* Effect.forkScoped(client.call(Wait, {}))
      yield* Deferred.await(started)
      yield* Fiber.interrupt(fiber)
      yield* Deferred.await(stopped)
    })
  )

  it.live("tell and hear of changes", () =>
    Effect.gen(function* () {
      const tools = yield* Catalog.make([greet])
      const client = yield* connect(McpServer.make({ name: "s", version: "1", tools }))
      const changes = yield* client.subscribe({ tools: true })
      const names = Effect.map(Stream.runCollect(client.listTools), (list) => list.map(({ name }) => name))
      expect(yield* names).toEqual(["greet"])
      yield* tools.set(Tool.handle(Tool.make("more"), () => Effect.succeed("more")))
      expect(yield* Stream.runCollect(Stream.take(changes, 1))).toEqual([{ _tag: "ToolsChanged" }])
      expect(yield* names).toEqual(["greet", "more"])
    })
  )

  it.live("read lists of many pages, resources, prompts and suggestions", () =>
    Effect.gen(function* () {
      const client = yield* connect(
        McpServer.make({
          name: "s",
          version: "1",
          pageSize: 1,
          instructions: "Be kind",
          resources: [
            Resource.make("config://app", { name: "config", mimeType: "text/plain" }, Effect.succeed("on")),
            Resource.make("config://other", { name: "other" }, Effect.succeed("off"))
          ],
          prompts: [
            Prompt.make(
              "review",
              {
                arguments: Schema.Struct({ code: Schema.String }),
                complete: { code: (typed: string) => Effect.succeed([`${typed}!`]) }
              },
              ({ code }) => Effect.succeed([PromptMessage.user(code)])
            )
          ]
        })
      )
      expect(client.server.instructions).toBe("Be kind")
      expect(client.server.info?.name).toBe("s")
      expect((yield* Stream.runCollect(client.listResources)).map(({ name }) => name)).toEqual(["config", "other"])
      expect((yield* client.readResource("config://app")).contents[0]).toMatchObject({ text: "on" })
      expect((yield* Stream.runCollect(client.listPrompts)).map(({ name }) => name)).toEqual(["review"])
      expect((yield* client.getPrompt("review", { code: "x" })).messages[0]?.content).toMatchObject({ text: "x" })
      const ref = { type: "ref/prompt", name: "review" } as const
      expect((yield* client.complete(ref, { name: "code", value: "a" })).values).toEqual(["a!"])
      expect((yield* Effect.flip(client.readResource("config://none"))).reason._tag).toBe("ProtocolFailure")
    })
  )

  it.live("know what the other can't do", () =>
    Effect.gen(function* () {
      const client = yield* connect(McpServer.make({ name: "s", version: "1", tools: [greet] }))
      const { reason } = yield* Effect.flip(client.call(Greet, {}))
      expect(reason).toMatchObject({ _tag: "ProtocolFailure", message: /elicitation/ })
    })
  )
})
