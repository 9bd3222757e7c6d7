/**
 * The client's side of HTTP+SSE, the transport of 2024-11-05: one event stream brings everything that the server says,
 * the first event names the URL that takes what the client says.
 *
 * @see https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type * as HttpClient from "effect/http/HttpClient"
import * as JsonRpc from "../protocol/JsonRpc.ts"
import { McpError } from "../protocol/McpError.ts"
import * as Deliveries from "./Deliveries.ts"
import { describeReply } from "./HttpAnswers.ts"
import { nameOf } from "./HttpAsked.ts"
import * as HttpEndpoint from "./HttpEndpoint.ts"
import { begunWithin, type Cursor, type Reply, withReply } from "./HttpReply.ts"
import * as HttpSender from "./HttpSender.ts"
import { HttpSession, isInitialize } from "./HttpSession.ts"
import { defaultMaxMessageBytes } from "./NewlineFraming.ts"
import type * as Sse from "./Sse.ts"
import { ClientTransport, type Connection } from "./Transport.ts"

/** Options of {@link layer}. */
export interface Options {
  /** Where the event stream is. */
  readonly url: string | URL
  /** Headers of every request, as those of the Streamable HTTP client. */
  readonly headers?: HttpEndpoint.HeaderSource | undefined
  /** Most bytes of one message. Default 16 MiB. */
  readonly maxMessageBytes?: number | undefined
  /** How deeply a message may nest; a deeper one is not read. Default 128 levels. */
  readonly maxMessageDepth?: number | undefined
  /** How long the server may take to accept one POST; then `send` fails with `Timeout`. Default: no limit here. */
  readonly answerTimeout?: Duration.Input | undefined
  /** How long the server may take until it names the URL to post to. Default 10 seconds. */
  readonly endpointTimeout?: Duration.Input | undefined
}

/** The revision from which on a client names the negotiated one in a header, over every kind of HTTP. */
const headerFrom = "2025-06-18"

const refused = (what: string, reply: Reply): Effect.Effect<never, McpError> =>
  Effect.flatMap(reply.excerpt, (excerpt) =>
    Effect.fail(McpError.transport(`${what}: ${describeReply(reply, excerpt)}`, { status: reply.status }))
  )

/** The URL to post to, as every browser would resolve it, if it is at the same origin. */
const resolve = (reference: string, base: string): Effect.Effect<string, McpError> => {
  const url = URL.parse(reference, base)
  if (url === null) return Effect.fail(McpError.decode(`The server's endpoint event holds no URL: ${reference}`))
  // Whoever can write an event must not learn the caller's credentials.
  return url.origin === new URL(base).origin
    ? Effect.succeed(url.href)
    : Effect.fail(McpError.transport(`The server names another origin, ${url.origin}, to post to: not followed`))
}

/** Opens the event stream, and waits for its `endpoint` event. */
export const connect = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<Connection, McpError, HttpSender.HttpSender | Scope.Scope> {
  const scope = yield* Effect.scope
  const stream = yield* HttpEndpoint.make(options)
  const deliveries = yield* Deliveries.make
  const named = yield* Deferred.make<string, McpError>()
  const replyOptions = { background: scope, maxMessageBytes: options.maxMessageBytes ?? defaultMaxMessageBytes }
  const session = new HttpSession()
  let initializing: JsonRpc.RequestId | undefined
  let ended: McpError | undefined

  const learn = (message: JsonRpc.Incoming) => {
    if (message instanceof JsonRpc.Malformed || message instanceof JsonRpc.Batch) return
    if (JsonRpc.isResponse(message) && message.id === initializing) session.settle(message)
  }
  const onEvent = (base: string) => (event: Sse.Event) =>
    Effect.suspend(() => {
      if (event.data === "") return Effect.succeed(false)
      if (!Deferred.isDoneUnsafe(named)) {
        if (event.event !== "endpoint") {
          return Effect.fail(McpError.transport(`The first event of the stream is "${event.event}", not "endpoint"`))
        }
        return Effect.as(Deferred.complete(named, resolve(event.data, base)), false)
      }
      if (event.event !== "message") return Effect.succeed(false)
      const message = JsonRpc.parse(event.data, options.maxMessageDepth)
      learn(message)
      return Effect.as(deliveries.deliver(message), false)
    })
  const end = (error: McpError | undefined) =>
    Effect.suspend(() => {
      ended = error ?? McpError.closed("The server has closed the event stream")
      const early = error ?? McpError.transport("The server ended the event stream before it named a URL to post to")
      return Effect.andThen(Deferred.fail(named, early), error === undefined ? deliveries.end : deliveries.fail(error))
    })

  let base = String(options.url)
  const opening = (within: Scope.Scope) =>
    Effect.tap(stream.execute({ method: "GET", headers: { accept: "text/event-stream" } }, within), (response) =>
      Effect.sync(() => {
        base = response.url
      })
    )
  const cursor: Cursor = { lastEventId: undefined, retry: undefined }
  yield* withReply(opening, replyOptions, (reply) =>
    reply.isSuccess && reply.mediaType === "text/event-stream"
      ? reply.events(cursor, onEvent(base))
      : refused("The server opened no event stream", reply)
  ).pipe(
    Effect.matchEffect({ onSuccess: () => end(undefined), onFailure: end }),
    Effect.ensuring(deliveries.end),
    Effect.forkIn(scope, { startImmediately: true })
  )
  yield* Scope.addFinalizer(
    scope,
    Effect.suspend(() => {
      ended ??= Deliveries.connectionClosed()
      return deliveries.end
    })
  )

  const url = yield* Effect.timeoutOrElse(Deferred.await(named), {
    duration: options.endpointTimeout ?? Duration.seconds(10),
    orElse: () => Effect.fail(McpError.transport("The server named no URL to post to in time"))
  })
  const messages = yield* HttpEndpoint.make({ ...options, url })

  const post = (message: JsonRpc.Outgoing): Effect.Effect<void, McpError> =>
    Effect.suspend(() => {
      if (ended !== undefined) return Effect.fail(ended)
      if (JsonRpc.isRequest(message) && isInitialize(message)) initializing = message.id
      const headers: Record<string, string> = { "content-type": "application/json" }
      const version = session.protocolVersion
      if (version !== undefined && version >= headerFrom) headers["mcp-protocol-version"] = version
      const body = JsonRpc.stringify(message)
      const open = (within: Scope.Scope) =>
        begunWithin(messages.execute({ method: "POST", headers, body }, within), options, message)
      return withReply(open, replyOptions, (reply) =>
        reply.isSuccess ? Effect.void : refused(`${nameOf(message)} was refused`, reply)
      )
    })
  // One at a time: two that are under way together may arrive in any order.
  const turn = Semaphore.makeUnsafe(1)
  return {
    send: (message) => turn.withPermit(post(message)),
    run: (onMessage) => deliveries.run(onMessage)
  }
})

/**
 * A `ClientTransport` for a server that speaks HTTP+SSE and nothing newer. To find out by itself what a server speaks is
 * what the Streamable HTTP client does, which falls back to this.
 *
 * `connect` fails with `TransportFailure` when there is no such event stream. A POST that fails fails its `send` at once,
 * with the HTTP status. When the server ends the stream the connection is over, and `run` ends.
 */
export const layer = (options: Options): Layer.Layer<ClientTransport, never, HttpClient.HttpClient> =>
  Layer.provide(layerSender(options), HttpSender.layer)

/** {@link layer} over any sender. */
export const layerSender = (options: Options): Layer.Layer<ClientTransport, never, HttpSender.HttpSender> =>
  Layer.effect(
    ClientTransport,
    Effect.map(HttpSender.HttpSender, (sender) =>
      ClientTransport.of({ connect: Effect.provideService(connect(options), HttpSender.HttpSender, sender) })
    )
  )
