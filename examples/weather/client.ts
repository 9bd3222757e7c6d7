/** Typed from the same tool: the input is checked, the output decoded, the declared failure in the error channel. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Stream } from "effect"
import { McpClient } from "mcp-effect"
import { Stdio } from "mcp-effect/node"
import { Forecast } from "./forecast.ts"

const program = Effect.gen(function* () {
  const client = yield* McpClient.McpClient
  yield* Console.log(`${client.server.info?.name} speaks ${client.server.revision}`)

  const tokyo = { latitude: 35.6, longitude: 139.7 }
  const forecast = yield* client.call(Forecast, tokyo)
  yield* Console.log(`Tokyo: ${forecast.summary}, ${forecast.celsius} °C`)

  yield* Stream.runForEach(client.stream(Forecast, tokyo), (event) => Console.log(event)) // progress, logs, the result

  const pole = client.call(Forecast, { latitude: 90, longitude: 0 })
  yield* Effect.catchTag(pole, "NoStation", ({ latitude }) => Console.log(`No station at ${latitude}°`))

  const foreign = yield* client.callTool("get-forecast", tokyo) // a tool that there is no type for
  yield* Console.log(foreign.structuredContent)
})

program.pipe(
  Effect.provide(McpClient.layer({ name: "demo", version: "1.0.0" })),
  Effect.provide(Stdio.layerClient({ command: "node", args: [`${import.meta.dirname}/server.ts`] })),
  NodeRuntime.runMain
)
