/**
 * Serving over WebSocket: as a route of an `HttpRouter` application, next to Streamable HTTP or alone. The client's side
 * is `layerClient`; the one for Node is in `mcp-effect/node`.
 */
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as HttpRouter from "effect/http/HttpRouter"
import * as WebSocketRoute from "../transport/WebSocketRoute.ts"
import * as McpServer from "./McpServer.ts"

export { layerClient, subprotocol, type ClientOptions, type Options } from "../transport/WebSocket.ts"
export { layer as layerServer, type Options as RouteOptions } from "../transport/WebSocketRoute.ts"

/**
 * Adds a WebSocket endpoint to an `HttpRouter` application. The same path may not be another route's; give Streamable
 * HTTP one of its own.
 *
 * @example
 * ```ts
 * import { Layer } from "effect"
 * import { HttpRouter } from "effect/http"
 * import { McpServer, StreamableHttp, WebSocket } from "mcp-effect"
 *
 * const server = McpServer.make({ name: "demo", version: "1.0.0" })
 *
 * const app = HttpRouter.serve(
 *   Layer.mergeAll(
 *     StreamableHttp.layerRoute(server, { path: "/mcp" }),
 *     WebSocket.layerRoute(server, { path: "/mcp/socket" })
 *   )
 * )
 * ```
 */
export const layerRoute = <R>(
  server: McpServer.McpServer<R>,
  options: WebSocketRoute.Options = {}
): Layer.Layer<never, never, HttpRouter.HttpRouter | Exclude<R, Scope.Scope>> =>
  McpServer.layer(server).pipe(
    Layer.provide(WebSocketRoute.layer(options)),
    // Nothing here listens by itself, so nothing can fail to.
    Layer.orDie
  ) as Layer.Layer<never, never, HttpRouter.HttpRouter | Exclude<R, Scope.Scope>>
