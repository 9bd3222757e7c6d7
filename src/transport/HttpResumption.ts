/**
 * Taking up an event stream again after it was cut: how long to wait, what to send, when to give up.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import { McpError } from "../protocol/McpError.ts"
import type { Cursor } from "./HttpReply.ts"

/** When a cut stream is opened again. What the server says with `retry:` comes first (HTTP-21). */
export interface ReconnectOptions {
  /** The first wait, without jitter. It doubles from one attempt to the next. Default 1 second. */
  readonly initial?: Duration.Input | undefined
  /** The longest wait of ours. Default 30 seconds. */
  readonly max?: Duration.Input | undefined
  /** Attempts in a row on which nothing arrived, after which we give up. Default 5. */
  readonly attempts?: number | undefined
}

/** {@link ReconnectOptions} with the defaults filled in; times in milliseconds. */
export interface ReconnectPolicy {
  readonly initial: number
  readonly max: number
  readonly attempts: number
}

/** Fills in the defaults. */
export const makePolicy = (options: ReconnectOptions | undefined): ReconnectPolicy => ({
  initial: Duration.toMillis(Duration.fromInputUnsafe(options?.initial ?? "1 second")),
  max: Duration.toMillis(Duration.fromInputUnsafe(options?.max ?? "30 seconds")),
  attempts: options?.attempts ?? 5
})

/** The longest time that timers can hold, in milliseconds. */
const longestTimer = 2 ** 31 - 1

/** Exponential, with jitter, so that the clients of a restarted server do not all come at once. */
const backoff = (policy: ReconnectPolicy, exponent: number): Effect.Effect<number> =>
  Effect.map(Random.next, (random) => Math.min(policy.max, policy.initial * 2 ** exponent) * (0.5 + random / 2))

/** Refusals that may end by themselves: a timeout, the old stream still registered (BUG-40), too early, too many. */
const passing = new Set([408, 409, 425, 429])

/** Whether asking again is worth it: the link failed, or the server itself did. */
const isPassing = (error: McpError): boolean => {
  if (error.reason._tag !== "TransportFailure") return false
  const status = error.reason.status
  return status === undefined || status >= 500 || passing.has(status)
}

/** What one connection of a stream brought. */
export interface Arrival {
  /** The stream was opened. */
  open: boolean
  /** Any event at all, were it only an id. */
  event: boolean
  /** A message. */
  message: boolean
}

/** Options of {@link follow}. */
export interface FollowOptions {
  readonly policy: ReconnectPolicy
  readonly cursor: Cursor
  /** Whether to wait before the first connection too, since it takes up a stream that was just cut. */
  readonly waitFirst: boolean
  /**
   * Opens the stream with `Last-Event-ID` from the cursor, and reads it. `true` means that there is nothing more to wait
   * for, `false` that the stream ended. `arrival` is to be filled in.
   */
  readonly connect: (arrival: Arrival) => Effect.Effect<boolean, McpError>
}

/**
 * Opens a stream again and again until `connect` says that it is complete. Fails with the last failure when the server
 * refuses for good, or when nothing has arrived on several attempts in a row.
 *
 * A polite end is no success: a server that only opens and closes is asked more and more rarely, then no more (BUG-38).
 */
export const follow = Effect.fnUntraced(function* (options: FollowOptions): Effect.fn.Return<void, McpError> {
  const { cursor, policy } = options
  /** Connections in a row without any event: what bounds the attempts. */
  let failures = 0
  /** Connections in a row without a message: what makes the waits longer. */
  let quiet = 0
  let isFirst = !options.waitFirst
  while (true) {
    if (!isFirst) {
      const ours = cursor.retry === undefined || failures > 0 ? yield* backoff(policy, Math.max(0, quiet - 1)) : 0
      // A server may have us poll, but not without pause for ever.
      const least = quiet > policy.attempts ? policy.initial : 0
      yield* Effect.sleep(Duration.millis(Math.min(longestTimer, Math.max(ours, least, cursor.retry ?? 0))))
    }
    isFirst = false
    const started = yield* Clock.currentTimeMillis
    const arrival: Arrival = { open: false, event: false, message: false }
    const result = yield* Effect.result(options.connect(arrival))
    if (Result.isSuccess(result) && result.success) return
    if (Result.isFailure(result) && !isPassing(result.failure)) return yield* result.failure
    const wasLong = (yield* Clock.currentTimeMillis) - started >= policy.max
    const isAlive = arrival.open && wasLong
    failures = arrival.event || isAlive ? 0 : failures + 1
    quiet = arrival.message || isAlive ? 0 : quiet + 1
    if (failures > policy.attempts) {
      return yield* Result.isFailure(result)
        ? result.failure
        : McpError.transport(`The server ended the event stream ${failures} times without sending anything`)
    }
  }
})
