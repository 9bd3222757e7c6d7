/**
 * Every transport, held against the laws of transports.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { InMemory } from "mcp-effect"
import { Socket, WebSocket } from "mcp-effect/node"
import { TransportLaws } from "mcp-effect/testing"
import * as FileSystem from "node:fs"
import { createServer } from "node:http"
import * as Net from "node:net"
import * as OperatingSystem from "node:os"
import * as Path from "node:path"
import * as HttpLaws from "./HttpLaws.ts"
import * as StdioLaws from "./StdioLaws.ts"

const runner = { describe, test: it.live }

TransportLaws.suite(runner, "in memory", InMemory.layer)

const openSocket = (options: Net.NetConnectOpts) =>
  Effect.acquireRelease(
    Effect.callback<Net.Socket>((resume) => {
      const socket = Net.connect(options, () => resume(Effect.succeed(socket)))
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )

const rawLines = (options: Net.NetConnectOpts) =>
  Effect.map(openSocket(options), (socket) => (text: string) => Effect.sync(() => void socket.write(`${text}\n`)))

const tcp = Layer.unwrap(Effect.map(Socket.Listening, ({ port }) => Socket.layerClientTcp({ port }))).pipe(
  Layer.provideMerge(Socket.layerServerTcp({ port: 0 }))
)

TransportLaws.suite(runner, "TCP", tcp, {
  raw: Effect.flatMap(Socket.Listening, ({ port }) => rawLines({ port, host: "127.0.0.1" }))
})

const directory = FileSystem.mkdtempSync(Path.join(OperatingSystem.tmpdir(), "laws-"))
const path = Path.join(directory, "mcp.sock")

TransportLaws.suite(
  runner,
  "Unix domain socket",
  Socket.layerClientUnix({ path }).pipe(Layer.provideMerge(Socket.layerServerUnix({ path }))),
  { raw: rawLines({ path }) }
)

const webSocketUrl = Effect.map(
  HttpServer.HttpServer,
  ({ address }) => `ws://127.0.0.1:${"port" in address ? address.port : 0}/mcp`
)

const webSocket = Layer.unwrap(Effect.map(webSocketUrl, (url) => WebSocket.layerClient({ url }))).pipe(
  Layer.provideMerge(
    HttpRouter.serve(Layer.empty, { disableListenLog: true, disableLogger: true }).pipe(
      Layer.provideMerge(WebSocket.layerServer()),
      Layer.provideMerge(HttpRouter.layer),
      Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
    )
  )
)

TransportLaws.suite(runner, "WebSocket", webSocket, {
  raw: Effect.flatMap(webSocketUrl, (url) =>
    Effect.map(
      Effect.acquireRelease(
        Effect.callback<globalThis.WebSocket>((resume) => {
          const socket = new globalThis.WebSocket(url, "mcp")
          socket.addEventListener("open", () => resume(Effect.succeed(socket)))
        }),
        (socket) => Effect.sync(() => socket.close())
      ),
      (socket) => (text: string) => Effect.sync(() => socket.send(text))
    )
  )
})

TransportLaws.suite(runner, "stdio", StdioLaws.layer)

const onlyAtShutdown = "a server ends a session only when it shuts down, and then it refuses the next"

TransportLaws.suite(runner, "Streamable HTTP, with sessions", HttpLaws.streamable, {
  omit: { "server hangs up": onlyAtShutdown }
})

TransportLaws.suite(runner, "HTTP+SSE", HttpLaws.sse, {
  omit: { "server hangs up": onlyAtShutdown },
  raw: Effect.gen(function* () {
    const url = yield* HttpLaws.sseUrl
    const controller = new AbortController()
    yield* Effect.addFinalizer(() => Effect.sync(() => controller.abort()))
    const stream = yield* Effect.promise(() =>
      fetch(url, { headers: { accept: "text/event-stream" }, signal: controller.signal })
    )
    const { value } = yield* Effect.promise(() => stream.body!.pipeThrough(new TextDecoderStream()).getReader().read())
    const messages = new URL(/data: (.*)/.exec(value!)![1]!, url)
    const headers = { "content-type": "application/json" }
    return (body: string) => Effect.promise(() => fetch(messages, { method: "POST", headers, body }))
  }).pipe(Effect.map((send) => (text: string) => Effect.asVoid(send(text))))
})
