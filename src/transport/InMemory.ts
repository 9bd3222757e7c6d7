/**
 * A link inside one process: two connections that hand JSON text to each other. For tests, and for a server that lives
 * in its client's process.
 *
 * Messages are written to text and read again, so that the two sides share no object.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as JsonRpc from "../protocol/JsonRpc.ts"
import { McpError } from "../protocol/McpError.ts"
import { Inbox } from "./Inbox.ts"
import { ClientTransport, type Connection, ServerTransport } from "./Transport.ts"

/** One end of a link, and how to hang up. */
interface Endpoint {
  readonly connection: Connection
  /** What was sent is still delivered; the other side's `run` ends after it. */
  readonly close: Effect.Effect<void>
}

const makeEndpoint = (inbox: Inbox, outbox: Inbox): Endpoint => {
  const sendUnsafe = (message: JsonRpc.Outgoing): Effect.Effect<void, McpError> =>
    inbox.closed ? Effect.fail(McpError.closed("The connection is closed")) : outbox.offer(JsonRpc.stringify(message))
  return {
    connection: {
      trusted: true,
      send: (message) => Effect.suspend(() => sendUnsafe(message)),
      sendUnsafe,
      run: (onMessage) => inbox.run((text) => onMessage(JsonRpc.parse(text)))
    },
    close: Effect.suspend(() => {
      outbox.end()
      return inbox.close
    })
  }
}

const makeEndpoints = (): readonly [Endpoint, Endpoint] => {
  const [left, right] = [new Inbox(), new Inbox()]
  return [makeEndpoint(left, right), makeEndpoint(right, left)]
}

/**
 * Two linked connections: what one sends, the other's `run` receives. When the scope closes, both ends are closed.
 *
 * A receiver that is idle is run at once, before `send` ends. At most 64 messages wait in one direction; then `send`
 * suspends until the receiver has caught up.
 */
export const make: Effect.Effect<readonly [Connection, Connection], never, Scope.Scope> = Effect.map(
  Effect.acquireRelease(Effect.sync(makeEndpoints), ([left, right]) => Effect.andThen(left.close, right.close)),
  ([left, right]) => [left.connection, right.connection]
)

/** The two ends of a link by the role that uses them. */
export interface Link {
  /** What the client sends on and reads from. */
  readonly client: Connection
  /** What the server sends on and reads from. */
  readonly server: Connection
}

/** {@link make}, with the ends named. */
export const link: Effect.Effect<Link, never, Scope.Scope> = Effect.map(make, ([client, server]) => ({
  client,
  server
}))

const makeTransports = Effect.gen(function* () {
  const dialled = yield* Queue.unbounded<Endpoint>()
  return {
    client: ClientTransport.of({
      connect: Effect.map(
        Effect.acquireRelease(
          Effect.suspend(() => {
            const [client, server] = makeEndpoints()
            return Effect.as(Queue.offer(dialled, server), client)
          }),
          (client) => client.close
        ),
        (client) => client.connection
      )
    }),
    server: ServerTransport.of({
      run: (serve) =>
        Effect.scopedWith((scope) =>
          Queue.take(dialled).pipe(
            Effect.flatMap((endpoint) =>
              serve(endpoint.connection).pipe(Effect.ensuring(endpoint.close), Effect.forkIn(scope))
            ),
            Effect.forever
          )
        )
    })
  }
})

/**
 * Both transports, linked: every `connect` of the client's opens one more connection to the server. A client may connect
 * before the server runs; it is served when the server does. Interrupting the server's `run` closes all its connections.
 *
 * @example
 * ```ts
 * import { Layer } from "effect"
 * import { InMemory, McpClient, McpServer } from "mcp-effect"
 *
 * const server = McpServer.make({ name: "demo", version: "1.0.0" })
 *
 * const both = Layer.merge(McpServer.layer(server), McpClient.layer({ name: "me", version: "1.0.0" })).pipe(
 *   Layer.provide(InMemory.layer)
 * )
 * ```
 */
export const layer: Layer.Layer<ClientTransport | ServerTransport> = Layer.effectContext(
  Effect.map(makeTransports, ({ client, server }) =>
    Context.make(ClientTransport, client).pipe(Context.add(ServerTransport, server))
  )
)
