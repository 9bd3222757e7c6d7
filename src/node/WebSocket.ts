/**
 * MCP over WebSocket on Node.js. The server is a route of an `HttpRouter`, as in `mcp-effect`, on `NodeHttpServer`.
 */
import * as NodeWS from "@effect/platform-node/NodeWS"
import * as Layer from "effect/Layer"
import * as Socket from "effect/socket/Socket"
import * as Neutral from "../server/WebSocket.ts"
import { defaultMaxMessageBytes } from "../transport/NewlineFraming.ts"
import type { ClientTransport } from "../transport/Transport.ts"

export * from "../server/WebSocket.ts"

/** Bytes above the limit that are still read, so that a message somewhat too long costs only itself. */
const tolerance = 1024 * 1024

const constructorWith = (options: Neutral.ClientOptions) =>
  Layer.succeed(Socket.WebSocketConstructor, (url, input) => {
    const isPlain = input === undefined || typeof input === "string" || Array.isArray(input)
    const { headers, protocols } = isPlain ? { headers: {}, protocols: input } : input
    const maxPayload = (options.maxMessageBytes ?? defaultMaxMessageBytes) + tolerance
    return new NodeWS.WebSocket(url, protocols, { headers: headers ?? {}, maxPayload })
  })

/**
 * Connects to a server behind a WebSocket URL, anew for every `connect`, with the `ws` package: headers can be set, and
 * reading slows down when messages pile up.
 *
 * @example
 * ```ts
 * import { WebSocket } from "mcp-effect/node"
 *
 * const remote = WebSocket.layerClient({ url: "ws://127.0.0.1:3000/mcp/socket" })
 * ```
 */
export const layerClient = (options: Neutral.ClientOptions): Layer.Layer<ClientTransport> =>
  Neutral.layerClient(options).pipe(Layer.provide(constructorWith(options)))
