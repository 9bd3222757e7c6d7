/** mcp-effect as a route of an `HttpRouter` application, on Effect's own Node server. */
import * as Http from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { StreamableHttp } from "../../../dist/index.js"
import { announce } from "../echo.ts"
import { server } from "./server.ts"

const route = StreamableHttp.layerRoute(server, {
  path: "/mcp",
  maximumSessions: 20_000
})

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
