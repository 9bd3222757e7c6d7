/** On standard input and output, for whoever starts this program. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Layer } from "effect"
import { McpServer } from "mcp-effect"
import { Stdio } from "mcp-effect/node"
import { Stations } from "./Stations.ts"
import { weather } from "./weather.ts"

McpServer.layer(weather).pipe(
  Layer.provide(Stations.layer),
  Layer.provide(Stdio.layerServer), // last: from here on, standard output belongs to the protocol
  Layer.launch,
  NodeRuntime.runMain
)
