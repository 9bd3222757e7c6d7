/**
 * A call of a tool as a stream: how far it has come, what it logs, and its result last.
 */
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import type { McpError } from "../protocol/McpError.ts"
import type { LoggingMessageNotificationParams } from "../protocol/index.ts"
import type { Progress, RequestOptions } from "./Conversation.ts"
import type { Notifications } from "./Notifications.ts"

/** What happens during a call. */
export type ToolEvent<A> =
  | ({ readonly _tag: "Progress" } & Progress)
  | ({ readonly _tag: "Log" } & LoggingMessageNotificationParams)
  | { readonly _tag: "Result"; readonly value: A }

/** Events that wait for a slow reader; then the oldest are dropped, the result never. */
const bufferSize = 1024

/**
 * Runs a call and streams its events. A log message names no request, so that those of other calls that run at the same
 * time on the same client are among them.
 */
export const events = <A, E>(
  notifications: Notifications,
  options: RequestOptions,
  call: (options: RequestOptions) => Effect.Effect<A, E | McpError>
): Stream.Stream<ToolEvent<A>, E | McpError> =>
  Stream.callback<ToolEvent<A>, E | McpError>(
    (queue) =>
      Effect.gen(function* () {
        const push = (event: ToolEvent<A>): void => {
          Queue.offerUnsafe(queue, event)
        }
        yield* notifications.listen(({ method, params }) => {
          if (method === "notifications/message") push({ _tag: "Log", ...params })
        })
        const value = yield* call({
          ...options,
          logLevel: options.logLevel ?? "info",
          onProgress: (progress) => {
            push({ _tag: "Progress", ...progress })
            options.onProgress?.(progress)
          }
        })
        push({ _tag: "Result", value })
        yield* Queue.end(queue)
      }),
    { bufferSize, strategy: "sliding" }
  )
