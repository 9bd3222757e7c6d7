/** `effect/ai` over standard input and output. */
import { NodeRuntime, NodeStdio } from "@effect/platform-node"
import { Layer } from "effect"
import { McpServer } from "effect/ai"
import { options } from "./server.ts"

const server = McpServer.layerStdio(options).pipe(Layer.provide(NodeStdio.layer))

Layer.launch(server).pipe(NodeRuntime.runMain)
