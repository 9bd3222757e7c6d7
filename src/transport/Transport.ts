/**
 * The contract between a session and whatever carries its messages. Two services, one small interface: this is all
 * that a custom transport implements.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as JsonRpc from "../protocol/JsonRpc.ts"
import type { McpError } from "../protocol/McpError.ts"

/** What a sender can tell a transport about one message. Transports ignore what they have no use for. */
export interface SendOptions {
  /** Extra HTTP headers, such as `Mcp-Param-*`. */
  readonly headers?: { readonly [name: string]: string } | undefined
}

/** Who is calling, as the transport has established it. Absent where nothing authenticates callers. */
export interface Principal {
  /** Identifies the caller; two calls with the same subject come from the same principal. */
  readonly subject: string
  /** What else is known, such as scopes or token claims. */
  readonly claims?: { readonly [name: string]: unknown } | undefined
}

/**
 * Where messages go that belong together, and what the transport knows of who is there: a whole connection, or one
 * HTTP exchange.
 */
export interface Outlet {
  /** As {@link Connection.send}. */
  readonly send: (message: JsonRpc.Outgoing, options?: SendOptions) => Effect.Effect<void, McpError>
  /** As {@link Connection.sendUnsafe}. */
  readonly sendUnsafe?:
    ((message: JsonRpc.Outgoing, options?: SendOptions) => Effect.Effect<void, McpError>) | undefined
  /** Who sent what this outlet answers. */
  readonly principal?: Principal | undefined
  /** The headers of the HTTP request that this outlet answers, names in lower case. */
  readonly headers?: { readonly [name: string]: string | undefined } | undefined
  /**
   * Ends the connection that carries this outlet's messages, and keeps them until the peer comes back for them. Absent
   * where a connection is not the same as what it carries.
   */
  readonly disconnect?: Effect.Effect<void> | undefined
  /** Whether the peer still listens here. Absent where it does as long as the connection lasts. */
  readonly isOpen?: boolean | undefined
  /** Called when the request that this outlet answers was cancelled: no answer will come. */
  readonly unanswered?: (() => void) | undefined
}

/**
 * An open link to one peer. Messages arrive in the order in which they were sent; text survives unchanged.
 */
export interface Connection {
  /**
   * Sends one message, or several as one array where the revision has batches. It suspends while the peer is slow to
   * read, which is how backpressure reaches the sender. Over a byte stream it ends when the message is handed over. Over
   * HTTP a request ends when its exchange is over, after its answer was handed to `run`; interrupting it closes the
   * exchange.
   */
  readonly send: (message: JsonRpc.Outgoing, options?: SendOptions) => Effect.Effect<void, McpError>

  /**
   * `send` for those who can't afford an effect for each message: it hands the message over in the call itself, and
   * returns what is left to wait for, which is `Effect.void` nearly always. Optional; a transport where sending takes
   * time anyway does without.
   */
  readonly sendUnsafe?:
    ((message: JsonRpc.Outgoing, options?: SendOptions) => Effect.Effect<void, McpError>) | undefined

  /**
   * Hands every incoming message to `onMessage`, in order, until the peer closes (ends) or the link breaks (fails).
   * The next message waits until the effect that `onMessage` returned has ended. Called once.
   */
  readonly run: (onMessage: (message: JsonRpc.Incoming) => Effect.Effect<void>) => Effect.Effect<void, McpError>

  /** As {@link Outlet.principal}: who is at the other end, where the transport knows it. */
  readonly principal?: Principal | undefined
  /** As {@link Outlet.headers}: those of the request that opened the connection, where it began as one of HTTP. */
  readonly headers?: { readonly [name: string]: string | undefined } | undefined

  /**
   * Whether the peer may still read after `run` has ended, as behind a pipe: then it is worth finishing the answers
   * that are under way. Default `false`.
   */
  readonly readsAfterEnd?: boolean | undefined

  /**
   * Whether the peer has started this process, or lives in it. Such a peer is given all the time it wants; any other has
   * to introduce itself soon, and to give a sign of life now and then. Default `false`.
   */
  readonly trusted?: boolean | undefined
}

/** Sends in the call itself where the outlet can, and returns what is left to wait for. */
export const sendNow = (
  outlet: Outlet,
  message: JsonRpc.Outgoing,
  options?: SendOptions
): Effect.Effect<void, McpError> =>
  outlet.sendUnsafe === undefined ? outlet.send(message, options) : outlet.sendUnsafe(message, options)

/** Opens connections to a server: starts a process, dials a socket, points at a URL. */
export class ClientTransport extends Context.Service<
  ClientTransport,
  {
    /** Opens a connection that lives as long as the scope. May be called again after one has died. */
    readonly connect: Effect.Effect<Connection, McpError, Scope.Scope>
  }
>()("mcp-effect/transport/ClientTransport") {}

/** Waits for clients: the one behind stdin, or everyone who dials a socket. */
export class ServerTransport extends Context.Service<
  ServerTransport,
  {
    /**
     * Hands every connection to `serve`, which ends when that connection is done with. Ends when there will be no
     * more connections (end of stdin), fails when listening itself fails.
     */
    readonly run: <R>(
      serve: (connection: Connection) => Effect.Effect<void, never, R>
    ) => Effect.Effect<void, McpError, R>
  }
>()("mcp-effect/transport/ServerTransport") {}
