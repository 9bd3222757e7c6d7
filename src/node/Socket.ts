/**
 * MCP over TCP and Unix domain sockets on Node.js: one message a line, a connection for every client.
 *
 * Neither says who is at the other end. A TCP port of the local machine is open to every program on it; a Unix domain
 * socket to whoever the permissions of its file let in.
 */
import * as NodeSocket from "@effect/platform-node/NodeSocket"
import * as NodeSocketServer from "@effect/platform-node/NodeSocketServer"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as SocketServer from "effect/socket/SocketServer"
import * as FileSystem from "node:fs"
import * as Net from "node:net"
import { McpError } from "../protocol/McpError.ts"
import * as Neutral from "../transport/Socket.ts"
import { ClientTransport, type ServerTransport } from "../transport/Transport.ts"

export * from "../transport/Socket.ts"

/** Where a TCP server listens. */
export class Listening extends Context.Service<Listening, { readonly host: string; readonly port: number }>()(
  "mcp-effect/node/Socket/Listening"
) {}

/** Options of {@link layerServerTcp}. */
export interface TcpServerOptions extends Neutral.ServerOptions {
  /** The port to listen on; 0 for any that is free. */
  readonly port: number
  /** The address to listen on. Default `127.0.0.1`: only this machine. */
  readonly host?: string | undefined
}

/** Options of {@link layerServerUnix}. */
export interface UnixServerOptions extends Neutral.ServerOptions {
  /** The file of the socket. */
  readonly path: string
}

/** Options of {@link layerClientTcp}. */
export interface TcpClientOptions extends Neutral.Options {
  /** The port of the server. */
  readonly port: number
  /** Default `127.0.0.1`. */
  readonly host?: string | undefined
  /** Time for the connection to be made. Default 10 seconds. */
  readonly openTimeout?: Duration.Input | undefined
}

/** Options of {@link layerClientUnix}. */
export interface UnixClientOptions extends Neutral.Options {
  /** The file of the socket. */
  readonly path: string
  /** Time for the connection to be made. Default 10 seconds. */
  readonly openTimeout?: Duration.Input | undefined
}

const openTimeout = "10 seconds"

// A client that has said all it wants to say still reads the answers.
const connectionOptions = { allowHalfOpen: true, noDelay: true, keepAlive: true }

const listen = (
  options: Net.ListenOptions
): Effect.Effect<SocketServer.SocketServer["Service"], McpError, Scope.Scope> =>
  Effect.mapError(NodeSocketServer.make({ ...options, ...connectionOptions }), ({ cause }) =>
    McpError.transport(`Can't listen: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  )

const serve = (server: Effect.Effect<SocketServer.SocketServer["Service"], McpError, Scope.Scope>) =>
  Layer.effect(SocketServer.SocketServer, server)

/**
 * Serves everyone who dials a TCP port. Provides {@link Listening}, which knows the port. Fails with `TransportFailure`
 * when it can't listen there.
 *
 * @example
 * ```ts
 * import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
 * import { Layer } from "effect"
 * import { McpServer } from "mcp-effect"
 * import { Socket } from "mcp-effect/node"
 *
 * const weather = McpServer.make({ name: "weather", version: "1.0.0" })
 *
 * const main = McpServer.layer(weather).pipe(Layer.provide(Socket.layerServerTcp({ port: 4000 })), Layer.launch)
 * NodeRuntime.runMain(main)
 * ```
 */
export const layerServerTcp = (options: TcpServerOptions): Layer.Layer<ServerTransport | Listening, McpError> => {
  const host = options.host ?? "127.0.0.1"
  const listening = Layer.effect(
    Listening,
    Effect.map(SocketServer.SocketServer, ({ address }) => ({
      host,
      port: "port" in address ? address.port : options.port
    }))
  )
  return Layer.merge(Neutral.layerServerWith(options), listening).pipe(
    Layer.provide(serve(listen({ host, port: options.port })))
  )
}

/** Whether someone listens behind a socket file. */
const isListenedTo = (path: string): Effect.Effect<boolean> =>
  Effect.callback((resume) => {
    const socket = Net.connect({ path })
    const answer = (isListening: boolean) => {
      socket.destroy()
      resume(Effect.succeed(isListening))
    }
    socket.once("connect", () => answer(true))
    socket.once("error", (error: NodeJS.ErrnoException) => answer(error.code !== "ECONNREFUSED"))
    return Effect.sync(() => socket.destroy())
  })

/** A server that was killed has left its socket file behind, which would be in the way for ever. */
const removeStale = Effect.fnUntraced(function* (path: string) {
  const isSocket = FileSystem.lstatSync(path, { throwIfNoEntry: false })?.isSocket() ?? false
  if (isSocket && !(yield* isListenedTo(path))) yield* Effect.sync(() => FileSystem.rmSync(path, { force: true }))
})

/**
 * Serves everyone who dials a Unix domain socket. A socket file behind which nobody listens any more is replaced; fails
 * with `TransportFailure` when somebody does, or when the file can't be made. The file is removed when the layer is
 * closed.
 *
 * @example
 * ```ts
 * import { Layer } from "effect"
 * import { McpServer } from "mcp-effect"
 * import { Socket } from "mcp-effect/node"
 *
 * const weather = McpServer.make({ name: "weather", version: "1.0.0" })
 *
 * const main = McpServer.layer(weather).pipe(Layer.provide(Socket.layerServerUnix({ path: "/run/weather.sock" })))
 * ```
 */
export const layerServerUnix = (options: UnixServerOptions): Layer.Layer<ServerTransport, McpError> =>
  Neutral.layerServerWith(options).pipe(
    Layer.provide(serve(Effect.andThen(removeStale(options.path), listen({ path: options.path }))))
  )

/**
 * Connects to a server behind a TCP port, anew for every `connect`.
 *
 * @example
 * ```ts
 * import { Effect } from "effect"
 * import { McpClient } from "mcp-effect"
 * import { Socket } from "mcp-effect/node"
 *
 * const program = Effect.gen(function* () {
 *   const client = yield* McpClient.McpClient
 *   return yield* client.callTool("forecast", { place: "Oslo" })
 * }).pipe(
 *   Effect.provide(McpClient.layer({ name: "demo", version: "1.0.0" })),
 *   Effect.provide(Socket.layerClientTcp({ port: 4000 }))
 * )
 * ```
 */
export const layerClientTcp = (options: TcpClientOptions): Layer.Layer<ClientTransport> => {
  const { host = "127.0.0.1", port } = options
  return Layer.sync(ClientTransport, () =>
    Neutral.makeClient(
      NodeSocket.makeNet({ host, port, noDelay: true, openTimeout: options.openTimeout ?? openTimeout }),
      options
    )
  )
}

/** Connects to a server behind a Unix domain socket, anew for every `connect`. */
export const layerClientUnix = (options: UnixClientOptions): Layer.Layer<ClientTransport> =>
  Layer.sync(ClientTransport, () =>
    Neutral.makeClient(
      NodeSocket.makeNet({ path: options.path, openTimeout: options.openTimeout ?? openTimeout }),
      options
    )
  )
