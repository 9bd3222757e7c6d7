/**
 * Giving up a request.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation
 */
import * as Schema from "effect/Schema"
import { RequestId } from "./Identifiers.ts"
import { notificationParams } from "./Message.ts"

/** Params of `notifications/cancelled` (CANC-01). The id is required in every revision we write (A24). */
export const CancelledNotificationParams = Schema.Struct({
  ...notificationParams,
  requestId: RequestId,
  reason: Schema.optionalKey(Schema.String)
})

/** Params of `notifications/cancelled`. */
export type CancelledNotificationParams = typeof CancelledNotificationParams.Type
