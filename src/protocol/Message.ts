/**
 * What the params of all requests and notifications, and all results, have in common.
 *
 * Schemas of this floor describe JSON as it is on the wire: a value that passes is used as it is, so members that a
 * schema does not name survive (BASE-30). Nothing is transformed.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic
 */
import * as Schema from "effect/Schema"
import { NotificationMeta, RequestMeta, ResultMeta } from "./Meta.ts"

/** Member of the params of every request. */
export const requestParams = { _meta: Schema.optionalKey(RequestMeta) }

/** Member of the params of every notification. */
export const notificationParams = { _meta: Schema.optionalKey(NotificationMeta) }

/**
 * Members of every result that answers a request for good. `resultType` is a matter of the codecs: from 2026-07-28 it
 * is always on the wire (BASE-22), and absent means `"complete"` (BASE-23), so nobody needs to write it.
 */
export const resultMembers = {
  _meta: Schema.optionalKey(ResultMeta),
  resultType: Schema.optionalKey(Schema.Literal("complete"))
}

/** Params of a request that takes none. */
export const RequestParams = Schema.Struct(requestParams)

/** Params of a request that takes none. */
export type RequestParams = typeof RequestParams.Type

/** Params of a notification that has none. */
export const NotificationParams = Schema.Struct(notificationParams)

/** Params of a notification that has none. */
export type NotificationParams = typeof NotificationParams.Type

/** A result that says no more than "done". */
export const EmptyResult = Schema.Struct(resultMembers)

/** A result that says no more than "done". */
export type EmptyResult = typeof EmptyResult.Type
