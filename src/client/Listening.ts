/**
 * Subscriptions from 2026-07-28 on: one `subscriptions/listen` request each, which stays open and is sent again when it
 * was cut off.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { RequestId } from "../protocol/JsonRpc.ts"
import type { McpError } from "../protocol/McpError.ts"
import { MetaKey, type SubscriptionFilter } from "../protocol/index.ts"
import {
  allChanges,
  bufferSize,
  type Change,
  changeOf,
  compare,
  type Subscribe,
  toSubscriptionFilter
} from "./Changes.ts"
import type { Conversation } from "./Conversation.ts"
import type { Notifications, ServerNotification } from "./Notifications.ts"

/** Times in a row that a cut subscription is opened again before it fails. */
const mostAttempts = 6
const firstDelay = 500
const longestDelay = 30_000

/** Opens a subscription. */
export const subscribe =
  (conversation: Conversation, notifications: Notifications): Subscribe =>
  (filter) =>
    Effect.gen(function* () {
      const wished = toSubscriptionFilter(filter)
      const queue = yield* Queue.make<Change, McpError | Cause.Done>({ capacity: bufferSize, strategy: "sliding" })
      const opened = yield* Deferred.make<void, McpError>()
      const listening = new Listening(conversation, notifications, wished, queue, opened)
      yield* Effect.forkScoped(
        Effect.matchCauseEffect(listening.run, {
          onSuccess: () => Effect.andThen(Queue.end(queue), Deferred.succeed(opened, undefined)),
          onFailure: (cause) => Effect.andThen(Queue.failCause(queue, cause), Deferred.failCause(opened, cause))
        }),
        { startImmediately: true }
      )
      yield* Deferred.await(opened)
      return Stream.fromQueue(queue)
    })

class Listening {
  readonly #conversation: Conversation
  readonly #notifications: Notifications
  readonly #wished: SubscriptionFilter
  readonly #queue: Queue.Queue<Change, McpError | Cause.Done>
  readonly #opened: Deferred.Deferred<void, McpError>
  #honoured: SubscriptionFilter | undefined

  constructor(
    conversation: Conversation,
    notifications: Notifications,
    wished: SubscriptionFilter,
    queue: Queue.Queue<Change, McpError | Cause.Done>,
    opened: Deferred.Deferred<void, McpError>
  ) {
    this.#conversation = conversation
    this.#notifications = notifications
    this.#wished = wished
    this.#queue = queue
    this.#opened = opened
  }

  /** Listens until the server ends it in good order; opens it again when it was cut off (SUBS-11). */
  readonly run: Effect.Effect<void, McpError> = Effect.gen({ self: this }, function* () {
    let failures = 0
    /** Times in a row that it was cut soon: a server that opens it and cuts it at once is not to be asked often (BUG-38). */
    let brief = 0
    while (true) {
      const earlier = this.#honoured
      const started = yield* Clock.currentTimeMillis
      this.#honoured = undefined
      const outcome = yield* Effect.result(this.#listen(earlier))
      if (Result.isSuccess(outcome)) return
      const error = outcome.failure
      const wasOpen = this.#honoured !== undefined
      if ((earlier === undefined && !wasOpen) || !this.#isCut(error)) return yield* error
      this.#honoured ??= earlier
      failures = wasOpen ? 1 : failures + 1
      if (failures > mostAttempts) return yield* error
      const wasLong = (yield* Clock.currentTimeMillis) - started >= longestDelay
      brief = wasLong ? 1 : brief + 1
      const delay = Math.min(firstDelay * 2 ** (Math.max(failures, brief) - 1), longestDelay)
      const jitter = yield* Random.next
      yield* Effect.sleep(Duration.millis(delay * (1 + jitter / 4)))
    }
  })

  /** The request itself; `earlier` is what was honoured before it was cut off. */
  #listen(earlier: SubscriptionFilter | undefined): Effect.Effect<void, McpError> {
    return Effect.scoped(
      Effect.gen({ self: this }, function* () {
        const over = yield* Deferred.make<void, McpError>()
        let id: RequestId | undefined
        yield* this.#notifications.listen((notification) => {
          const { method, params } = notification
          if (method === "notifications/cancelled") {
            // Some servers end a subscription with this instead of a result (SUBS-10).
            if (id !== undefined && params.requestId === id) Deferred.doneUnsafe(over, Effect.void)
          } else if (id !== undefined && params._meta?.[MetaKey.subscriptionId] === id) {
            this.#receive(notification, earlier, over)
          }
        })
        const request = this.#conversation.request(
          "subscriptions/listen",
          { notifications: this.#wished },
          { timeout: Duration.infinity, onId: (given) => (id = given) }
        )
        yield* Effect.raceFirst(request, Deferred.await(over))
      })
    )
  }

  #receive(
    notification: ServerNotification,
    earlier: SubscriptionFilter | undefined,
    over: Deferred.Deferred<void, McpError>
  ): void {
    if (notification.method === "notifications/subscriptions/acknowledged") {
      const honoured = notification.params.notifications
      this.#honoured = honoured
      const check = Effect.matchEffect(compare(this.#wished, honoured), {
        onSuccess: () => Deferred.succeed(this.#opened, undefined),
        onFailure: (error) => Deferred.fail(over, error)
      })
      this.#conversation.agreement.link.session.fork(check)
      // While nobody listened, anything may have changed.
      if (earlier !== undefined) for (const change of allChanges(honoured)) Queue.offerUnsafe(this.#queue, change)
      return
    }
    const change = changeOf(this.#wished, notification)
    if (change !== undefined) Queue.offerUnsafe(this.#queue, change)
  }

  /** Whether the stream was cut while the connection, if there is such a thing, goes on. */
  #isCut({ reason }: McpError): boolean {
    return (
      (reason._tag === "TransportFailure" || reason._tag === "Closed") &&
      this.#conversation.agreement.link.session.closed === undefined
    )
  }
}
