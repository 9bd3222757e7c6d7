/**
 * How far a request is.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
 */
import * as Schema from "effect/Schema"
import { ProgressToken } from "./Identifiers.ts"
import { notificationParams } from "./Message.ts"

/** Params of `notifications/progress` (PROG-02, PROG-03). `progress` grows with each; the unit is the sender's. */
export const ProgressNotificationParams = Schema.Struct({
  ...notificationParams,
  progressToken: ProgressToken,
  progress: Schema.Number,
  total: Schema.optionalKey(Schema.Number),
  /** From 2025-03-26. */
  message: Schema.optionalKey(Schema.String)
})

/** Params of `notifications/progress`. */
export type ProgressNotificationParams = typeof ProgressNotificationParams.Type
