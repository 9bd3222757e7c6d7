/** Serves it to the program that starts this one, over standard input and output. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Layer } from "effect"
import { McpServer } from "mcp-effect"
import { Stdio } from "mcp-effect/node"
import { hello } from "./hello.ts"

McpServer.layer(hello).pipe(Layer.provide(Stdio.layerServer), Layer.launch, NodeRuntime.runMain)
