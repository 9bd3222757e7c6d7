/**
 * The three ways to serve over HTTP, each started on a free port or without any.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Effect, Fiber, Layer, type Scope } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { TestClock } from "effect/testing"
import { StreamableHttp } from "mcp-effect/node"
import { createServer } from "node:http"
import type { McpServer } from "../../src/server/McpServer.ts"
import type { Send } from "./RawHttp.ts"

/** A running server. */
export interface Running {
  readonly url: string
  readonly send: Send
}

/** A way to serve. */
export interface HttpHost {
  readonly name: string
  /** Starts a server that runs as long as the scope. */
  readonly start: (
    server: McpServer<never>,
    options?: StreamableHttp.Options
  ) => Effect.Effect<Running, never, Scope.Scope>
}

/** `node:http` directly. */
export const node: HttpHost = {
  name: "layerNode",
  start: (server, options) =>
    Layer.build(StreamableHttp.layerNode(server, { port: 0, ...options })).pipe(
      Effect.map((context) => ({
        url: Context.get(context, StreamableHttp.Listening).url,
        send: (request: Request) => fetch(request)
      })),
      Effect.orDie
    )
}

const route: HttpHost = {
  name: "layerRoute",
  start: (server, options) =>
    Layer.build(
      HttpRouter.serve(StreamableHttp.layerRoute(server, options), {
        disableListenLog: true,
        disableLogger: true
      }).pipe(Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })))
    ).pipe(
      Effect.map((context) => {
        const { address } = Context.get(context, HttpServer.HttpServer)
        const port = "port" in address ? address.port : 0
        return { url: `http://127.0.0.1:${port}${options?.path ?? "/mcp"}`, send: (request: Request) => fetch(request) }
      }),
      Effect.orDie
    )
}

/** A fetch handler, without a socket. */
export const web: HttpHost = {
  name: "toWebHandler",
  start: (server, options) =>
    Effect.gen(function* () {
      const services = yield* Effect.context<never>()
      const { dispose, handler } = StreamableHttp.toWebHandler(server, services, options)
      yield* Effect.addFinalizer(() => Effect.promise(dispose))
      return { url: `http://127.0.0.1${options?.path ?? "/mcp"}`, send: handler }
    })
}

/**
 * Lets virtual time pass while the scope closes, for tests that leave work behind: a server gives it time to end. To be
 * called after the server was started.
 */
export const impatient: Effect.Effect<void, never, Scope.Scope> = Effect.addFinalizer(() =>
  Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5))).pipe(
    Effect.andThen(TestClock.adjust("10 seconds")),
    Effect.repeat({ times: 20 }),
    Effect.forkDetach
  )
)

/** Waits for a fiber while virtual time passes: idle connections are hung up on after a while, not at once. */
export const joinInTime = <A, E>(fiber: Fiber.Fiber<A, E>): Effect.Effect<A, E> =>
  Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5))).pipe(
    Effect.andThen(TestClock.adjust("1 second")),
    Effect.repeat({ until: () => fiber.pollUnsafe() !== undefined }),
    Effect.andThen(Fiber.join(fiber))
  )

/** All of them. */
export const hosts: ReadonlyArray<HttpHost> = [node, route, web]
