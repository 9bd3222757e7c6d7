/**
 * From the outcome of a handler to the answer that the peer gets: exactly one, whatever happened.
 */
import { Cause, Effect } from "effect"
import * as JsonRpc from "../protocol/JsonRpc.ts"
import { type McpError, toErrorObject } from "../protocol/McpError.ts"

/** The first declared failure of a cause. */
export const failureOf = (cause: Cause.Cause<McpError>): McpError | undefined => {
  for (const reason of cause.reasons) if (Cause.isFailReason(reason)) return reason.error
  return undefined
}

/** Runs a handler and replies. A defect is logged on this side and told to the peer without its text. */
export const respond = <R, R2>(
  request: JsonRpc.Request,
  handler: Effect.Effect<JsonRpc.Members, McpError, R>,
  reply: (answer: JsonRpc.Response) => Effect.Effect<void, never, R2>
): Effect.Effect<void, never, R | R2> =>
  Effect.matchCauseEffect(handler, {
    onSuccess: (value) => reply(JsonRpc.result(request.id, value)),
    onFailure: (cause) => {
      const error = failureOf(cause)
      if (error !== undefined) return reply(JsonRpc.error(request.id, toErrorObject(error)))
      const internal = { code: JsonRpc.ErrorCode.InternalError, message: "Internal error" }
      return Effect.andThen(
        Effect.logError(`The handler of ${request.method} failed unexpectedly`, cause),
        reply(JsonRpc.error(request.id, internal))
      )
    }
  })
