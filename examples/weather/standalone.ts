/** Over HTTP with nothing else around: the fast way. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect } from "effect"
import { StreamableHttp } from "mcp-effect/node"
import { Stations } from "./Stations.ts"
import { weather } from "./weather.ts"

Effect.flatMap(StreamableHttp.Listening, ({ url }) => Console.log(url)).pipe(
  Effect.andThen(Effect.never),
  Effect.provide(StreamableHttp.layerNode(weather, { port: Number(process.env.PORT ?? 3000) })),
  Effect.provide(Stations.layer),
  NodeRuntime.runMain
)
