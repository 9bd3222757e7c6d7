/**
 * `subscriptions/listen` (from 2026-07-28): a request that stays open and carries the changes its client asked for.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { CallContext } from "../../definition/CallContext.ts"
import { McpError } from "../../protocol/McpError.ts"
import {
  MetaKey,
  type SubscriptionFilter,
  type SubscriptionsListenRequestParams,
  type SubscriptionsListenResult
} from "../../protocol/index.ts"
import * as Changes from "../Changes.ts"
import type { ServerRuntime } from "../ServerRuntime.ts"

export const listen =
  <R>(runtime: ServerRuntime<R>) =>
  (
    params: SubscriptionsListenRequestParams
  ): Effect.Effect<SubscriptionsListenResult, McpError, R | CallContext | Scope.Scope> =>
    Effect.gen(function* () {
      const call = yield* CallContext
      // Every message of the stream carries the id of this request, as it was sent (META-18).
      const _meta = { [MetaKey.subscriptionId]: call.requestId }
      const uris = new Set(params.notifications.resourceSubscriptions ?? [])
      const most = runtime.server.limits.subscriptions
      if (uris.size > most) return yield* McpError.limit("subscriptions", `Too many subscriptions: at most ${most}`)
      const { honoured, streams } = yield* subscribe(runtime, params.notifications)
      // Subscribed before the acknowledgement, sent after it: nothing gets lost and nothing comes first (SUBS-04).
      yield* call.notify("notifications/subscriptions/acknowledged", { notifications: honoured, _meta })
      if (streams.length === 0) return { _meta }
      const changes = Stream.mergeAll(streams, { concurrency: "unbounded" })
      yield* Effect.raceFirst(
        Stream.runForEach(changes, ({ method, params }) => call.notify(method, { ...params, _meta })),
        runtime.closing
      )
      return { _meta }
    })

/** What of the wish can be honoured, and the streams that do so (SUBS-03, SUBS-14). */
const subscribe = <R>(runtime: ServerRuntime<R>, wish: SubscriptionFilter) =>
  Effect.gen(function* () {
    const streams: Array<Stream.Stream<Changes.Change, never, R>> = []
    const honoured: { -readonly [K in keyof SubscriptionFilter]: SubscriptionFilter[K] } = {}
    for (const list of ["tools", "prompts", "resources"] as const) {
      if (wish[`${list}ListChanged`] !== true || !Changes.canChange(runtime, list)) continue
      honoured[`${list}ListChanged`] = true
      streams.push(yield* Changes.ofList(runtime, list))
    }
    const uris: Array<string> = []
    for (const uri of new Set(wish.resourceSubscriptions ?? [])) {
      const changes = yield* Effect.catch(Changes.ofResource(runtime, uri), () => Effect.undefined)
      if (changes === undefined) continue
      uris.push(uri)
      streams.push(yield* started(yield* changes))
    }
    if (uris.length > 0) honoured.resourceSubscriptions = uris
    return { honoured, streams }
  })

/** Runs a stream from now on. What it emits before somebody looks is kept; once is enough, for a change says no more. */
const started = <R>(stream: Stream.Stream<Changes.Change, never, R>) =>
  Effect.gen(function* () {
    const queue = yield* Queue.sliding<Changes.Change, Cause.Done>(1)
    yield* Effect.forkScoped(Stream.runIntoQueue(stream, queue), { startImmediately: true })
    return Stream.fromQueue(queue)
  })
