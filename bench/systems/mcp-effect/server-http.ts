/** mcp-effect on `node:http` directly. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as StreamableHttp from "../../../dist/node/StreamableHttp.js"
import { announce } from "../echo.ts"
import { server } from "./server.ts"

Layer.effectDiscard(Effect.map(StreamableHttp.Listening, ({ port }) => announce(port))).pipe(
  Layer.provide(StreamableHttp.layerNode(server, { port: 0, maximumSessions: 20_000 })),
  Layer.launch,
  NodeRuntime.runMain
)
