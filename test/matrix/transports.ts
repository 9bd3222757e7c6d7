/**
 * Every way from a client to the server of the matrix. Each time a way is gone, it leads to a server of its own.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer } from "effect"
import { FetchHttpClient, HttpRouter, HttpServer } from "effect/http"
import { InMemory, McpServer, StreamableHttp as Neutral, type Transport } from "mcp-effect"
import { Socket, Stdio, StreamableHttp, WebSocket } from "mcp-effect/node"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Scenario } from "./scenarios.ts"
import { makeServer } from "./server.ts"

/** A way from client to server, in the revisions that have it. */
export interface Way extends Pick<Scenario, "since" | "until"> {
  readonly name: string
  readonly layer: Layer.Layer<Transport.ClientTransport, unknown>
}

/** Options of {@link ways}. */
export interface Options {
  /** Flags for the Node that runs the server as a program. */
  readonly nodeFlags?: ReadonlyArray<string>
}

type Server = McpServer.McpServer<never>
type ToServer = Layer.Layer<Transport.ClientTransport, unknown>

const toServer = (way: (server: Server) => ToServer): ToServer => Layer.unwrap(Effect.map(makeServer, way))

const memory = (server: Server): ToServer => McpServer.layer(server).pipe(Layer.provideMerge(InMemory.layer))

const nodeHttp = (server: Server): ToServer =>
  Layer.unwrap(Effect.map(StreamableHttp.Listening, ({ url }) => StreamableHttp.layerClient({ url }))).pipe(
    Layer.provide(StreamableHttp.layerNode(server, { port: 0 }))
  )

/** The client looks for the old transport only. */
const sseOnly = (server: Server): ToServer =>
  Layer.unwrap(
    Effect.map(StreamableHttp.Listening, ({ port }) =>
      StreamableHttp.layerClientSse({ url: `http://127.0.0.1:${port}/sse` })
    )
  ).pipe(Layer.provide(StreamableHttp.layerNode(server, { port: 0, sse: {} })))

/** A route of an application on a free port, and a client that is told the port. */
const routed = (
  route: Layer.Layer<never, unknown, HttpRouter.HttpRouter>,
  client: (port: number) => ToServer
): ToServer => {
  const listening = NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })
  const application = HttpRouter.serve(route, { disableListenLog: true, disableLogger: true })
  const toPort = Effect.map(HttpServer.HttpServer, ({ address }) => client("port" in address ? address.port : 0))
  return Layer.unwrap(toPort).pipe(Layer.provide(Layer.provideMerge(application, listening)))
}

const httpRouter = (server: Server): ToServer =>
  routed(StreamableHttp.layerRoute(server, { path: "/mcp" }), (port) =>
    StreamableHttp.layerClient({ url: `http://127.0.0.1:${port}/mcp` })
  )

/** The client finds out that there is only the old transport where it was sent to. */
const sseByFallback = (server: Server): ToServer =>
  routed(StreamableHttp.layerRoute(server, { path: "/mcp", sse: {} }), (port) =>
    StreamableHttp.layerClient({ url: `http://127.0.0.1:${port}/sse` })
  )

const webSocket = (server: Server): ToServer =>
  routed(WebSocket.layerRoute(server, { path: "/mcp" }), (port) =>
    WebSocket.layerClient({ url: `ws://127.0.0.1:${port}/mcp` })
  )

const fetchHandler = (server: Server): ToServer =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { dispose, handler } = StreamableHttp.toWebHandler(server, yield* Effect.context<never>())
      yield* Effect.addFinalizer(() => Effect.promise(dispose))
      const fetch: typeof globalThis.fetch = (input, init) => handler(new Request(input, init))
      return Neutral.layerClient({ url: "http://127.0.0.1/mcp" }).pipe(
        Layer.provide(FetchHttpClient.layer),
        Layer.provide(Layer.succeed(FetchHttpClient.Fetch, fetch))
      )
    })
  )

const tcp = (server: Server): ToServer =>
  Layer.unwrap(Effect.map(Socket.Listening, ({ port }) => Socket.layerClientTcp({ port }))).pipe(
    Layer.provide(McpServer.layer(server).pipe(Layer.provideMerge(Socket.layerServerTcp({ port: 0 }))))
  )

const temporaryDirectory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "mcp-effect-matrix-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

const unix = (server: Server): ToServer =>
  Layer.unwrap(
    Effect.map(temporaryDirectory, (directory) => {
      const path = join(directory, "socket")
      return Socket.layerClientUnix({ path }).pipe(
        Layer.provideMerge(McpServer.layer(server).pipe(Layer.provide(Socket.layerServerUnix({ path }))))
      )
    })
  )

/** The ways. */
export const ways = ({ nodeFlags = [] }: Options = {}): ReadonlyArray<Way> => [
  { name: "in memory", layer: toServer(memory) },
  {
    name: "stdio",
    layer: Stdio.layerClient({
      command: process.execPath,
      args: [...nodeFlags, fileURLToPath(new URL("./child.ts", import.meta.url))]
    })
  },
  { name: "Streamable HTTP, node:http", since: "2025-03-26", layer: toServer(nodeHttp) },
  { name: "Streamable HTTP, HttpRouter", since: "2025-03-26", layer: toServer(httpRouter) },
  { name: "Streamable HTTP, fetch", since: "2025-03-26", layer: toServer(fetchHandler) },
  // Replaced in 2025-03-26, but those who could not change yet speak it with every revision that has sessions.
  { name: "HTTP+SSE, node:http", until: "2025-11-25", layer: toServer(sseOnly) },
  { name: "HTTP+SSE, HttpRouter", until: "2025-11-25", layer: toServer(sseByFallback) },
  { name: "TCP socket", layer: toServer(tcp) },
  { name: "Unix socket", layer: toServer(unix) },
  { name: "WebSocket", layer: toServer(webSocket) }
]
