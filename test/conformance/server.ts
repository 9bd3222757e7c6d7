/**
 * Serves what the official conformance suite expects, and prints the URL.
 *
 *     node test/conformance/server.ts --port 3000
 */
import { parseArgs } from "node:util"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Layer } from "effect"
import { StreamableHttp } from "mcp-effect/node"
import { makeServer } from "./fixtures/everything.ts"

const { values } = parseArgs({ options: { port: { type: "string", default: "0" } } })

const serving = Layer.unwrap(
  Effect.map(makeServer, (server) =>
    StreamableHttp.layerNode(server, { port: Number(values.port), retry: "500 millis" })
  )
)

StreamableHttp.Listening.pipe(
  Effect.flatMap(({ url }) => Console.log(url)),
  Effect.andThen(Effect.never),
  Effect.provide(serving),
  NodeRuntime.runMain
)
