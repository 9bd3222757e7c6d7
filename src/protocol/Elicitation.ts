/**
 * Elicitation: a server asks the user, by a form or by a page to visit (from 2025-06-18).
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
 */
import * as Schema from "effect/Schema"
import { ElicitationSchema } from "./ElicitationSchema.ts"
import { notificationParams, requestParams, resultMembers } from "./Message.ts"

/** Asks by a form. Absent `mode` means this one (ELIC-07). */
export const ElicitRequestFormParams = Schema.Struct({
  ...requestParams,
  mode: Schema.optionalKey(Schema.Literal("form")),
  message: Schema.String,
  requestedSchema: ElicitationSchema
})

/** Asks by a form. */
export type ElicitRequestFormParams = typeof ElicitRequestFormParams.Type

/** Asks the user to visit a page (from 2025-11-25). */
export const ElicitRequestURLParams = Schema.Struct({
  ...requestParams,
  mode: Schema.Literal("url"),
  message: Schema.String,
  url: Schema.String,
  /** Required in 2025-11-25, gone in 2026-07-28 (ELIC-08, ELIC-09). Unique per server, opaque to the client. */
  elicitationId: Schema.optionalKey(Schema.String)
})

/** Asks the user to visit a page. */
export type ElicitRequestURLParams = typeof ElicitRequestURLParams.Type

/** Params of `elicitation/create`. The page comes first: a peer that names its mode is told what that mode lacks. */
export const ElicitRequestParams = Schema.Union([ElicitRequestURLParams, ElicitRequestFormParams])

/** Params of `elicitation/create`. */
export type ElicitRequestParams = typeof ElicitRequestParams.Type

/** Asks the user. In 2026-07-28 a bare object inside `inputRequests` (MRTR-04). */
export const ElicitRequest = Schema.Struct({
  method: Schema.Literal("elicitation/create"),
  params: ElicitRequestParams
})

/** Asks the user. */
export type ElicitRequest = typeof ElicitRequest.Type

/** What a field of a form can hold; lists from 2025-11-25 (ELIC-14). */
export const ElicitContentValue = Schema.Union([
  Schema.String,
  Schema.Number,
  Schema.Boolean,
  Schema.Array(Schema.String)
])

/** What a field of a form can hold. */
export type ElicitContentValue = typeof ElicitContentValue.Type

/** Result of `elicitation/create`. `content` comes only with `"accept"` of a form (ELIC-13). */
export const ElicitResult = Schema.Struct({
  ...resultMembers,
  action: Schema.Literals(["accept", "decline", "cancel"]),
  content: Schema.optionalKey(Schema.Record(Schema.String, ElicitContentValue))
})

/** Result of `elicitation/create`. */
export type ElicitResult = typeof ElicitResult.Type

/** Params of `notifications/elicitation/complete`: what happened on the page is over. Only in 2025-11-25 (ELIC-10). */
export const ElicitationCompleteNotificationParams = Schema.Struct({
  ...notificationParams,
  elicitationId: Schema.String
})

/** Params of `notifications/elicitation/complete`. */
export type ElicitationCompleteNotificationParams = typeof ElicitationCompleteNotificationParams.Type
