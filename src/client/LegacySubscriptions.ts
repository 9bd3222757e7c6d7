/**
 * Subscriptions up to 2025-11-25: changes of lists come by themselves, resources are subscribed to one by one. However
 * many streams watch a resource, the server is asked once.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import type { McpError } from "../protocol/McpError.ts"
import type { SubscriptionFilter } from "../protocol/index.ts"
import { bufferSize, type Change, changeOf, compare, type Subscribe, toSubscriptionFilter } from "./Changes.ts"
import type { Conversation } from "./Conversation.ts"
import type { Notifications } from "./Notifications.ts"

/** Whether a request ended without an answer of the server's. */
const mayHaveArrived = (cause: Cause.Cause<McpError>): boolean =>
  !cause.reasons.some((reason) => Cause.isFailReason(reason) && reason.error.reason._tag !== "Timeout")

/** The subscriptions of one client. */
export class LegacySubscriptions {
  readonly #conversation: Conversation
  readonly #notifications: Notifications
  readonly #watchers = new Map<string, number>()
  readonly #lock = Semaphore.makeUnsafe(1)

  constructor(conversation: Conversation, notifications: Notifications) {
    this.#conversation = conversation
    this.#notifications = notifications
    conversation.renewals.add(
      Effect.suspend(() =>
        Effect.forEach(this.#watchers.keys(), (uri) => conversation.attempt("resources/subscribe", { uri }), {
          discard: true
        })
      )
    )
  }

  /** Opens a subscription. */
  readonly subscribe: Subscribe = (filter) =>
    Effect.gen({ self: this }, function* () {
      const wished = toSubscriptionFilter(filter)
      const { link } = this.#conversation.agreement
      const honoured = this.#honoured(wished)
      yield* compare(wished, honoured)
      const queue = yield* Queue.make<Change, McpError | Cause.Done>({ capacity: bufferSize, strategy: "sliding" })
      yield* this.#notifications.listen((notification) => {
        const change = changeOf(honoured, notification)
        if (change !== undefined) Queue.offerUnsafe(queue, change)
      })
      yield* Effect.forkScoped(Effect.flatMap(link.ended, (reason) => Queue.fail(queue, reason)))
      for (const uri of honoured.resourceSubscriptions ?? []) yield* this.#watch(uri)
      return Stream.fromQueue(queue)
    })

  #honoured(wished: SubscriptionFilter): SubscriptionFilter {
    const { prompts, resources, tools } = this.#conversation.agreement.server.capabilities
    return {
      toolsListChanged: wished.toolsListChanged === true && tools?.listChanged === true,
      promptsListChanged: wished.promptsListChanged === true && prompts?.listChanged === true,
      resourcesListChanged: wished.resourcesListChanged === true && resources?.listChanged === true,
      resourceSubscriptions: resources?.subscribe === true ? (wished.resourceSubscriptions ?? []) : []
    }
  }

  #watch(uri: string): Effect.Effect<void, McpError, Scope.Scope> {
    const start = Effect.suspend(() => {
      const watchers = this.#watchers.get(uri) ?? 0
      const counted = Effect.sync(() => void this.#watchers.set(uri, watchers + 1))
      return watchers > 0
        ? counted
        : Effect.andThen(
            Effect.onExit(this.#conversation.request("resources/subscribe", { uri }), (exit) =>
              Exit.isFailure(exit) && mayHaveArrived(exit.cause) ? this.#forget(uri) : Effect.void
            ),
            counted
          )
    })
    return Effect.acquireRelease(this.#lock.withPermit(start), () => this.#later(this.#stop(uri)), {
      interruptible: true
    })
  }

  /** A subscription that was given up before its answer came may have been made all the same. */
  #forget(uri: string): Effect.Effect<void> {
    const unsubscribe = Effect.suspend(() =>
      this.#watchers.has(uri) ? Effect.void : this.#conversation.request("resources/unsubscribe", { uri })
    )
    return this.#later(unsubscribe)
  }

  /** Whoever stops watching need not wait for the server to hear of it. */
  #later(work: Effect.Effect<unknown, McpError>): Effect.Effect<void> {
    return Effect.sync(() => {
      this.#conversation.agreement.link.session.fork(Effect.ignore(this.#lock.withPermit(work)))
    })
  }

  #stop(uri: string): Effect.Effect<void, McpError> {
    return Effect.suspend(() => {
      const watchers = (this.#watchers.get(uri) ?? 1) - 1
      if (watchers > 0) {
        this.#watchers.set(uri, watchers)
        return Effect.void
      }
      this.#watchers.delete(uri)
      return Effect.asVoid(this.#conversation.request("resources/unsubscribe", { uri }))
    })
  }
}
