/**
 * One connection to a server, with the session on it. A client that was cut off while it was finding out the era opens
 * another one.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as JsonRpc from "../protocol/JsonRpc.ts"
import { McpError } from "../protocol/McpError.ts"
import type { Revision } from "../revision/Revision.ts"
import * as Work from "../session/Work.ts"
import type { Limits } from "../session/Limits.ts"
import { make as makeSession, type Session } from "../session/Session.ts"
import { ClientTransport } from "../transport/Transport.ts"

/** What becomes of messages that the server sends by itself. */
export interface Receiver {
  readonly onRequest: (link: Link, request: JsonRpc.Request) => Effect.Effect<JsonRpc.Members, McpError>
  readonly onNotification: (link: Link, notification: JsonRpc.Notification) => Effect.Effect<void>
}

/** A connection. */
export interface Link {
  readonly session: Session
  /** Hangs up. Calls that wait for an answer fail. */
  readonly close: Effect.Effect<void>
  /** Waits until the connection has ended, and says why. */
  readonly ended: Effect.Effect<McpError>
  /** The revision that was agreed on, once it was. */
  revision: Revision | undefined
}

/** Opens a connection that lives until it is closed, or as long as the scope. */
export const open = (
  receiver: Receiver,
  limits: Limits
): Effect.Effect<Link, McpError, ClientTransport | Scope.Scope> =>
  Effect.gen(function* () {
    const transport = yield* ClientTransport
    const scope = yield* Scope.fork(yield* Effect.scope)
    return yield* Effect.onError(Scope.provide(connect(transport, receiver, limits, scope), scope), (cause) =>
      Scope.close(scope, Exit.failCause(cause))
    )
  })

const connect = Effect.fnUntraced(function* (
  transport: ClientTransport["Service"],
  receiver: Receiver,
  limits: Limits,
  scope: Scope.Closeable
): Effect.fn.Return<Link, McpError, Scope.Scope> {
  const connection = yield* transport.connect
  const services = yield* Effect.context<never>()
  const session: Session = yield* makeSession({
    outlet: connection,
    limits,
    // While a server waits for a person here, the call that it works on must not time out for that.
    onRequest: (request) => Work.make(session.withoutTimeouts(receiver.onRequest(link, request)), services),
    onNotification: (notification) => receiver.onNotification(link, notification),
    onStray: logStray,
    batches: () => link.revision?.batches === true,
    // `initialize` is never cancelled (CANC-02); neither is the probe, of which a legacy server is to hear no more.
    cancellable: (method) => method !== "initialize" && method !== "server/discover"
  })
  const ended = yield* Deferred.make<McpError>()
  const link: Link = {
    session,
    close: Scope.close(scope, Exit.void),
    ended: Deferred.await(ended),
    revision: undefined
  }
  const end = (reason: McpError) => Effect.andThen(session.close(reason), Deferred.succeed(ended, reason))
  yield* Effect.addFinalizer(() => Deferred.succeed(ended, McpError.closed("The client has hung up")))
  const run = connection.run((message) => (mustIgnore(link, message) ? logStray(message) : session.receive(message)))
  yield* Effect.forkScoped(
    Effect.matchEffect(run, {
      onSuccess: () => end(McpError.closed("The server has closed the connection")),
      onFailure: end
    }),
    { startImmediately: true }
  )
  return link
})

/** From 2026-07-28 on a client answers nothing, so what would need an answer is let be (BASE-21). */
const mustIgnore = (link: Link, message: JsonRpc.Incoming): boolean =>
  link.revision?.era === "modern" && (message instanceof JsonRpc.Batch || JsonRpc.needsAnswer(message))

/** A failure without an id is about the connection; the calls that wait are not touched by it (BUG-26). */
const logStray = (message: JsonRpc.Incoming): Effect.Effect<void> =>
  !(message instanceof JsonRpc.Malformed) && "error" in message && message.id === undefined
    ? Effect.logWarning("The server reports an error that belongs to no request", message.error)
    : Effect.logDebug("The server sent a message that nobody waits for", message)
