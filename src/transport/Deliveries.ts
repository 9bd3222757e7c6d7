/**
 * Messages from several exchanges of one HTTP connection on their way to its one `run`.
 */
import type * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import * as Queue from "effect/Queue"
import type * as JsonRpc from "../protocol/JsonRpc.ts"
import { McpError } from "../protocol/McpError.ts"

interface Delivery {
  readonly message: JsonRpc.Incoming
  readonly handled: Deferred.Deferred<void>
}

/** The error of whatever is done with a connection that has ended. */
export const connectionClosed = () => McpError.closed("The connection is closed")

/** What arrives on one connection. */
export class Deliveries {
  // Every exchange waits for its own message, so at most one per open stream is ever queued.
  readonly #inbox: Queue.Queue<Delivery, McpError | Cause.Done>

  constructor(inbox: Queue.Queue<Delivery, McpError | Cause.Done>) {
    this.#inbox = inbox
  }

  /** Hands a message up, and ends when it was handled. Fails with `Closed` once there is nobody to handle it. */
  deliver(message: JsonRpc.Incoming): Effect.Effect<void, McpError> {
    return Effect.suspend(() => {
      const handled = Deferred.makeUnsafe<void>()
      return Queue.offerUnsafe(this.#inbox, { message, handled })
        ? Deferred.await(handled)
        : Effect.fail(connectionClosed())
    })
  }

  /** Hands every message to `onMessage`, one after the other, until the end. */
  run(onMessage: (message: JsonRpc.Incoming) => Effect.Effect<void>): Effect.Effect<void, McpError> {
    return Queue.take(this.#inbox).pipe(
      Effect.flatMap(({ handled, message }) =>
        Effect.ensuring(onMessage(message), Deferred.succeed(handled, undefined))
      ),
      Effect.forever,
      Pull.catchDone(() => Effect.void)
    )
  }

  /** Nothing more comes: `run` ends after what is there. */
  readonly end: Effect.Effect<void> = Effect.suspend(() => Queue.end(this.#inbox))

  /** Nothing more comes, for this reason. */
  fail(error: McpError): Effect.Effect<void> {
    return Effect.asVoid(Queue.fail(this.#inbox, error))
  }
}

/** Makes deliveries for one connection. */
export const make: Effect.Effect<Deliveries> = Effect.map(
  Queue.unbounded<Delivery, McpError | Cause.Done>(),
  (inbox) => new Deliveries(inbox)
)
