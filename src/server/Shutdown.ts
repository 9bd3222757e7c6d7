/**
 * Shutting down a larger application: its endpoints end their streams and calls first, and what carries them stops after
 * that.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"

/** Where endpoints leave what closes them. */
class Endpoints extends Context.Service<Endpoints, Set<Effect.Effect<void>>>()(
  "mcp-effect/server/Shutdown/Endpoints"
) {}

/**
 * Has an endpoint closed before the application that it is part of, if that is {@link graceful}. The effect is one that
 * does its work once, however often it is run.
 *
 * @internal
 */
export const register = (close: Effect.Effect<void>): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const endpoints = Option.getOrUndefined(yield* Effect.serviceOption(Endpoints))
    if (endpoints === undefined) return
    endpoints.add(close)
    yield* Effect.addFinalizer(() => Effect.sync(() => endpoints.delete(close)))
  })

/**
 * Has an `HttpRouter` application close its MCP endpoints before anything else of it: they say that they are not ready,
 * take no new calls, give those under way their `gracePeriod`, and end every stream in the way that its revision asks.
 * Without this the HTTP server of the platform is closed first, and waits for open streams, which nobody ends: 20 seconds
 * by default with `NodeHttpServer`, then it cuts them off.
 *
 * @example
 * ```ts
 * import { HttpRouter } from "effect/http"
 * import { McpServer, Shutdown, StreamableHttp } from "mcp-effect"
 *
 * const server = McpServer.make({ name: "demo", version: "1.0.0" })
 *
 * const app = HttpRouter.serve(StreamableHttp.layerRoute(server)).pipe(Shutdown.graceful)
 * ```
 */
export const graceful = <A, E, R>(app: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
  Layer.unwrap(
    Effect.sync(() => {
      const endpoints = new Set<Effect.Effect<void>>()
      const closeAll = Effect.suspend(() =>
        Effect.forEach([...endpoints], (close) => close, { concurrency: "unbounded", discard: true })
      )
      // The last finalizer of a scope is the first to run.
      const ordered = Layer.tap(app, () => Effect.addFinalizer(() => closeAll))
      return Layer.provide(ordered, Layer.succeed(Endpoints, endpoints)) as Layer.Layer<A, E, R>
    })
  )
