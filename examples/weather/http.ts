/** Inside an HTTP application: the same server value as one route among others, for clients of every revision at once. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Shutdown, StreamableHttp } from "mcp-effect"
import { createServer } from "node:http"
import { Stations } from "./Stations.ts"
import { weather } from "./weather.ts"

const appRoutes = HttpRouter.add("GET", "/health", Effect.succeed(HttpServerResponse.text("fine")))

HttpRouter.serve(Layer.mergeAll(appRoutes, StreamableHttp.layerRoute(weather, { path: "/mcp" }))).pipe(
  Shutdown.graceful,
  Layer.provide(Stations.layer),
  Layer.provide(NodeHttpServer.layer(createServer, { port: Number(process.env.PORT ?? 3000), host: "127.0.0.1" })),
  Layer.launch,
  NodeRuntime.runMain
)
