/**
 * The server of the matrix as a program, for stdio.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer } from "effect"
import { McpServer } from "mcp-effect"
import { Stdio } from "mcp-effect/node"
import { makeServer } from "./server.ts"

Layer.unwrap(Effect.map(makeServer, McpServer.layer)).pipe(
  Layer.provide(Stdio.layerServer),
  Layer.launch,
  NodeRuntime.runMain
)
