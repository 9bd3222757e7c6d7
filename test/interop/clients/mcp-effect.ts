/**
 * The client of this package.
 */
import { Effect, Exit, Layer, Scope, Stream } from "effect"
import { McpClient, type McpError } from "../../../src/index.ts"
import { Stdio, StreamableHttp } from "../../../src/node/index.ts"
import { type ClientKind, fillIn, info, root, said, type Target, textIn } from "../Conversation.ts"

const layerOf = (target: Target) => {
  switch (target.transport) {
    case "stdio":
      return Stdio.layerClient({ command: target.command, args: target.args })
    case "http":
      return StreamableHttp.layerClient({ url: target.url })
    case "sse":
      return StreamableHttp.layerClientSse({ url: target.url })
  }
}

/** A failure that is a value for scenarios: the tool said so, and the conversation goes on. */
const asAnswer = ({ reason }: McpError) =>
  reason._tag === "ToolFailure"
    ? Effect.succeed({ isError: true, text: reason.message, structured: undefined })
    : Effect.fail(new Error(`${reason._tag}: ${reason.message}`))

const withReason = <A>(effect: Effect.Effect<A, McpError>) =>
  Effect.mapError(effect, ({ reason }) => new Error(`${reason._tag}: ${reason.message}`))

const collect = <A>(stream: Stream.Stream<A, McpError>) => withReason(Stream.runCollect(stream))

const run = <A>(effect: Effect.Effect<A, Error>, signal?: AbortSignal): Promise<A> =>
  Effect.runPromise(effect, signal === undefined ? undefined : { signal })

export const mcpEffect: ClientKind = {
  name: "mcp-effect",
  transports: ["stdio", "http", "sse"],
  revisions: ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"],
  negotiates: true,
  shows: { progress: true, cancellation: true },
  answers: ["elicit", "sample", "roots"],
  connect: async (target, revision, { onLog }) => {
    const scope = Scope.makeUnsafe()
    const close = () => run(Scope.close(scope, Exit.void))
    const making = Effect.gen(function* () {
      const transport = yield* Layer.buildWithScope(layerOf(target), scope)
      return yield* Effect.provideContext(
        McpClient.make({
          ...info,
          timeout: "10 seconds",
          ...(revision !== undefined && { revisions: [revision] }),
          handlers: {
            elicit: ({ requestedSchema }) => Effect.succeed({ action: "accept", content: fillIn(requestedSchema) }),
            sample: () => Effect.succeed({ role: "assistant", model: "none", content: { type: "text", text: said } }),
            roots: Effect.succeed([root]),
            // Some servers ask only those for their roots who would tell when they change.
            rootsChanges: Stream.never
          }
        }),
        transport
      )
    })
    const client = await run(withReason(Effect.provideService(making, Scope.Scope, scope))).catch(async (cause) => {
      await close()
      throw cause
    })
    Effect.runFork(Stream.runForEach(client.logs, ({ data }) => Effect.sync(() => onLog(data))))

    return {
      revision: client.server.revision,
      capabilities: client.server.capabilities as { readonly [name: string]: unknown },
      listTools: () => run(Effect.map(collect(client.listTools), (tools) => tools.map(({ name }) => name))),
      listResources: () => run(Effect.map(collect(client.listResources), (all) => all.map(({ uri }) => uri))),
      listTemplates: () =>
        run(Effect.map(collect(client.listResourceTemplates), (all) => all.map(({ uriTemplate }) => uriTemplate))),
      listPrompts: () => run(Effect.map(collect(client.listPrompts), (all) => all.map(({ name }) => name))),
      call: (name, args, { onProgress, signal } = {}) =>
        run(
          client
            .callTool(name, args as never, {
              ...(onProgress !== undefined && { onProgress: ({ progress }) => onProgress(progress) })
            })
            .pipe(
              Effect.map(({ content, structuredContent }) => ({
                isError: false,
                text: textIn(content),
                structured: structuredContent as unknown
              })),
              Effect.catch(asAnswer)
            ),
          signal
        ),
      read: (uri) => run(Effect.map(withReason(client.readResource(uri)), ({ contents }) => textIn(contents))),
      prompt: (name, args) =>
        run(
          Effect.map(withReason(client.getPrompt(name, args)), ({ messages }) =>
            textIn(messages.map(({ content }) => content))
          )
        ),
      complete: (ref, name, value) =>
        run(Effect.map(withReason(client.complete(ref, { name, value })), ({ values }) => values)),
      wantLogs: () => run(withReason(client.setLogLevel("debug"))),
      subscribe: (uri, onUpdate) =>
        run(
          withReason(Effect.provideService(client.subscribe({ uris: [uri] }), Scope.Scope, scope)).pipe(
            Effect.map((changes) => {
              const telling = Stream.runForEach(changes, (change) =>
                Effect.sync(() => {
                  if (change._tag === "ResourceUpdated") onUpdate(change.uri)
                })
              )
              Effect.runFork(Effect.ignore(telling))
            })
          )
        ),
      ...(client.server.era === "legacy" && { ping: () => run(withReason(client.ping)) }),
      close
    }
  }
}
