/**
 * MCP over TCP and Unix domain sockets, on the wire.
 */
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Queue, Scope } from "effect"
import type { Socket as EffectSocket } from "effect/socket"
import { McpClient, McpError, McpServer, Socket as Neutral, Tool, Transport } from "mcp-effect"
import { Socket } from "mcp-effect/node"
import * as FileSystem from "node:fs"
import * as Net from "node:net"
import * as OperatingSystem from "node:os"
import * as Path from "node:path"
import { demo } from "../support/Demo.ts"
import { Gate } from "../support/Gate.ts"

/** A socket that a test writes to and reads lines from. */
const dial = (options: Net.NetConnectOpts) =>
  Effect.gen(function* () {
    const lines = yield* Queue.unbounded<string>()
    const socket = yield* Effect.acquireRelease(
      Effect.callback<Net.Socket>((resume) => {
        const connecting = Net.connect({ ...options, allowHalfOpen: true }, () => resume(Effect.succeed(connecting)))
      }),
      (open) => Effect.sync(() => open.destroy())
    )
    let text = ""
    socket.setEncoding("utf8")
    socket.on("data", (chunk: string) => {
      const whole = (text + chunk).split("\n")
      text = whole.pop() ?? ""
      for (const line of whole) Queue.offerUnsafe(lines, line)
    })
    socket.on("end", () => Queue.offerUnsafe(lines, "(end)"))
    socket.on("error", () => Queue.offerUnsafe(lines, "(error)"))
    return {
      socket,
      write: (bytes: string | Uint8Array) => Effect.sync(() => void socket.write(bytes)),
      next: Queue.take(lines),
      nextJson: Effect.map(Queue.take(lines), (line) => JSON.parse(line))
    }
  })

const build = <A, E>(layer: Layer.Layer<A, E>) => Layer.build(layer)

const serveTcp = <R>(server: McpServer.McpServer<R>, options: Partial<Socket.TcpServerOptions> = {}) =>
  Layer.build(McpServer.layer(server).pipe(Layer.provideMerge(Socket.layerServerTcp({ port: 0, ...options })))).pipe(
    Effect.map((context) => Context.get(context, Socket.Listening))
  )

const ping = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`

const temporary = () => Path.join(FileSystem.mkdtempSync(Path.join(OperatingSystem.tmpdir(), "socket-")), "mcp.sock")

describe("TCP", () => {
  for (const revision of ["2024-11-05", "2025-11-25", "2026-07-28"]) {
    it.live(`[HTTP-44] carries the lifecycle, calls and notifications of ${revision}`, () =>
      Effect.gen(function* () {
        const { port } = yield* serveTcp(demo)
        const seen: Array<number> = []
        const client = yield* McpClient.make({ name: "c", version: "1", revisions: [revision] }).pipe(
          Effect.provide(yield* build(Socket.layerClientTcp({ port })))
        )
        expect(client.server.revision).toBe(revision)
        const text = "é漢🙂\u2028\u0000\ud800"
        expect((yield* client.callTool("echo", { text })).content).toMatchObject([{ text }])
        const onProgress = ({ progress }: { readonly progress: number }) => void seen.push(progress)
        yield* client.callTool("count", {}, { onProgress })
        expect(seen).toEqual([1, 2])
      })
    )
  }

  it.live("[STDIO-12] frames as stdio does: a line is a message, whatever the chunks", () =>
    Effect.gen(function* () {
      const { host, port } = yield* serveTcp(demo)
      expect(host).toBe("127.0.0.1")
      const client = yield* dial({ port, host })
      for (const byte of Buffer.from(ping(1))) yield* client.write(new Uint8Array([byte]))
      expect(yield* client.nextJson).toEqual({ jsonrpc: "2.0", id: 1, result: {} })
      yield* client.write(ping(2) + "\r\n" + ping(3))
      expect([yield* client.nextJson, yield* client.nextJson]).toMatchObject([{ id: 2 }, { id: 3 }])
    })
  )

  it.live("[BASE-17] what is no message costs only itself", () =>
    Effect.gen(function* () {
      const { port } = yield* serveTcp(demo, { maxMessageBytes: 200 })
      const client = yield* dial({ port, host: "127.0.0.1" })
      yield* client.write("nonsense\n")
      expect(yield* client.nextJson).toMatchObject({ error: { code: -32700 } })
      yield* client.write(new Uint8Array([0xff, 0xfe, 0x0a]))
      expect(yield* client.nextJson).toMatchObject({ error: { code: -32700 } })
      yield* client.write("x".repeat(500) + "\n" + ping(1))
      expect(yield* client.nextJson).toMatchObject({ error: { code: -32600 } })
      expect(yield* client.nextJson).toMatchObject({ id: 1, result: {} })
    })
  )

  it.live("a client that has said everything still gets its answers, and then the end", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const slow = McpServer.make({
        name: "s",
        version: "1",
        tools: [Tool.handle(Tool.make("slow"), () => Effect.as(gate.work, "done"))]
      })
      const { port } = yield* serveTcp(slow)
      const client = yield* dial({ port, host: "127.0.0.1" })
      const meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "c", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": {}
      }
      const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "slow", arguments: {}, _meta: meta } }
      client.socket.end(JSON.stringify(call) + "\n")
      yield* gate.started
      yield* gate.open
      expect(yield* client.nextJson).toMatchObject({ id: 1, result: { content: [{ text: "done" }] } })
      expect(yield* client.next).toBe("(end)")
    })
  )

  it.live("a client that is cut off interrupts what it has asked for", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const slow = McpServer.make({
        name: "s",
        version: "1",
        tools: [Tool.handle(Tool.make("slow"), () => Effect.as(gate.work, ""))]
      })
      const { port } = yield* serveTcp(slow)
      const scope = yield* Scope.make()
      const layer = yield* build(Socket.layerClientTcp({ port }))
      const client = yield* McpClient.make({ name: "c", version: "1" }).pipe(
        Effect.provide(layer),
        Scope.provide(scope)
      )
      const call = yield* Effect.forkChild(Effect.exit(client.callTool("slow")))
      yield* gate.started
      yield* Scope.close(scope, Exit.void)
      yield* gate.interrupted
      expect(yield* Fiber.join(call)).toMatchObject({ _tag: "Failure" })
    })
  )

  it.live("maximumConnections: hangs up on who comes when there are too many", () =>
    Effect.gen(function* () {
      const { port } = yield* serveTcp(demo, { maximumConnections: 1 })
      const first = yield* dial({ port, host: "127.0.0.1" })
      yield* first.write(ping(1))
      expect(yield* first.nextJson).toMatchObject({ id: 1 })
      const second = yield* dial({ port, host: "127.0.0.1" })
      expect(yield* second.next).toBe("(end)")
      first.socket.end()
      expect(yield* first.next).toBe("(end)")
      const third = yield* dial({ port, host: "127.0.0.1" })
      yield* third.write(ping(3))
      expect(yield* third.nextJson).toMatchObject({ id: 3 })
    })
  )

  it.live("ends all connections together when the layer is closed", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { port } = yield* Scope.provide(serveTcp(demo, { closeTimeout: "10 seconds" }), scope)
      const clients = yield* Effect.forEach([1, 2, 3], () => dial({ port, host: "127.0.0.1" }))
      for (const client of clients) {
        yield* client.write(ping(1))
        yield* client.nextJson
      }
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      // Each is told of the end before any of them has ended its own half.
      for (const client of clients) expect(yield* client.next).toBe("(end)")
      for (const { socket } of clients) socket.end()
      yield* Fiber.join(closing)
    })
  )

  it.live("fails with words when nobody listens, and when somebody does already", () =>
    Effect.gen(function* () {
      const { port } = yield* serveTcp(demo)
      const taken = yield* Effect.flip(Effect.scoped(build(Socket.layerServerTcp({ port }))))
      expect(taken).toBeInstanceOf(McpError)
      expect(taken.message).toMatch(/Can't listen.*EADDRINUSE/)
      const client = Context.get(yield* build(Socket.layerClientTcp({ port: 1 })), Transport.ClientTransport)
      const refused = yield* Effect.flip(Effect.scoped(client.connect))
      expect(refused.reason._tag).toBe("TransportFailure")
      expect(refused.message).toMatch(/could not be opened.*ECONNREFUSED/)
    })
  )

  it.live("a reset fails run and send with typed errors", () =>
    Effect.gen(function* () {
      const accepted = yield* Queue.unbounded<Net.Socket>()
      const server = yield* Effect.acquireRelease(
        Effect.callback<Net.Server>((resume) => {
          const listening = Net.createServer((socket) => void Queue.offerUnsafe(accepted, socket))
          listening.listen(0, "127.0.0.1", () => resume(Effect.succeed(listening)))
        }),
        (listening) => Effect.sync(() => listening.close())
      )
      const { port } = server.address() as Net.AddressInfo
      const { connect } = Context.get(yield* build(Socket.layerClientTcp({ port })), Transport.ClientTransport)
      const connection = yield* connect
      const running = yield* Effect.forkChild(Effect.flip(connection.run(() => Effect.void)))
      ;(yield* Queue.take(accepted)).resetAndDestroy()
      const error = yield* Fiber.join(running)
      expect(error.reason._tag).toBe("TransportFailure")
      expect(error.message).toMatch(/ECONNRESET/)
      expect((yield* Effect.flip(connection.send({ jsonrpc: "2.0", method: "x" }))).reason._tag).toBe(
        "TransportFailure"
      )
    })
  )
})

describe("Unix domain sockets", () => {
  it.live("[HTTP-44] serve behind a file, which is gone afterwards", () =>
    Effect.gen(function* () {
      const path = temporary()
      const scope = yield* Scope.make()
      yield* Scope.provide(build(McpServer.layer(demo).pipe(Layer.provide(Socket.layerServerUnix({ path })))), scope)
      const client = yield* McpClient.make({ name: "c", version: "1" }).pipe(
        Effect.provide(yield* build(Socket.layerClientUnix({ path })))
      )
      expect((yield* client.callTool("add", { a: 1, b: 2 })).structuredContent).toEqual({ sum: 3 })
      yield* Scope.close(scope, Exit.void)
      expect(FileSystem.existsSync(path)).toBe(false)
    }).pipe(Effect.scoped)
  )

  it.live("replace a file that a dead server has left, and no other", () =>
    Effect.gen(function* () {
      const path = temporary()
      const abandoned = `require("net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, "SIGKILL"))`
      const { spawnSync } = yield* Effect.promise(() => import("node:child_process"))
      spawnSync(process.execPath, ["-e", abandoned])
      expect(FileSystem.existsSync(path)).toBe(true)
      yield* build(Socket.layerServerUnix({ path }))
      const busy = yield* Effect.flip(Effect.scoped(build(Socket.layerServerUnix({ path }))))
      expect(busy.message).toMatch(/EADDRINUSE/)
      const file = `${path}.txt`
      FileSystem.writeFileSync(file, "mine")
      yield* Effect.flip(Effect.scoped(build(Socket.layerServerUnix({ path: file }))))
      expect(FileSystem.readFileSync(file, "utf8")).toBe("mine")
    })
  )
})

describe("any Socket of Effect", () => {
  it.live("carries one connection at a time", () =>
    Effect.gen(function* () {
      const { port } = yield* serveTcp(demo)
      const { layerNet } = yield* Effect.promise(() => import("@effect/platform-node/NodeSocket"))
      const socket: Layer.Layer<EffectSocket.Socket, EffectSocket.SocketError> = layerNet({ port, host: "127.0.0.1" })
      const { connect } = Context.get(
        yield* build(Layer.provide(Neutral.layerClient, socket)),
        Transport.ClientTransport
      )
      const hold = yield* Scope.make()
      yield* Scope.provide(connect, hold)
      expect((yield* Effect.flip(Effect.scoped(connect))).message).toMatch(/carries another connection/)
      yield* Scope.close(hold, Exit.void)
      yield* connect
    })
  )
})
