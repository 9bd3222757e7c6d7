/**
 * A server written with `effect/ai`.
 *
 *     node effect-ai.ts stdio
 *     node effect-ai.ts http
 *
 * Its tools are added to the registry directly, because a toolkit has no way to answer with a failure that is not typed,
 * to report progress, or to ask.
 */
import * as Http from "node:http"
import { NodeHttpServer, NodeRuntime, NodeStdio } from "@effect/platform-node"
import { Context, Effect, Layer, Schema } from "effect"
import { McpProtocol, McpSchema, McpServer } from "effect/ai"
import { HttpRouter, HttpServer } from "effect/http"
import {
  announce,
  daysFrom,
  failure,
  greeting,
  info,
  nameForm,
  namesFrom,
  note,
  sampled,
  transport,
  waits
} from "./offer.ts"

const text = (value: string) => new McpSchema.CallToolResult({ content: [{ type: "text", text: value }] })

const Nothing = Schema.Struct({})
const Numbers = Schema.Struct({ a: Schema.Number, b: Schema.Number })
const Count = Schema.Struct({ count: Schema.Number })
const Sum = Schema.Struct({ sum: Schema.Number })

const jsonSchemaOf = (schema: Schema.Top) =>
  // What Effect says of an empty struct is not the schema of an object, which an input schema has to be.
  (schema === Nothing ? { type: "object" } : Schema.toJsonSchemaDocument(schema).schema) as never

type Handler<A> = (
  input: A
) => Effect.Effect<
  McpSchema.CallToolResult | McpSchema.InputRequired,
  McpSchema.InternalError | McpSchema.InvalidParams,
  McpSchema.McpRequestContext
>

const tool = <S extends Schema.Struct<Schema.Struct.Fields>>(
  name: string,
  input: S,
  handle: Handler<S["Type"]>,
  output?: Schema.Top
) =>
  Effect.flatMap(McpServer.McpServer, (registry) =>
    registry.addTool({
      tool: new McpSchema.Tool({
        name,
        inputSchema: jsonSchemaOf(input),
        ...(output !== undefined && { outputSchema: jsonSchemaOf(output) })
      }),
      annotations: Context.empty(),
      handle: (payload) =>
        (Schema.decodeUnknownEffect(input)(payload ?? {}) as Effect.Effect<S["Type"], Schema.SchemaError>).pipe(
          Effect.mapError(({ message }) => new McpSchema.InvalidParams({ message })),
          Effect.flatMap(handle)
        )
    })
  )

/** Asks live where there is a session, and with "input required" where there is none. */
const ask = <A>(options: {
  readonly key: string
  readonly request: McpSchema.McpInputRequest
  readonly live: (client: McpSchema.McpReverseClient) => Effect.Effect<A, unknown>
  readonly show: (answer: A) => string
}) =>
  Effect.gen(function* () {
    const { inputResponses } = yield* McpSchema.McpRequestContext
    const live = yield* Effect.serviceOption(McpSchema.McpServerClient)
    if (live._tag === "Some") {
      const client = yield* live.value.getClient
      return text(options.show(yield* options.live(client)))
    }
    const response = inputResponses?.[options.key]
    if (response !== undefined) return text(options.show(response as A))
    return new McpSchema.InputRequired({ inputRequests: { [options.key]: options.request } })
  }).pipe(
    Effect.scoped,
    Effect.mapError((cause) => new McpSchema.InternalError({ message: String(cause) }))
  )

const form = { mode: "form", message: "Who are you?", requestedSchema: nameForm } as const

const tools = Effect.gen(function* () {
  const { notifications } = yield* McpServer.McpServer
  yield* tool(
    "add",
    Numbers,
    ({ a, b }) =>
      Effect.succeed(
        new McpSchema.CallToolResult({
          content: [{ type: "text", text: String(a + b) }],
          structuredContent: { sum: a + b }
        })
      ),
    Sum
  )
  yield* tool("fail", Nothing, () =>
    Effect.succeed(new McpSchema.CallToolResult({ isError: true, content: [{ type: "text", text: failure }] }))
  )
  yield* tool("steps", Count, ({ count }) =>
    Effect.gen(function* () {
      const { requestMetadata } = yield* McpSchema.McpRequestContext
      const progressToken = requestMetadata?.progressToken as string | number | undefined
      if (progressToken === undefined) return text("done")
      for (let progress = 1; progress <= count; progress++) {
        yield* notifications["notifications/progress"]({ progressToken, progress, total: count })
      }
      return text("done")
    }).pipe(Effect.orDie)
  )
  yield* tool("shout", Nothing, () =>
    notifications["notifications/message"]({ level: "info", logger: "shout", data: "Hey" }).pipe(
      Effect.as(text("shouted")),
      Effect.orDie
    )
  )
  yield* tool("wait", Nothing, () =>
    Effect.sleep("20 seconds").pipe(
      Effect.onInterrupt(() => Effect.sync(() => waits.cancelled++)),
      Effect.as(text("waited"))
    )
  )
  yield* tool("waits", Nothing, () => Effect.sync(() => text(String(waits.cancelled))))
  yield* tool("ask", Nothing, () =>
    ask({
      key: "who",
      request: { method: "elicitation/create", params: form },
      live: (client) => client.elicit(new McpSchema.ElicitRequestFormParams(form as never)),
      show: ({ action, ...rest }) => `${action} ${"content" in rest ? String(rest.content?.["name"]) : ""}`
    })
  )
  yield* tool("sample", Nothing, () =>
    ask({
      key: "said",
      request: { method: "sampling/createMessage", params: sampled },
      live: (client) => client.createMessage(sampled as never),
      show: ({ content }) => {
        const [block] = [content].flat() as ReadonlyArray<{ readonly text?: string }>
        return block?.text ?? ""
      }
    })
  )
  yield* tool("roots", Nothing, () =>
    ask({
      key: "roots",
      request: { method: "roots/list" },
      live: (client) => client.listRoots(),
      show: ({ roots }) => roots.map(({ uri }) => uri).join()
    })
  )
})

const day = McpSchema.param("day", Schema.String)

const registrations = Layer.mergeAll(
  Layer.effectDiscard(tools),
  McpServer.resource({
    uri: note.uri,
    name: note.name,
    mimeType: note.mimeType,
    content: Effect.succeed(note.textOf("today"))
  }),
  McpServer.resource`note://${day}`({
    name: "day",
    mimeType: note.mimeType,
    completion: { day: (typed: string) => Effect.succeed(daysFrom(typed)) },
    content: (_uri, day) => Effect.succeed(note.textOf(day))
  }),
  McpServer.prompt({
    name: "greet",
    parameters: { name: Schema.String },
    completion: { name: (typed: string) => Effect.succeed(namesFrom(typed)) },
    content: ({ name }) => Effect.succeed(greeting(name))
  })
)

const options = {
  ...info,
  protocols: [
    McpProtocol.v2026_07_28,
    McpProtocol.v2025_11_25,
    McpProtocol.v2025_06_18,
    McpProtocol.v2025_03_26,
    McpProtocol.v2024_11_05
  ],
  registrations
} as const

const overStdio = McpServer.layerStdio(options).pipe(Layer.provide(NodeStdio.layer))

const listening = Layer.effectDiscard(
  Effect.map(HttpServer.HttpServer, ({ address }) => {
    if ("port" in address) announce(address.port)
  })
)

const overHttp = HttpRouter.serve(McpServer.layerHttp({ ...options, path: "/mcp", allowSessionTermination: true }), {
  disableLogger: true,
  disableListenLog: true
}).pipe(Layer.merge(listening), Layer.provide(NodeHttpServer.layer(Http.createServer, { port: 0, host: "127.0.0.1" })))

Layer.launch(transport === "stdio" ? overStdio : overHttp).pipe(NodeRuntime.runMain)
