/** mcp-effect over standard input and output. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Layer from "effect/Layer"
import * as Stdio from "../../../dist/node/Stdio.js"
import * as McpServer from "../../../dist/server/McpServer.js"
import { server } from "./server.ts"

McpServer.layer(server).pipe(Layer.provide(Stdio.layerServer), Layer.launch, NodeRuntime.runMain)
