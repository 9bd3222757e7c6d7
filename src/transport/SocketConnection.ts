/**
 * A socket as a connection, whatever its frames are: one writer, one reader at a time, and an orderly end from either
 * side.
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Pull from "effect/Pull"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type * as Socket from "effect/socket/Socket"
import type * as JsonRpc from "../protocol/JsonRpc.ts"
import { McpError } from "../protocol/McpError.ts"
import type { OutputQueue } from "./OutputQueue.ts"
import type { Connection } from "./Transport.ts"

/** How a connection ends. */
export interface CloseOptions {
  /**
   * Time for an orderly end when this side hangs up: to write what is still queued, and for the peer to hang up too.
   * Default 1 second.
   */
  readonly closeTimeout?: Duration.Input | undefined
}

/** How messages become frames, and frames messages. */
export interface Framing {
  /** Writes what is queued, until the queue ends. */
  readonly write: (output: OutputQueue, writer: Socket.Writer) => Effect.Effect<void, Socket.SocketError>
  /** Queues one message. */
  readonly send: (output: OutputQueue, message: JsonRpc.Outgoing) => Effect.Effect<void, McpError>
  /** Hands every message to `onMessage`, in order; ends only with a failure, of which the peer's end is one. */
  readonly read: (
    reader: Socket.Reader,
    onMessage: (message: JsonRpc.Incoming) => Effect.Effect<void>
  ) => Effect.Effect<void, Socket.SocketError | McpError>
  /** Whether the peer may still read when it has said that it sends no more, and this side goes on writing then. */
  readonly readsAfterEnd: boolean
  /** Whether to read away what the peer still sends when this side has hung up, so that no reset comes of it. */
  readonly lingers: boolean
}

/** Close codes of an end that was meant: done, going away, and no code at all. */
const orderlyCodes = new Set([1000, 1001, 1005])

const isOrderlyEnd = ({ reason }: Socket.SocketError): boolean =>
  reason._tag === "SocketCloseError" && orderlyCodes.has(reason.code)

const wordsOf = (cause: unknown): string => {
  if (cause instanceof Error && cause.message !== "") return `: ${cause.message}`
  // A WebSocket tells errors as events.
  const isEvent = typeof cause === "object" && cause !== null && "message" in cause && typeof cause.message === "string"
  return isEvent && cause.message !== "" ? `: ${cause.message}` : ""
}

/** A socket's failure as an `McpError`. */
export const socketFailure = ({ reason }: Socket.SocketError): McpError => {
  switch (reason._tag) {
    case "SocketOpenError":
      return McpError.transport(
        reason.kind === "Timeout"
          ? "The socket was not open in time"
          : `The socket could not be opened${wordsOf(reason.cause)}`,
        { cause: reason.cause }
      )
    case "SocketCloseError":
      return McpError.transport(
        `The socket was closed with code ${reason.code}${reason.closeReason ? `: ${reason.closeReason}` : ""}`
      )
    case "SocketUpgradeError":
      return McpError.transport("The socket could not be secured", { cause: reason.cause })
    case "SocketReadError":
      return McpError.transport(`Reading from the socket failed${wordsOf(reason.cause)}`, { cause: reason.cause })
    case "SocketWriteError":
      return McpError.transport(`Writing to the socket failed${wordsOf(reason.cause)}`, { cause: reason.cause })
  }
}

const closedByPeer = () => McpError.closed("The peer has closed the connection")

/**
 * Opens a socket. Closing the scope writes what is queued, says that nothing more comes, and gives the peer a moment to
 * say so too.
 */
export const open = Effect.fnUntraced(function* (
  socket: Socket.Socket,
  output: OutputQueue,
  framing: Framing,
  options: CloseOptions
): Effect.fn.Return<Connection, McpError, Scope.Scope> {
  const scope = yield* Effect.scope
  const reader = yield* Effect.mapError(socket.reader, socketFailure)
  const writing = yield* Scope.fork(scope)
  const writer = yield* Scope.provide(socket.writer, writing)
  const closing = yield* Deferred.make<void>()
  const turn = Semaphore.makeUnsafe(1)

  const pump = yield* framing.write(output, writer).pipe(
    // Whoever does not read any more is gone; what exactly went wrong is told by reading.
    Effect.catch(() => Effect.sync(() => output.fail(closedByPeer()))),
    Effect.forkIn(scope, { startImmediately: true })
  )

  const discard: Effect.Effect<void> = turn.withPermit(Effect.ignore(Effect.forever(reader.pull)))
  yield* Scope.addFinalizer(
    scope,
    Effect.suspend(() => {
      output.end()
      const goodbye = Fiber.await(pump).pipe(
        Effect.andThen(Scope.close(writing, Exit.void)),
        Effect.andThen(Effect.suspend(() => (framing.lingers ? discard : Effect.void)))
      )
      return Effect.andThen(
        Deferred.succeed(closing, undefined),
        Effect.timeoutOption(goodbye, options.closeTimeout ?? Duration.seconds(1))
      )
    })
  )

  const send = (message: JsonRpc.Outgoing) => framing.send(output, message)
  return {
    readsAfterEnd: framing.readsAfterEnd,
    send: (message) => Effect.suspend(() => send(message)),
    sendUnsafe: send,
    run: (onMessage) =>
      turn.withPermit(framing.read(reader, onMessage)).pipe(
        Effect.catch((error) => {
          if (error._tag === "SocketError" && isOrderlyEnd(error)) {
            if (!framing.readsAfterEnd) output.fail(closedByPeer())
            return Effect.void
          }
          const failure = error._tag === "SocketError" ? socketFailure(error) : error
          output.fail(failure)
          return Effect.fail(failure)
        }),
        Effect.raceFirst(Deferred.await(closing)),
        Effect.raceFirst(output.overflow)
      )
  }
})

/** Takes what is queued and writes it, again and again, until the queue ends. */
export const writeAll = <A>(
  take: Pull.Pull<A>,
  write: (taken: A) => Effect.Effect<void, Socket.SocketError>
): Effect.Effect<void, Socket.SocketError> =>
  take.pipe(
    Effect.flatMap(write),
    Effect.forever({ disableYield: true }),
    Pull.catchDone(() => Effect.void)
  )
