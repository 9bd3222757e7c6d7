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
import { Cause, Context, Deferred, type Duration, Effect, Exit, Fiber, Layer, Pull, Queue, Scope } from "effect"
import type { HttpClient } from "effect/http"
import * as JsonRpc from "../protocol/JsonRpc.ts"
import { McpError } from "../protocol/McpError.ts"
import * as HttpEndpoint from "./HttpEndpoint.ts"
import { HttpExchanges } from "./HttpExchanges.ts"
import * as HttpResumption from "./HttpResumption.ts"
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
  /**
   * How long the server may take to begin its reply to one POST; then `send` fails with `Timeout`. A server that replies
   * with JSON begins when it has finished. Default: no limit here, since whoever asks has a timeout of its own.
   */
  readonly answerTimeout?: Duration.Input | undefined
}

/** A message on its way up to `run`. */
interface Delivery {
  readonly message: JsonRpc.Incoming
  readonly handled: Deferred.Deferred<void>
}

/** An exchange that has not ended. */
interface OpenExchange {
  readonly fiber: Fiber.Fiber<void, McpError>
  readonly isModern: boolean
}

const connectionClosed = () => McpError.closed("The connection is closed")

const cancelledRequestId = (message: JsonRpc.Message): JsonRpc.RequestId | undefined => {
  if (!("method" in message) || message.method !== "notifications/cancelled") return undefined
  const requestId = message.params?.requestId
  return JsonRpc.isRequestId(requestId) ? requestId : undefined
}

const connect = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<Connection, McpError, HttpClient.HttpClient | Scope.Scope> {
  const endpoint = yield* HttpEndpoint.make(options)
  const inbox = yield* Queue.unbounded<Delivery, Cause.Done>()
  const scope = yield* Scope.make("parallel")
  const open = new Map<JsonRpc.RequestId, OpenExchange>()

  // Every exchange waits for its own message, so at most one per open stream is ever queued.
  const deliver = (message: JsonRpc.Incoming): Effect.Effect<void, McpError> =>
    Effect.suspend(() => {
      const handled = Deferred.makeUnsafe<void>()
      return Queue.offerUnsafe(inbox, { message, handled }) ? Deferred.await(handled) : Effect.fail(connectionClosed())
    })

  const exchanges = new HttpExchanges({
    endpoint,
    scope,
    deliver,
    policy: HttpResumption.makePolicy(options.reconnect),
    maxMessageBytes: options.maxMessageBytes ?? 16 * 1024 * 1024,
    answerTimeout: options.answerTimeout
  })

  const close = Effect.andThen(
    Effect.suspend(() => Queue.end(inbox)),
    Scope.close(scope, Exit.void)
  )
  yield* Effect.addFinalizer(() => Effect.andThen(close, exchanges.endSession))

  const exchange = (message: JsonRpc.Message, sendOptions: SendOptions | undefined): Effect.Effect<void, McpError> =>
    Effect.uninterruptibleMask(
      Effect.fnUntraced(function* (restore) {
        const fiber = yield* Effect.forkIn(exchanges.post(message, sendOptions), scope, { startImmediately: true })
        const id = JsonRpc.isRequest(message) ? message.id : undefined
        const entry: OpenExchange = { fiber, isModern: exchanges.isModern(message) }
        if (id !== undefined) open.set(id, entry)
        const exit = yield* Effect.onInterrupt(restore(Fiber.await(fiber)), () => Fiber.interrupt(fiber)).pipe(
          Effect.ensuring(Effect.sync(() => id !== undefined && open.get(id) === entry && open.delete(id)))
        )
        if (Exit.isSuccess(exit)) return
        // Nobody but the connection itself, or a cancellation sent through it, interrupts the fiber of an exchange.
        if (!Cause.hasInterruptsOnly(exit.cause)) return yield* Effect.failCause(exit.cause)
        return yield* scope.state._tag === "Closed" ? connectionClosed() : McpError.closed("The request was cancelled")
      })
    )

  return {
    send: (message, sendOptions) =>
      Effect.suspend(() => {
        if (scope.state._tag === "Closed") return Effect.fail(connectionClosed())
        const cancelled = cancelledRequestId(message)
        const entry = cancelled === undefined ? undefined : open.get(cancelled)
        // In the modern era the closed stream says it, and the notification is never sent (CANC-06).
        if (entry?.isModern === true) return Effect.asVoid(Fiber.interrupt(entry.fiber))
        if (cancelled !== undefined && entry === undefined && exchanges.isModern(message)) return Effect.void
        return exchange(message, sendOptions)
      }),
    run: (onMessage) =>
      Queue.take(inbox).pipe(
        Effect.flatMap(({ handled, message }) =>
          Effect.ensuring(onMessage(message), Deferred.succeed(handled, undefined))
        ),
        Effect.forever,
        Pull.catchDone(() => Effect.void),
        // Nobody would take what is still to come.
        Effect.ensuring(close)
      )
  }
})

/**
 * A `ClientTransport` that talks to the server behind a URL. Nothing is sent before the first message.
 *
 * A POST that fails fails its `send` alone, with the HTTP status where there is one; the connection goes on. When the
 * server no longer knows the session (HTTP status 404), everything sent later fails the same way without being sent,
 * until an `initialize` begins a new one.
 *
 * With `FetchHttpClient`, give fetch options such as `credentials` to this layer, not to the client's, since redirects
 * are handled here.
 */
export const layer = (options: Options): Layer.Layer<ClientTransport, never, HttpClient.HttpClient> =>
  Layer.effect(
    ClientTransport,
    Effect.contextWith((context: Context.Context<HttpClient.HttpClient>) =>
      Effect.succeed(
        ClientTransport.of({
          connect: Effect.updateContext(connect(options), (input: Context.Context<Scope.Scope>) =>
            Context.merge(context, input)
          )
        })
      )
    )
  )
