/** `effect/ai` over standard input and output. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeStdio from "@effect/platform-node/NodeStdio"
import { Layer } from "effect"
import { McpServer } from "effect/ai"
import { options } from "./server.ts"

const server = McpServer.layerStdio(options).pipe(Layer.provide(NodeStdio.layer))

Layer.launch(server).pipe(NodeRuntime.runMain)
