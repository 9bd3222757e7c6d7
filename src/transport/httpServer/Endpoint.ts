/**
 * What an HTTP transport hands messages to: the half of a server that knows what they mean.
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as JsonRpc from "../../protocol/JsonRpc.ts"
import type { McpError } from "../../protocol/McpError.ts"
import type { Outlet } from "../Transport.ts"

/** A client in a session. */
export interface SessionPeer {
  /** Takes a message; what answers it goes to `outlet`. */
  readonly receive: (message: JsonRpc.Incoming, outlet: Outlet) => Effect.Effect<void>
  /** The revision that `initialize` settled on. */
  readonly revision: string | undefined
  /** How many requests are being worked on. */
  readonly inFlight: number
  /** Fails when the client does not answer; `undefined` where it can't be asked. */
  readonly ping?: Effect.Effect<void, McpError> | undefined
}

/** A request that is being worked on. */
export interface Cancellable {
  /** Interrupts the work; no answer is sent. */
  readonly cancel: () => void
  /** Ends when everything is done, finalizers included. */
  readonly landing: Effect.Effect<void>
}

/** Who is told how the work on a request goes. */
export interface Observer {
  /** The answer waits for a client that is slow to read. */
  unread(): void
  /** Everything is done. */
  landed(): void
}

/** A server, as an HTTP transport sees it. */
export interface Endpoint {
  /** Versions whose requests stand for themselves. */
  readonly modern: ReadonlyArray<string>
  /** Versions that need a session. */
  readonly legacy: ReadonlyArray<string>
  /** Sets a request going that stands for itself; its answer goes to `outlet`, and then it is over. */
  readonly answer: (request: JsonRpc.Request, outlet: Outlet, observer: Observer) => Cancellable
  /** Tells streams that only wait for changes to end, in the way that their revision asks. */
  readonly closing: Effect.Effect<void>
  /** How long closing waits for handlers that can't be interrupted. */
  readonly closingWithin: Duration.Input
  /** Time for a client to introduce itself, where it does not do so with the request that opens its session. */
  readonly handshakeWithin: Duration.Input
  /**
   * Opens a client of a new session, whose unrelated messages go to `outlet`. Lives as long as the scope. `sharedIds`
   * says whether requests in flight may share an id because each has its own outlet.
   */
  readonly open: (outlet: Outlet, sharedIds: boolean) => Effect.Effect<SessionPeer, never, Scope.Scope>
}
