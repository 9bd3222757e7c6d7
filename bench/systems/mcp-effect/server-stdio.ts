/** mcp-effect over standard input and output. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Layer } from "effect"
import { McpServer } from "../../../dist/index.js"
import { Stdio } from "../../../dist/node/index.js"
import { server } from "./server.ts"

McpServer.layer(server).pipe(Layer.provide(Stdio.layerServer), Layer.launch, NodeRuntime.runMain)
