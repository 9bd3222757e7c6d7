/** Starts the server and calls its tool. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect } from "effect"
import { McpClient } from "mcp-effect"
import { Stdio } from "mcp-effect/node"
import { Greet } from "./greet.ts"

const program = Effect.gen(function* () {
  const client = yield* McpClient.McpClient
  const { greeting } = yield* client.call(Greet, { name: "Ada" })
  yield* Console.log(greeting)
})

program.pipe(
  Effect.provide(McpClient.layer({ name: "hello-client", version: "1.0.0" })),
  Effect.provide(Stdio.layerClient({ command: "node", args: [`${import.meta.dirname}/server.ts`] })),
  NodeRuntime.runMain
)
