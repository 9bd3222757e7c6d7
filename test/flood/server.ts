/**
 * The server under flood: one tool that gives back what it is given, on the transport that the first argument names.
 * Where it listens on a port, the port is what it prints.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as McpServer from "mcp-effect/McpServer"
import * as Tool from "mcp-effect/Tool"
import { createServer } from "node:http"

const Echo = Tool.make("echo", { input: Schema.Struct({ text: Schema.String }) })

const server = McpServer.make({
  name: "flooded",
  version: "1.0.0",
  tools: [Tool.handle(Echo, ({ text }) => Effect.succeed(text))]
})

// Each with the modules that it needs: what is resident is measured.
const transports: { readonly [name: string]: () => Promise<Layer.Layer<never, unknown>> } = {
  stdio: async () => {
    const Stdio = await import("mcp-effect/node/Stdio")
    return McpServer.layer(server).pipe(Layer.provide(Stdio.layerServer))
  },
  tcp: async () => {
    const Socket = await import("mcp-effect/node/Socket")
    return Layer.effectDiscard(Effect.flatMap(Socket.Listening, ({ port }) => Console.log(port))).pipe(
      Layer.merge(McpServer.layer(server)),
      Layer.provide(Socket.layerServerTcp({ port: 0 }))
    )
  },
  http: async () => {
    const StreamableHttp = await import("mcp-effect/node/StreamableHttp")
    return Layer.effectDiscard(Effect.flatMap(StreamableHttp.Listening, ({ port }) => Console.log(port))).pipe(
      Layer.provide(StreamableHttp.layerNode(server, { port: 0 }))
    )
  },
  route: async () => {
    const NodeHttpServer = await import("@effect/platform-node/NodeHttpServer")
    const HttpRouter = await import("effect/http/HttpRouter")
    const HttpServer = await import("effect/http/HttpServer")
    const Shutdown = await import("mcp-effect/Shutdown")
    const StreamableHttp = await import("mcp-effect/StreamableHttp")
    const quiet = { disableListenLog: true, disableLogger: true }
    return Layer.effectDiscard(
      Effect.flatMap(HttpServer.HttpServer, ({ address }) => Console.log("port" in address ? address.port : 0))
    ).pipe(
      Layer.merge(HttpRouter.serve(StreamableHttp.layerRoute(server), quiet).pipe(Shutdown.graceful)),
      Layer.provide(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
    )
  }
}

const transport = transports[process.argv[2] ?? ""]
if (transport === undefined) throw new Error(`Name a transport: ${Object.keys(transports).join(", ")}`)
;(await transport()).pipe(Layer.launch, NodeRuntime.runMain)
