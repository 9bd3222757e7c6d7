/**
 * MCP over WebSocket, on the wire: a route of an `HttpRouter`, and the client.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { WebSocket as RawSocket, WebSocketServer } from "@effect/platform-node/NodeWS"
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Queue, Scope } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { CallContext, McpClient, McpServer, StreamableHttp, Tool, Transport } from "mcp-effect"
import { WebSocket } from "mcp-effect/node"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { demo } from "../support/Demo.ts"
import { Gate } from "../support/Gate.ts"

// By itself the host gives connections 20 seconds to end.
const listening = { port: 0, host: "127.0.0.1", gracefulShutdownTimeout: 0 }

const serve = <R>(
  server: McpServer.McpServer<R>,
  options: WebSocket.RouteOptions = {},
  more: Layer.Layer<never, never, HttpRouter.HttpRouter> = Layer.empty
) =>
  Layer.build(
    HttpRouter.serve(Layer.merge(WebSocket.layerRoute(server, options), more), {
      disableListenLog: true,
      disableLogger: true
    }).pipe(Layer.provideMerge(NodeHttpServer.layer(createServer, listening)))
  ).pipe(
    Effect.map((context) => {
      const { address } = Context.get(context, HttpServer.HttpServer)
      return `127.0.0.1:${"port" in address ? address.port : 0}`
    })
  )

const clientOf = (options: WebSocket.ClientOptions, revision?: string) =>
  Effect.flatMap(Layer.build(WebSocket.layerClient(options)), (context) =>
    Effect.provide(
      McpClient.make({ name: "c", version: "1", ...(revision !== undefined && { revisions: [revision] }) }),
      context
    )
  )

const connectionOf = (options: WebSocket.ClientOptions) =>
  Effect.flatMap(
    Layer.build(WebSocket.layerClient(options)),
    (context) => Context.get(context, Transport.ClientTransport).connect
  )

/** What became of a handshake, and a socket to talk over. */
const dial = (url: string, protocols: ReadonlyArray<string> = ["mcp"], headers: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const events = yield* Queue.unbounded<string>()
    const socket = yield* Effect.acquireRelease(
      Effect.sync(() => new RawSocket(url, [...protocols], { headers })),
      (open) => Effect.sync(() => open.terminate())
    )
    socket.on("open", () => Queue.offerUnsafe(events, `open ${socket.protocol}`))
    socket.on("unexpected-response", (_, response) => {
      response.setEncoding("utf8")
      response.once("data", (text) => Queue.offerUnsafe(events, `${response.statusCode} ${text}`))
    })
    socket.on("message", (data, isBinary) => Queue.offerUnsafe(events, isBinary ? "binary" : String(data)))
    socket.on("close", (code, reason) => Queue.offerUnsafe(events, `close ${code} ${String(reason)}`))
    socket.on("error", () => {})
    return {
      socket,
      next: Queue.take(events),
      send: (data: string | Uint8Array) => Effect.sync(() => socket.send(data))
    }
  })

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
const pong = `{"jsonrpc":"2.0","id":1,"result":{}}`

describe("WebSocket.layerRoute", () => {
  for (const revision of ["2024-11-05", "2025-11-25", "2026-07-28"]) {
    it.live(`[HTTP-44] carries the lifecycle, calls and notifications of ${revision}`, () =>
      Effect.gen(function* () {
        const seen: Array<number> = []
        const client = yield* clientOf({ url: `ws://${yield* serve(demo)}/mcp` }, revision)
        expect(client.server.revision).toBe(revision)
        const text = "é漢🙂\u2028\u0000\ud800"
        expect((yield* client.callTool("echo", { text })).content).toMatchObject([{ text }])
        yield* client.callTool("count", {}, { onProgress: ({ progress }) => void seen.push(progress) })
        expect(seen).toEqual([1, 2])
      })
    )
  }

  it.live("one message is one text frame, under the subprotocol mcp", () =>
    Effect.gen(function* () {
      const host = yield* serve(demo)
      const client = yield* dial(`ws://${host}/mcp`)
      expect(yield* client.next).toBe("open mcp")
      yield* client.send(ping)
      expect(yield* client.next).toBe(pong)
      yield* client.send("nonsense")
      expect(yield* client.next).toContain(`"code":-32700`)
      yield* client.send(ping)
      expect(yield* client.next).toBe(pong)
    })
  )

  it.live("[HTTP-03][HTTP-04] refuses pages of other origins and names of other hosts", () =>
    Effect.gen(function* () {
      const host = yield* serve(demo)
      for (const headers of [{ origin: "https://evil.example" }, { host: "evil.example" }]) {
        const client = yield* dial(`ws://${host}/mcp`, ["mcp"], headers)
        expect(yield* client.next).toMatch(/^403 .*evil\.example.* is not allowed/)
      }
      const local = yield* dial(`ws://${host}/mcp`, ["mcp"], { origin: "http://localhost:5173" })
      expect(yield* local.next).toBe("open mcp")
    })
  )

  it.live("refuses other subprotocols, and requests that do not upgrade", () =>
    Effect.gen(function* () {
      const host = yield* serve(demo)
      const other = yield* dial(`ws://${host}/mcp`, ["graphql-ws"])
      expect(yield* other.next).toBe(`400 The subprotocol here is "mcp"`)
      const plain = yield* Effect.promise(() => fetch(`http://${host}/mcp`))
      expect([plain.status, plain.headers.get("upgrade")]).toEqual([426, "websocket"])
    })
  )

  it.live("closes on a binary frame, with a reason", () =>
    Effect.gen(function* () {
      const client = yield* dial(`ws://${yield* serve(demo)}/mcp`)
      yield* client.next
      yield* client.send(Buffer.from(ping))
      expect(yield* client.next).toBe("close 1003 MCP messages are text frames")
    })
  )

  it.live("a message that is too long costs only itself", () =>
    Effect.gen(function* () {
      const client = yield* dial(`ws://${yield* serve(demo, { maxMessageBytes: 100 })}/mcp`)
      yield* client.next
      for (const long of ["x".repeat(101), "é".repeat(51)]) {
        yield* client.send(JSON.stringify(long))
        expect(yield* client.next).toContain("longer than 100 bytes")
      }
      yield* client.send(ping)
      expect(yield* client.next).toBe(pong)
    })
  )

  it.live("[BUG-69] handlers see the headers of the handshake", () =>
    Effect.gen(function* () {
      const server = McpServer.make({
        name: "s",
        version: "1",
        tools: [
          Tool.handle(Tool.make("who"), () =>
            Effect.map(CallContext.CallContext, ({ headers }) => headers?.["x-t"] ?? "none")
          )
        ]
      })
      const client = yield* clientOf({ url: `http://${yield* serve(server)}/mcp`, headers: { "X-T": "1" } })
      expect((yield* client.callTool("who")).content).toMatchObject([{ text: "1" }])
    })
  )

  it.live("maximumConnections: refuses who comes when there are too many", () =>
    Effect.gen(function* () {
      const host = yield* serve(demo, { maximumConnections: 1 })
      const first = yield* dial(`ws://${host}/mcp`)
      expect(yield* first.next).toBe("open mcp")
      const second = yield* dial(`ws://${host}/mcp`)
      expect(yield* second.next).toMatch(/^503 Too many/)
    })
  )

  it.live("a client that leaves interrupts what it has asked for", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const server = McpServer.make({
        name: "s",
        version: "1",
        tools: [Tool.handle(Tool.make("slow"), () => Effect.as(gate.work, ""))]
      })
      const url = `ws://${yield* serve(server)}/mcp`
      const scope = yield* Scope.make()
      const client = yield* Scope.provide(clientOf({ url }), scope)
      yield* Effect.forkChild(Effect.exit(client.callTool("slow")))
      yield* gate.started
      yield* Scope.close(scope, Exit.void)
      yield* gate.interrupted
    })
  )

  it.live("stands next to Streamable HTTP, and ends its connections with the server", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const host = yield* Scope.provide(serve(demo, { path: "/ws" }, StreamableHttp.layerRoute(demo)), scope)
      const client = yield* dial(`ws://${host}/ws`)
      yield* client.next
      yield* client.send(ping)
      expect(yield* client.next).toBe(pong)
      const other = yield* Effect.promise(() => fetch(`http://${host}/mcp`))
      expect(other.status).toBe(400)
      yield* Effect.forkChild(Scope.close(scope, Exit.void))
      expect(yield* client.next).toMatch(/^close 100[01]/)
    })
  )
})

const scripted = Effect.gen(function* () {
  const sockets = yield* Queue.unbounded<RawSocket>()
  const server = yield* Effect.acquireRelease(
    Effect.callback<WebSocketServer>((resume) => {
      const listening: WebSocketServer = new WebSocketServer({ port: 0, host: "127.0.0.1" }, () =>
        resume(Effect.succeed(listening))
      )
      listening.on("connection", (socket: RawSocket) => Queue.offerUnsafe(sockets, socket))
    }),
    (listening) => Effect.sync(() => listening.close())
  )
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, accept: Queue.take(sockets) }
})

describe("WebSocket.layerClient", () => {
  it.live("ends when the server closes properly, and fails with the code otherwise", () =>
    Effect.gen(function* () {
      const { accept, url } = yield* scripted
      for (const [code, outcome] of [
        [1000, "Success"],
        [1001, "Success"],
        [1011, "Failure"]
      ] as const) {
        const connection = yield* connectionOf({ url })
        const running = yield* Effect.forkChild(Effect.result(connection.run(() => Effect.void)))
        const socket = yield* accept
        socket.close(code, "because")
        const result = yield* Fiber.join(running)
        expect(result._tag).toBe(outcome)
        if (result._tag === "Failure")
          expect(result.failure.message).toBe("The socket was closed with code 1011: because")
        const sending = yield* Effect.flip(connection.send({ jsonrpc: "2.0", method: "x" }))
        expect(["Closed", "TransportFailure"]).toContain(sending.reason._tag)
      }
    })
  )

  it.live("fails on a binary frame, and tells the server why", () =>
    Effect.gen(function* () {
      const { accept, url } = yield* scripted
      const connection = yield* connectionOf({ url })
      const running = yield* Effect.forkChild(Effect.flip(connection.run(() => Effect.void)))
      const socket = yield* accept
      const closed = Effect.callback<number>(
        (resume) => void socket.on("close", (code) => resume(Effect.succeed(code)))
      )
      socket.send(Buffer.from(pong))
      expect((yield* Fiber.join(running)).message).toMatch(/text frames; a binary frame was received/)
      expect(yield* closed).toBe(1003)
    })
  )

  it.live("says goodbye when its scope closes", () =>
    Effect.gen(function* () {
      const { accept, url } = yield* scripted
      const scope = yield* Scope.make()
      const connection = yield* Scope.provide(connectionOf({ url }), scope)
      const socket = yield* accept
      const messages: Array<string> = []
      socket.on("message", (data) => messages.push(String(data)))
      const closed = Effect.callback<number>(
        (resume) => void socket.on("close", (code) => resume(Effect.succeed(code)))
      )
      yield* connection.send({ jsonrpc: "2.0", method: "last" })
      yield* Scope.close(scope, Exit.void)
      expect(yield* closed).toBe(1000)
      expect(messages).toEqual([`{"jsonrpc":"2.0","method":"last"}`])
    })
  )

  it.live("fails with words when there is no such server or no such URL", () =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(connectionOf({ url: "ws://127.0.0.1:1" }))
      expect(refused.reason._tag).toBe("TransportFailure")
      expect(refused.message).toMatch(/could not be opened.*ECONNREFUSED/)
      expect((yield* Effect.flip(connectionOf({ url: "ftp://x" }))).message).toBe("Not a WebSocket URL: ftp://x")
      const host = yield* serve(demo)
      const notHere = yield* Effect.flip(connectionOf({ url: `ws://${host}/elsewhere` }))
      expect(notHere.message).toMatch(/404/)
    })
  )
})
