/**
 * The server's side of WebSocket: a route of an `HttpRouter` whose upgraded requests are connections.
 */
import type * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Socket from "effect/socket/Socket"
import { McpError } from "../protocol/McpError.ts"
import * as Guard from "./httpServer/Guard.ts"
import { type Connection, ServerTransport } from "./Transport.ts"
import * as WebSocket from "./WebSocket.ts"

/** Options of {@link layer}. */
export interface Options extends WebSocket.Options, Guard.Options {
  /** Where the endpoint is. Default `/mcp`. */
  readonly path?: `/${string}` | undefined
  /** Connections at a time; who comes when there are so many is refused with 503. Default 10,000. */
  readonly maximumConnections?: number | undefined
}

/** A client that has upgraded, and how to say that its connection is over. */
interface Arrival {
  readonly connection: Connection
  readonly over: Deferred.Deferred<void>
}

const refuse = (status: number, text: string, headers: Record<string, string> = {}) =>
  HttpServerResponse.text(text, { status, headers })

/** Why a request is not upgraded. */
const refusalOf = (
  { headers }: HttpServerRequest.HttpServerRequest,
  guard: Guard.Guard
): HttpServerResponse.HttpServerResponse | undefined => {
  const refused = guard.refuse(headers)
  if (refused !== undefined) return refuse(403, refused)
  if (headers.upgrade?.toLowerCase() !== "websocket") {
    return refuse(426, "This is a WebSocket endpoint", { upgrade: "websocket", connection: "Upgrade" })
  }
  const offered = headers["sec-websocket-protocol"]?.split(",").map((name) => name.trim())
  // One that offers nothing leaves it to the server to say what is spoken here.
  return offered === undefined || offered.includes(WebSocket.subprotocol)
    ? undefined
    : refuse(400, `The subprotocol here is "${WebSocket.subprotocol}"`)
}

/**
 * How many bytes were not written yet. The upgraded socket does not tell, but under Node the socket beneath does, which
 * the WebSocket writes to at once.
 */
const bufferedBy = ({ source }: HttpServerRequest.HttpServerRequest): (() => number) => {
  const beneath = Predicate.hasProperty(source, "socket") ? source.socket : undefined
  return () =>
    Predicate.hasProperty(beneath, "writableLength") && Predicate.isNumber(beneath.writableLength)
      ? beneath.writableLength
      : 0
}

/**
 * A `ServerTransport` whose clients are those that upgrade at a route. It answers by default only to the local machine:
 * list the hosts and origins of a public server in the options. `run` does not end by itself.
 *
 * How large a frame may be at all, and which of several offered subprotocols is picked, is a matter of the HTTP server:
 * with `NodeHttpServer` its option `websocket`. Ordinarily that is the first, so clients do best to offer `mcp` alone. How
 * long connections may last when the HTTP server shuts down is its `gracefulShutdownTimeout`.
 */
export const layer = (options: Options = {}): Layer.Layer<ServerTransport, never, HttpRouter.HttpRouter> =>
  Layer.effect(
    ServerTransport,
    Effect.gen(function* () {
      const router = yield* HttpRouter.HttpRouter
      const arrivals = yield* Effect.acquireRelease(Queue.unbounded<Arrival, Cause.Done>(), Queue.shutdown)
      const guard = new Guard.Guard(options)
      const maximum = options.maximumConnections ?? 10_000
      let connections = 0

      const attend = (socket: Socket.Socket, request: HttpServerRequest.HttpServerRequest) =>
        Effect.gen(function* () {
          const opened = yield* WebSocket.open(socket, bufferedBy(request), options)
          const over = yield* Deferred.make<void>()
          const connection = { ...opened, headers: request.headers }
          // Nobody serves any more when this is refused, and the connection closes.
          if (Queue.offerUnsafe(arrivals, { connection, over })) yield* Deferred.await(over)
        }).pipe(
          Effect.scoped,
          Effect.catch((error) => Effect.logDebug("A WebSocket could not be opened", error))
        )

      yield* router.add("GET", options.path ?? "/mcp", (request: HttpServerRequest.HttpServerRequest) =>
        Effect.suspend(() => {
          const refused = refusalOf(request, guard)
          if (refused !== undefined) return Effect.succeed(refused)
          if (connections >= maximum) return Effect.succeed(refuse(503, "Too many connections; try again later"))
          connections++
          return Effect.matchEffect(request.upgrade, {
            onSuccess: (socket) => Effect.as(attend(socket, request), HttpServerResponse.empty()),
            onFailure: () => Effect.succeed(refuse(501, "This server can't upgrade to WebSocket"))
          }).pipe(Effect.ensuring(Effect.sync(() => connections--)))
        })
      )
      return ServerTransport.of({ run: serve(arrivals) })
    })
  )

const serve =
  (arrivals: Queue.Dequeue<Arrival, Cause.Done>): ServerTransport["Service"]["run"] =>
  <R>(serveConnection: (connection: Connection) => Effect.Effect<void, never, R>) =>
    Effect.gen(function* () {
      const scope = yield* Effect.acquireRelease(Scope.make("parallel"), Scope.close)
      const accept = Effect.flatMap(Queue.take(arrivals), ({ connection, over }) =>
        serveConnection(connection).pipe(
          Effect.onExit((exit) => Deferred.done(over, Exit.asVoid(exit))),
          Effect.forkIn(scope)
        )
      )
      return yield* Effect.forever(accept)
    }).pipe(
      Effect.scoped,
      Effect.mapError(() => McpError.closed("The route is no longer served"))
    )
