/**
 * The server under flood: one tool that gives back what it is given, on the transport that the first argument names.
 * Where it listens on a port, the port is what it prints.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { McpServer, Shutdown, Tool } from "mcp-effect"
import { Socket, Stdio, StreamableHttp } from "mcp-effect/node"
import { createServer } from "node:http"

const Echo = Tool.make("echo", { input: Schema.Struct({ text: Schema.String }) })

const server = McpServer.make({
  name: "flooded",
  version: "1.0.0",
  tools: [Tool.handle(Echo, ({ text }) => Effect.succeed(text))]
})

const quiet = { disableListenLog: true, disableLogger: true }

const transports: { readonly [name: string]: Layer.Layer<never, unknown> } = {
  stdio: McpServer.layer(server).pipe(Layer.provide(Stdio.layerServer)),
  tcp: Layer.effectDiscard(Effect.flatMap(Socket.Listening, ({ port }) => Console.log(port))).pipe(
    Layer.merge(McpServer.layer(server)),
    Layer.provide(Socket.layerServerTcp({ port: 0 }))
  ),
  http: Layer.effectDiscard(Effect.flatMap(StreamableHttp.Listening, ({ port }) => Console.log(port))).pipe(
    Layer.provide(StreamableHttp.layerNode(server, { port: 0 }))
  ),
  route: Layer.effectDiscard(
    Effect.flatMap(HttpServer.HttpServer, ({ address }) => Console.log("port" in address ? address.port : 0))
  ).pipe(
    Layer.merge(HttpRouter.serve(StreamableHttp.layerRoute(server), quiet).pipe(Shutdown.graceful)),
    Layer.provide(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
  )
}

const transport = transports[process.argv[2] ?? ""]
if (transport === undefined) throw new Error(`Name a transport: ${Object.keys(transports).join(", ")}`)
transport.pipe(Layer.launch, NodeRuntime.runMain)
