/**
 * Whether a client is there: it introduces itself soon, and gives a sign of life now and then.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { McpError } from "../protocol/McpError.ts"
import type { Limits } from "../session/Limits.ts"

/** What is known of a client. */
export interface Client {
  /** Whether it has sent `initialize`, or a request that stands for itself. */
  readonly isIntroduced: boolean
  /** How many messages have come from it. */
  readonly heard: number
  /** How many of its requests are being worked on. */
  readonly inFlight: number
  /** As {@link ping}; absent where clients can't be asked. */
  readonly ping: Effect.Effect<void, McpError> | undefined
}

/** Pings without an answer before a client counts as gone, and how long each is waited for. */
const attempts = 3
const answerWithin = "30 seconds"

/**
 * Asks a client whether it is there (PING-03). Any answer will do, even one that says no. Fails with `LimitExceeded` when
 * several in a row got none.
 */
export const ping = (
  request: (timeout: Duration.Input) => Effect.Effect<unknown, McpError>
): Effect.Effect<void, McpError> =>
  request(answerWithin).pipe(
    Effect.asVoid,
    Effect.catch((error) => (error.reason._tag === "Timeout" ? Effect.fail(error) : Effect.void)),
    Effect.retry({ times: attempts - 1 }),
    Effect.mapError(() => McpError.limit("idle", `The client did not answer ${attempts} pings`))
  )

const within = (duration: Duration.Input) => Duration.format(Duration.fromInputUnsafe(duration))

/** Fails with `LimitExceeded` when the client can't be taken for being there any more. */
export const watch = (client: Client, limits: Limits): Effect.Effect<never, McpError> =>
  Effect.gen(function* () {
    yield* Effect.sleep(limits.handshake)
    if (!client.isIntroduced) {
      const message = `The client did not introduce itself within ${within(limits.handshake)}`
      return yield* Effect.fail(McpError.limit("handshake", message))
    }
    while (true) {
      const { heard } = client
      yield* Effect.sleep(limits.idle)
      if (client.heard !== heard) continue
      if (client.ping !== undefined) yield* client.ping
      else if (client.inFlight === 0) {
        return yield* Effect.fail(McpError.limit("idle", `The client said nothing for ${within(limits.idle)}`))
      }
    }
  })
