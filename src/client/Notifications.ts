/**
 * What a server tells by itself, handed to whoever listens, in order.
 */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as JsonRpc from "../protocol/JsonRpc.ts"
import type { ServerNotifications } from "../protocol/Methods.ts"
import { findNotification, type Revision } from "../revision/Revision.ts"

/** A notification of a server, told apart by `method`. */
export type ServerNotification = {
  readonly [Method in keyof ServerNotifications]: {
    readonly method: Method
    readonly params: ServerNotifications[Method]["params"]
  }
}[keyof ServerNotifications]

type Listener = (notification: ServerNotification) => void

/** Notifications that wait for a slow reader; then the oldest are dropped. */
const bufferSize = 1024

/** Distributes notifications. */
export class Notifications {
  readonly #listeners = new Set<Listener>()

  /** Reads a notification and hands it on. What the revision does not know, or is malformed, is logged and dropped. */
  receive(revision: Revision, { method, params }: JsonRpc.Notification): Effect.Effect<void> {
    const decoded = findNotification(revision.serverNotifications, method)?.params.decode(params)
    if (decoded === undefined || Result.isFailure(decoded)) {
      return Effect.logDebug(`The server sent a notification that is of no use: ${method}`, decoded?.failure)
    }
    return Effect.sync(() => {
      const notification = { method, params: decoded.success } as ServerNotification // by the codec of this method
      for (const listener of this.#listeners) listener(notification)
    })
  }

  /** Has a function called with every notification, at once, until the scope closes. */
  listen(listener: Listener): Effect.Effect<void, never, Scope.Scope> {
    return Effect.asVoid(
      Effect.acquireRelease(
        Effect.sync(() => this.#listeners.add(listener)),
        () => Effect.sync(() => this.#listeners.delete(listener))
      )
    )
  }

  /** A stream of what `select` picks, from when it is run on. `ended` ends it. */
  stream<A>(select: (notification: ServerNotification) => A | undefined, ended: Effect.Effect<void>): Stream.Stream<A> {
    return Stream.callback<A>(
      (queue) =>
        Effect.andThen(
          this.listen((notification) => {
            const picked = select(notification)
            if (picked !== undefined) offer(queue, picked)
          }),
          Effect.andThen(ended, Queue.end(queue))
        ),
      { bufferSize, strategy: "sliding" }
    )
  }
}

const offer = <A>(queue: Queue.Queue<A, Cause.Done>, value: A): void => {
  Queue.offerUnsafe(queue, value)
}
