/**
 * MCP over sockets that are streams of bytes, such as TCP and Unix domain sockets: the framing of stdio, one message a
 * line (STDIO-12), on a connection of its own for every client. Both sides say that they are done by ending their half;
 * a server still answers what a client asked before that.
 *
 * These are custom transports in the sense of the specification (HTTP-44). They carry every revision, and cancel with
 * `notifications/cancelled`, as stdio does. The layers for Node are in `mcp-effect/node`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-transports
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Socket from "effect/socket/Socket"
import * as SocketServer from "effect/socket/SocketServer"
import { McpError } from "../protocol/McpError.ts"
import { fromPull, readMessages } from "./ByteStream.ts"
import * as NewlineFraming from "./NewlineFraming.ts"
import { OutputQueue, type Options as QueueOptions } from "./OutputQueue.ts"
import { type CloseOptions, type Framing, open, writeAll } from "./SocketConnection.ts"
import { ClientTransport, type Connection, ServerTransport } from "./Transport.ts"

/** Options of either side. */
export interface Options extends NewlineFraming.Options, QueueOptions, CloseOptions {}

/** Options of a server. */
export interface ServerOptions extends Options {
  /** Connections at a time; whoever comes when there are so many is hung up on. Default 10,000. */
  readonly maximumConnections?: number | undefined
}

const utf8 = new TextEncoder()

const toBytes = (chunk: Uint8Array | string): Uint8Array => (typeof chunk === "string" ? utf8.encode(chunk) : chunk)

const bytesOf = ({ pull }: Socket.Reader) =>
  Effect.map(pull, ([first, ...rest]) => [toBytes(first), ...rest.map(toBytes)] as const)

const lines = (options: Options, role: "client" | "server"): Framing => ({
  write: (output, writer) => writeAll(output.take, (chunks) => writer.writeAll(chunks)),
  send: (output, message) => output.offer(NewlineFraming.encode(message)),
  read: (reader, onMessage) => readMessages(fromPull(bytesOf(reader)), options, onMessage),
  readsAfterEnd: role === "server",
  lingers: true
})

/** {@link layerServer} with options. */
export const layerServerWith = (
  options: ServerOptions
): Layer.Layer<ServerTransport, never, SocketServer.SocketServer> =>
  Layer.effect(
    ServerTransport,
    Effect.map(SocketServer.SocketServer, (server) => ServerTransport.of({ run: serve(server, options) }))
  )

/**
 * Serves everyone who dials a `SocketServer`. Its `run` does not end by itself; it fails with `TransportFailure` when the
 * server can no longer accept.
 */
export const layerServer: Layer.Layer<ServerTransport, never, SocketServer.SocketServer> = layerServerWith({})

const serve =
  (server: SocketServer.SocketServer["Service"], options: ServerOptions): ServerTransport["Service"]["run"] =>
  <R>(serveConnection: (connection: Connection) => Effect.Effect<void, never, R>) =>
    Effect.gen(function* () {
      // At shutdown all connections end at once, not one after the other.
      const scope = yield* Effect.acquireRelease(Scope.make("parallel"), Scope.close)
      const maximum = options.maximumConnections ?? 10_000
      let connections = 0
      const accept = (socket: Socket.Socket) =>
        Effect.suspend(() => {
          if (connections >= maximum) return Effect.scoped(Effect.ignore(socket.reader))
          connections++
          const connection = open(socket, new OutputQueue(options), lines(options, "server"), options)
          return Effect.flatMap(connection, serveConnection).pipe(
            // Whoever hangs up before the connection was made is nobody's failure.
            Effect.catch((error) => Effect.logDebug("A connection could not be made", error)),
            Effect.scoped,
            Effect.ensuring(Effect.sync(() => connections--)),
            Effect.forkIn(scope),
            Effect.flatMap(Fiber.join)
          )
        })
      const accepting = yield* Effect.forkIn(server.run(accept), scope, { startImmediately: true })
      return yield* Effect.mapError(Fiber.join(accepting), (cause) =>
        McpError.transport("The server can no longer accept connections", { cause })
      )
    }).pipe(Effect.scoped)

/** A client transport that gets a socket for every connection. */
export const makeClient = (
  dial: Effect.Effect<Socket.Socket, McpError, Scope.Scope>,
  options: Options = {}
): ClientTransport["Service"] =>
  ClientTransport.of({
    connect: Effect.flatMap(dial, (socket) => open(socket, new OutputQueue(options), lines(options, "client"), options))
  })

/** {@link layerClient} with options. */
export const layerClientWith = (options: Options): Layer.Layer<ClientTransport, never, Socket.Socket> =>
  Layer.effect(
    ClientTransport,
    Effect.map(Socket.Socket, (socket) => {
      let isTaken = false
      const take = Effect.suspend(() => {
        if (isTaken) return Effect.fail(McpError.transport("The socket carries another connection at the moment"))
        isTaken = true
        return Effect.succeed(socket)
      })
      const release = Effect.sync(() => {
        isTaken = false
      })
      return makeClient(
        Effect.acquireRelease(take, () => release),
        options
      )
    })
  )

/**
 * Connects over a `Socket`, which carries one connection at a time: `connect` fails while another is open. The socket is
 * dialled anew for each. `connect` fails with `TransportFailure` when that does not succeed.
 */
export const layerClient: Layer.Layer<ClientTransport, never, Socket.Socket> = layerClientWith({})
