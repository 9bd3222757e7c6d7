/**
 * The client's side of Streamable HTTP, for every revision: each message is a POST of its own, and its reply is JSON or
 * a stream of events.
 *
 * One connection serves both eras and learns which one it is in from what passes through it. A request that carries its
 * protocol version in `_meta` is modern: no session, and closing the exchange cancels it. An `initialize` that was
 * answered makes the connection a session: with its headers, a stream to listen on, resumption, and a `DELETE` at the end.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http
 */
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import type * as HttpClient from "effect/http/HttpClient"
import * as JsonRpc from "../protocol/JsonRpc.ts"
import { McpError } from "../protocol/McpError.ts"
import * as Deliveries from "./Deliveries.ts"
import { type Asked, from as askedOf } from "./HttpAsked.ts"
import * as HttpEndpoint from "./HttpEndpoint.ts"
import { HttpExchanges } from "./HttpExchanges.ts"
import * as HttpResumption from "./HttpResumption.ts"
import * as HttpSender from "./HttpSender.ts"
import * as HttpSseClient from "./HttpSseClient.ts"
import { ClientTransport, type Connection, type SendOptions } from "./Transport.ts"

/** Options of {@link layer}. */
export interface Options {
  /** The MCP endpoint. */
  readonly url: string | URL
  /**
   * Headers of every request, or an effect that is run for every request: an access token that is renewed, for one. They
   * never override the protocol's own headers, and never go to another origin.
   */
  readonly headers?: HttpEndpoint.HeaderSource | undefined
  /** When a cut event stream is opened again. */
  readonly reconnect?: HttpResumption.ReconnectOptions | undefined
  /** Most bytes of one message. Default 16 MiB. */
  readonly maxMessageBytes?: number | undefined
  /** How deeply a message may nest; a deeper one is not read. Default 128 levels. */
  readonly maxMessageDepth?: number | undefined
  /**
   * How long the server may take to begin its reply to one POST; then `send` fails with `Timeout`. A server that replies
   * with JSON begins when it has finished. Default: no limit here, since whoever asks has a timeout of its own.
   */
  readonly answerTimeout?: Duration.Input | undefined
  /**
   * Whether to try HTTP+SSE, the transport of 2024-11-05, at the same URL when the server refuses `initialize` with 400,
   * 404 or 405 and no error that shows it to be modern. Default `true`.
   */
  readonly fallBackToSse?: boolean | undefined
}

/** An exchange that has not ended. */
interface OpenExchange {
  readonly fiber: Fiber.Fiber<void, McpError>
  readonly asked: Asked
  readonly isModern: boolean
}

const cancelledRequestId = (message: JsonRpc.Outgoing): JsonRpc.RequestId | undefined => {
  if (!("method" in message) || message.method !== "notifications/cancelled") return undefined
  const requestId = message.params?.requestId
  return JsonRpc.isRequestId(requestId) ? requestId : undefined
}

const connect = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<Connection, McpError, HttpSender.HttpSender | Scope.Scope> {
  const endpoint = yield* HttpEndpoint.make(options)
  const services = yield* Effect.context<HttpSender.HttpSender>()
  const deliveries = yield* Deliveries.make
  const scope = yield* Scope.make("parallel")
  const open = new Map<JsonRpc.RequestId, OpenExchange>()
  /** What carries everything, once the server has turned out to speak nothing but HTTP+SSE. */
  let older: Connection | undefined

  const openOlder = Effect.gen(function* () {
    const attempt = yield* Scope.fork(scope)
    const opened = yield* Effect.result(Scope.provide(HttpSseClient.connect(options), attempt))
    if (Result.isSuccess(opened)) return opened.success
    yield* Scope.close(attempt, Exit.void)
    return yield* Effect.as(Effect.logDebug("The MCP server does not speak HTTP+SSE either", opened.failure), undefined)
  }).pipe(Effect.provideContext(services))

  const fallBack = Effect.fnUntraced(function* (initialize: JsonRpc.Request) {
    if (options.fallBackToSse === false) return false
    const connection = yield* openOlder
    if (connection === undefined) return false
    older = connection
    yield* connection
      .run((message) => Effect.ignore(deliveries.deliver(message)))
      .pipe(
        Effect.matchEffect({ onSuccess: () => deliveries.end, onFailure: (error) => deliveries.fail(error) }),
        Effect.forkIn(scope)
      )
    yield* connection.send(initialize)
    return true
  })

  const exchanges = new HttpExchanges({
    endpoint,
    scope,
    deliver: (message) => deliveries.deliver(message),
    policy: HttpResumption.makePolicy(options.reconnect),
    maxMessageBytes: options.maxMessageBytes ?? 16 * 1024 * 1024,
    maxMessageDepth: options.maxMessageDepth,
    answerTimeout: options.answerTimeout,
    fallBack
  })

  const close = Effect.andThen(deliveries.end, Scope.close(scope, Exit.void))
  yield* Effect.addFinalizer(() => Effect.andThen(close, exchanges.endSession))

  const running = new Set<Fiber.Fiber<void, McpError>>()
  yield* Scope.addFinalizer(
    scope,
    Effect.suspend(() => Fiber.interruptAll([...running]))
  )

  /** In a fiber of its own: a cancellation, and the end of the connection, interrupt the exchange and not its caller. */
  const exchange = (message: JsonRpc.Outgoing, sendOptions: SendOptions | undefined): Effect.Effect<void, McpError> =>
    Effect.callback((resume) => {
      const asked = askedOf(message)
      // With the caller's services: an HTTP client may trace what it sends.
      const context = Fiber.getCurrent()?.context ?? services
      const fiber = Effect.runForkWith(context)(exchanges.post(message, asked, sendOptions))
      const entry = asked && { fiber, asked, isModern: exchanges.isModern(message) }
      running.add(fiber)
      if (entry !== undefined) for (const id of entry.asked.ids) open.set(id, entry)
      fiber.addObserver((exit) => {
        running.delete(fiber)
        if (entry !== undefined) for (const id of entry.asked.ids) if (open.get(id) === entry) open.delete(id)
        // Nobody but the connection itself, or a cancellation sent through it, interrupts the fiber of an exchange.
        if (Exit.isSuccess(exit) || !Cause.hasInterruptsOnly(exit.cause)) return resume(exit)
        const isClosed = scope.state._tag === "Closed"
        resume(Effect.fail(isClosed ? Deliveries.connectionClosed() : McpError.closed("The request was cancelled")))
      })
      return Fiber.interrupt(fiber)
    })

  return {
    send: (message, sendOptions) =>
      Effect.suspend(() => {
        if (scope.state._tag === "Closed") return Effect.fail(Deliveries.connectionClosed())
        if (older !== undefined) return older.send(message)
        const cancelled = cancelledRequestId(message)
        const entry = cancelled === undefined ? undefined : open.get(cancelled)
        // In the modern era the closed stream says it, and the notification is never sent (CANC-06).
        if (entry?.isModern === true) return Effect.asVoid(Fiber.interrupt(entry.fiber))
        if (cancelled !== undefined && entry === undefined && exchanges.isModern(message)) return Effect.void
        if (cancelled !== undefined) entry?.asked.giveUp(cancelled)
        return exchange(message, sendOptions)
      }),
    // Nobody would take what is still to come.
    run: (onMessage) => Effect.ensuring(deliveries.run(onMessage), close)
  }
})

/**
 * A `ClientTransport` that talks to the server behind a URL. Nothing is sent before the first message.
 *
 * A POST that fails fails its `send` alone, with the HTTP status where there is one; the connection goes on. When the
 * server no longer knows the session (HTTP status 404), everything sent later fails the same way without being sent,
 * until an `initialize` begins a new one.
 *
 * A server that speaks only HTTP+SSE is recognised when it refuses `initialize`; that one is then sent over HTTP+SSE, as
 * is everything after it.
 *
 * With `FetchHttpClient`, give fetch options such as `credentials` to this layer, not to the client's, since redirects
 * are handled here.
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
