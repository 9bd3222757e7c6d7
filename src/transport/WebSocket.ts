/**
 * MCP over WebSocket: one message is one text frame, and the subprotocol is `mcp`. A custom transport in the sense of the
 * specification (HTTP-44), for every revision; requests are cancelled with `notifications/cancelled`, as over stdio.
 *
 * This is the part that both sides share, and the client. The server is a route of an `HttpRouter`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports#custom-transports
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Socket from "effect/socket/Socket"
import * as JsonRpc from "../protocol/JsonRpc.ts"
import { McpError } from "../protocol/McpError.ts"
import { type HeaderSource, resolveHeaders } from "./HttpEndpoint.ts"
import { defaultMaxMessageBytes } from "./NewlineFraming.ts"
import { OutputQueue, type Options as QueueOptions } from "./OutputQueue.ts"
import { type CloseOptions, type Framing, open as openSocket, writeAll } from "./SocketConnection.ts"
import { ClientTransport, type Connection } from "./Transport.ts"

/** The name that both sides give to what they speak, in the handshake. */
export const subprotocol = "mcp"

/** Options of either side. */
export interface Options extends CloseOptions, QueueOptions {
  /**
   * The most bytes of one message. A longer one is reported as malformed (`-32600`), and the connection goes on. What a
   * WebSocket implementation itself takes is a limit of its own, behind which it closes with code 1009. Default: 16 MiB.
   */
  readonly maxMessageBytes?: number | undefined
  /** How deeply a message may nest; a deeper one is reported as malformed (`-32600`). Default: 128 levels. */
  readonly maxMessageDepth?: number | undefined
}

/** Options of {@link layerClient}. */
export interface ClientOptions extends Options {
  /** `ws:` or `wss:`; `http:` and `https:` mean the same. */
  readonly url: string | URL
  /**
   * Headers of the handshake, or an effect that is run for every connection. Browsers can't set any; there `connect` fails.
   */
  readonly headers?: HeaderSource | undefined
  /** The subprotocols to offer. Default `["mcp"]`; none for a server that knows none. */
  readonly subprotocols?: ReadonlyArray<string> | undefined
  /** Time for the handshake. Default 10 seconds. */
  readonly openTimeout?: Duration.Input | undefined
}

/** Bytes that may wait in the WebSocket before the next ones are handed to it. */
const highWaterMark = 64 * 1024

const shortestWait = 1
const longestWait = 20

/** A WebSocket takes everything at once and tells no one when it is written; asking is all there is. */
const drained = Effect.fnUntraced(function* (buffered: () => number) {
  let wait = shortestWait
  while (buffered() > highWaterMark) {
    yield* Effect.sleep(Duration.millis(wait))
    wait = Math.min(wait * 2, longestWait)
  }
})

const utf8 = new TextEncoder()

const isLonger = (text: string, bytes: number): boolean =>
  text.length > bytes || (text.length * 3 > bytes && utf8.encode(text).length > bytes)

const tooLong = (bytes: number) =>
  new JsonRpc.Malformed({
    code: JsonRpc.ErrorCode.InvalidRequest,
    message: `The message is longer than ${bytes} bytes (maxMessageBytes)`
  })

const binaryFrame = "MCP messages are text frames; a binary frame was received"

/** Close code for data of a kind that is not taken. */
const unsupportedData = 1003

/**
 * Opens a WebSocket as a connection. `buffered` tells how many bytes it has not written yet.
 *
 * @internal
 */
export const open = (
  socket: Socket.Socket,
  buffered: () => number,
  options: Options
): Effect.Effect<Connection, McpError, Scope.Scope> => {
  const maximum = options.maxMessageBytes ?? defaultMaxMessageBytes
  const parse = (text: string) =>
    isLonger(text, maximum) ? tooLong(maximum) : JsonRpc.parse(text, options.maxMessageDepth)
  const framing: Framing = {
    write: (output, writer) =>
      writeAll(output.texts, (texts) =>
        Effect.forEach(texts, (text) => Effect.andThen(writer.write(text), drained(buffered)), { discard: true })
      ),
    send: (output, message) => output.offer(JsonRpc.stringify(message)),
    read: ({ pull }, onMessage) =>
      pull.pipe(
        Effect.flatMap(
          Effect.fnUntraced(function* (frames) {
            for (const frame of frames) {
              if (typeof frame !== "string") {
                yield* close(socket, unsupportedData, "MCP messages are text frames")
                return yield* McpError.transport(binaryFrame)
              }
              yield* onMessage(parse(frame))
            }
          })
        ),
        Effect.forever({ disableYield: true })
      ),
    readsAfterEnd: false,
    // The closing handshake sees to that.
    lingers: false
  }
  return openSocket(socket, new OutputQueue(options), framing, options)
}

const close = (socket: Socket.Socket, code: number, reason: string): Effect.Effect<void> =>
  Effect.ignore(Effect.scoped(Effect.flatMap(socket.writer, ({ write }) => write(new Socket.CloseEvent(code, reason)))))

const urlOf = (input: string | URL): Effect.Effect<string, McpError> => {
  const url = URL.parse(input)
  if (url === null || !/^(ws|http)s?:$/.test(url.protocol)) {
    return Effect.fail(McpError.transport(`Not a WebSocket URL: ${String(input)}`))
  }
  // No implementation takes a fragment.
  url.hash = ""
  return Effect.succeed(url.href.replace(/^http/, "ws"))
}

const connect = Effect.fnUntraced(function* (
  make: Socket.WebSocketConstructor["Service"],
  options: ClientOptions
): Effect.fn.Return<Connection, McpError, Scope.Scope> {
  const url = yield* urlOf(options.url)
  const headers = yield* resolveHeaders(options.headers ?? {})
  let current: Socket.WebSocketLike | undefined
  const acquire = Effect.acquireRelease(
    Effect.try({
      try: () => {
        const protocols = [...(options.subprotocols ?? [subprotocol])]
        current = make(url, Object.keys(headers).length === 0 ? protocols : { protocols, headers })
        return current
      },
      catch: (cause) => new Socket.SocketError({ reason: new Socket.SocketOpenError({ kind: "Unknown", cause }) })
    }),
    (webSocket) => Effect.sync(() => webSocket.close(1000))
  )
  const socket = yield* Socket.fromWebSocket(
    acquire,
    options.openTimeout === undefined ? {} : { openTimeout: options.openTimeout }
  )
  return yield* open(socket, () => bufferedAmount(current), options)
})

/** Every implementation has it, though Effect's interface does not name it. */
const bufferedAmount = (webSocket: Socket.WebSocketLike | undefined): number => {
  const isKnown = webSocket !== undefined && "bufferedAmount" in webSocket
  return isKnown && typeof webSocket.bufferedAmount === "number" ? webSocket.bufferedAmount : 0
}

/**
 * Connects to a server behind a WebSocket URL, anew for every `connect`, with the `WebSocketConstructor` of the context:
 * `Socket.layerWebSocketConstructorGlobal` of `effect/socket` in a browser. `connect` fails with `TransportFailure` when
 * the handshake does not succeed. The server's proper close ends `run`; any other code fails it.
 *
 * @example
 * ```ts
 * import { Layer } from "effect"
 * import { Socket } from "effect/socket"
 * import { McpClient, WebSocket } from "mcp-effect"
 *
 * const client = McpClient.layer({ name: "demo", version: "1.0.0" }).pipe(
 *   Layer.provide(WebSocket.layerClient({ url: "wss://example.com/mcp" })),
 *   Layer.provide(Socket.layerWebSocketConstructorGlobal)
 * )
 * ```
 */
export const layerClient = (options: ClientOptions): Layer.Layer<ClientTransport, never, Socket.WebSocketConstructor> =>
  Layer.effect(
    ClientTransport,
    Effect.map(Socket.WebSocketConstructor, (make) => ClientTransport.of({ connect: connect(make, options) }))
  )
