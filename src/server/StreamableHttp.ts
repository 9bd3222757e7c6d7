/**
 * Serving over Streamable HTTP: as a route of an existing `HttpRouter` application, or as a fetch handler. The fast
 * standalone server for Node is in `mcp-effect/node`. The client's side is `layerClient`, over any `HttpClient`.
 *
 * One endpoint speaks all revisions at once. By default it answers only to the local machine: list the hosts and
 * origins of a public server in the options.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import { McpError } from "../protocol/McpError.ts"
import { Flight } from "../session/Flight.ts"
import type { Endpoint, Observer } from "../transport/httpServer/Endpoint.ts"
import { EventStream } from "../transport/httpServer/EventStream.ts"
import type { HttpRequest, HttpResponse } from "../transport/httpServer/HttpMessage.ts"
import * as Core from "../transport/httpServer/StreamableHttpServer.ts"
import { Admission } from "./Admission.ts"
import { refuse } from "./Answer.ts"
import { collect, unreadable } from "./BodyStream.ts"
import * as HttpRoute from "./HttpRoute.ts"
import type { McpServer } from "./McpServer.ts"
import * as ModernRequest from "./ModernRequest.ts"
import * as ServerPeer from "./ServerPeer.ts"
import * as ServerRuntime from "./ServerRuntime.ts"
import * as Shutdown from "./Shutdown.ts"

export { layer as layerClientSse, type Options as SseClientOptions } from "../transport/HttpSseClient.ts"
export { layer as layerClient, type Options as ClientOptions } from "../transport/StreamableHttpClient.ts"

/** Options of every way to serve. */
export interface Options extends Core.Options {
  /** Where the endpoint is. Default `/mcp`. */
  readonly path?: `/${string}` | undefined
}

/** The transport-neutral heart of every host: requests in, responses out. */
export const make = <R>(
  server: McpServer<R>,
  options: Core.Options = {}
): Effect.Effect<Core.StreamableHttpServer, never, R | Scope.Scope> =>
  Effect.gen(function* () {
    const runtime = yield* ServerRuntime.make(server)
    const http = yield* Core.make(endpointOf(runtime), options)
    yield* Shutdown.register(http.close)
    return http
  })

const endpointOf = <R>(runtime: ServerRuntime.ServerRuntime<R>): Endpoint => {
  const versions = (era: "legacy" | "modern") =>
    runtime.revisions.filter((revision) => revision.era === era).map((revision) => revision.version)
  const { limits } = runtime.server
  const admission = new Admission(limits)
  return {
    modern: versions("modern"),
    legacy: versions("legacy"),
    answer: (request, outlet, observer) => {
      const admitted = admission.admit(request, outlet.principal)
      const isRefused = admitted instanceof McpError
      const work = isRefused ? refuse(runtime, admitted) : ModernRequest.answer(runtime, request, outlet)
      const tower = isRefused || admitted === undefined ? observer : telling(observer, admitted)
      const flight = new Flight(request, outlet, work, tower)
      flight.start()
      return flight
    },
    closing: runtime.close,
    closingWithin: limits.closing,
    handshakeWithin: limits.handshake,
    open: (outlet, sharedIds) => ServerPeer.open(runtime, outlet, { sharedIds })
  }
}

/** An observer, and beside it whoever else has to know when everything is done. */
const telling = (observer: Observer, over: () => void): Observer => ({
  unread: () => observer.unread(),
  landed: () => {
    over()
    observer.landed()
  }
})

/**
 * Adds the endpoint to an `HttpRouter` application. Pipe what serves the application through `Shutdown.graceful`, so that
 * open streams end when it is shut down and don't hold it up.
 *
 * @example
 * ```ts
 * import { Effect, Layer } from "effect"
 * import { HttpRouter } from "effect/http"
 * import { McpServer, Shutdown, StreamableHttp, Tool } from "mcp-effect"
 *
 * const server = McpServer.make({
 *   name: "demo",
 *   version: "1.0.0",
 *   tools: [Tool.handle(Tool.make("ping"), () => Effect.succeed("pong"))]
 * })
 *
 * const routes = Layer.mergeAll(StreamableHttp.layerRoute(server, { path: "/mcp" }))
 * const app = HttpRouter.serve(routes).pipe(Shutdown.graceful)
 * ```
 */
export const layerRoute = <R>(
  server: McpServer<R>,
  options: Options = {}
): Layer.Layer<never, never, HttpRouter.HttpRouter | Exclude<R, Scope.Scope>> =>
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const http = yield* make(server, options)
      const handler = (request: HttpServerRequest.HttpServerRequest) => HttpRoute.handle(http, request)
      const path = options.path ?? "/mcp"
      yield* router.add("*", path, handler)
      // With and without the last slash, and no redirect that would lose a body (BUG-51). Most routers see to it.
      const { ignoreTrailingSlash = true } = yield* HttpRouter.RouterConfig
      if (!ignoreTrailingSlash && !path.endsWith("/")) yield* router.add("*", `${path}/`, handler)
      for (const other of http.paths) if (other !== path) yield* router.add("*", other, handler)
    })
  )

/** A server as a fetch handler, and how to end it. */
export interface WebHandler {
  /** Answers a request; with status 500 when something is wrong on this side. */
  readonly handler: (request: Request) => Promise<Response>
  /** Ends sessions and streams. */
  readonly dispose: () => Promise<void>
}

/**
 * Makes a fetch handler, for Deno, Bun, workers and every framework that speaks `Request` and `Response`. It answers
 * to every path that it is called for.
 *
 * @example
 * ```ts
 * import { Context } from "effect"
 * import { McpServer, StreamableHttp } from "mcp-effect"
 *
 * const server = McpServer.make({ name: "demo", version: "1.0.0" })
 * const { handler } = StreamableHttp.toWebHandler(server, Context.empty())
 * export default { fetch: handler }
 * ```
 */
export const toWebHandler = <R>(
  server: McpServer<R>,
  services: Context.Context<R>,
  options: Core.Options = {}
): WebHandler => {
  const scope = Scope.makeUnsafe()
  const starting = Effect.runPromise(
    Effect.provideContext(
      Scope.provide(make(server, options), scope),
      services
    ) as Effect.Effect<Core.StreamableHttpServer>
  )
  return {
    handler: async (request) => {
      const http = await starting
      const fiber = Effect.runForkWith(services)(Effect.flatMap(http.handle(fromWeb(request)), toWeb))
      const leave = () => fiber.interruptUnsafe()
      request.signal.addEventListener("abort", leave, { once: true })
      const exit = await Effect.runPromise(Fiber.await(fiber))
      if (Exit.isSuccess(exit)) return exit.value
      // Interrupted: the client is gone, and nobody reads this. Anything else is a fault of this side.
      return new Response(undefined, { status: Cause.hasInterruptsOnly(exit.cause) ? 499 : 500 })
    },
    dispose: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

const fromWeb = (request: Request): HttpRequest => ({
  method: request.method,
  url: request.url,
  headers: Object.fromEntries(request.headers),
  body: (maximumBytes) =>
    request.body === null
      ? Effect.succeed(new Uint8Array(0))
      : collect(
          Stream.fromReadableStream({
            evaluate: () => request.body as ReadableStream<Uint8Array>,
            onError: unreadable
          }),
          maximumBytes
        )
})

const toWeb = ({ body, headers, status }: HttpResponse): Effect.Effect<Response> => {
  if (!(body instanceof EventStream)) return Effect.succeed(new Response(body ?? null, { status, headers }))
  const whole = body.whole()
  if (whole !== undefined) return Effect.succeed(new Response(whole, { status, headers }))
  return Effect.map(
    Stream.toReadableStreamEffect(Stream.encodeText(body.text)),
    (stream) => new Response(stream, { status, headers })
  )
}
