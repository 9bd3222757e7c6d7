/** `effect/ai` as a route of an `HttpRouter` application, the way it serves HTTP. */
import * as Http from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer } from "effect"
import { McpServer } from "effect/ai"
import { HttpRouter, HttpServer } from "effect/http"
import { announce } from "../echo.ts"
import { options } from "./server.ts"

const route = McpServer.layerHttp({ ...options, path: "/mcp", allowSessionTermination: true })

const listening = Layer.effectDiscard(
  Effect.map(HttpServer.HttpServer, ({ address }) => {
    if ("port" in address) announce(address.port)
  })
)

// Announced when everything is there, or a request could come too early.
listening.pipe(
  Layer.provide(HttpRouter.serve(route, { disableLogger: true, disableListenLog: true })),
  Layer.provide(NodeHttpServer.layer(Http.createServer, { port: 0, host: "127.0.0.1" })),
  Layer.launch,
  NodeRuntime.runMain
)
