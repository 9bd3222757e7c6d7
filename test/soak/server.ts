/**
 * The server that is soaked: a bit of everything that calls can be, and a tool that tells what the process holds.
 *
 *     node --expose-gc test/soak/server.ts stdio
 *     node --expose-gc test/soak/server.ts http       prints its port
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Layer, Logger, Schedule, Schema, Stream } from "effect"
import { McpServer, Peer, Progress, Resource, Tool } from "mcp-effect"
import { Stdio, StreamableHttp } from "mcp-effect/node"
import { countUnhandled, takeCensus, unhandled } from "./Census.ts"
import * as Tools from "./Tools.ts"

countUnhandled()

const soaked = McpServer.make({
  name: "soaked",
  version: "1.0.0",
  tools: [
    Tool.handle(Tools.Echo, ({ text }) => Effect.succeed(text)),

    Tool.handle(
      Tools.Slow,
      Effect.fnUntraced(function* ({ steps, text }) {
        for (let step = 1; step <= steps; step++) {
          yield* Progress.report({ progress: step, total: steps })
          yield* Effect.sleep("20 millis")
        }
        return text
      })
    ),

    Tool.handle(Tools.Large, ({ length, letter }) => Effect.succeed(letter.repeat(length))),

    Tool.handle(
      Tools.Ask,
      Effect.fnUntraced(function* ({ question }) {
        const answer = yield* Peer.elicit({ message: question, schema: Schema.Struct({ name: Schema.String }) })
        return answer._tag === "Accept" ? `Hello, ${answer.value.name}` : answer._tag
      })
    ),

    Tool.handle(Tools.Refuse, ({ why }) => Effect.fail(new Tools.Refused({ why }))),

    Tool.handle(Tools.Measure, () => Effect.promise(takeCensus))
  ],
  resources: [
    Resource.make(
      "soak://tick",
      { name: "tick", changes: Stream.fromSchedule(Schedule.spaced("200 millis")) },
      Effect.succeed("tock")
    )
  ]
})

/** Whatever the server itself calls an error is one that a peer has brought about, and should not have been able to. */
const logger = Logger.make(({ cause, logLevel, message }) => {
  if (logLevel !== "Error" && logLevel !== "Fatal") return
  unhandled.count++
  process.stderr.write(`${logLevel}: ${JSON.stringify(message)} ${String(cause)}\n`)
})

const http = Layer.effectDiscard(Effect.flatMap(StreamableHttp.Listening, ({ port }) => Console.log(port))).pipe(
  Layer.provide(StreamableHttp.layerNode(soaked, { port: 0, sessionIdle: "20 seconds" }))
)

const stdio = McpServer.layer(soaked).pipe(Layer.provide(Stdio.layerServer))

const served: Layer.Layer<never, unknown> = process.argv[2] === "http" ? http : stdio

served.pipe(Layer.provide(Logger.layer([logger])), Layer.launch, NodeRuntime.runMain)
