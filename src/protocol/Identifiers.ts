/**
 * Ids and tokens that tie messages together. Both kinds are a string or an integer, and keep the type they came with.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic
 */
import * as Schema from "effect/Schema"

const stringOrInteger = Schema.Union([Schema.String, Schema.Int])

/** The id of a request, where another message names it (BASE-02). */
export const RequestId = stringOrInteger

/** The id of a request. */
export type RequestId = typeof RequestId.Type

/** Chosen by the sender of a request that wants progress; names that request in `notifications/progress` (META-07). */
export const ProgressToken = stringOrInteger

/** Names a request in `notifications/progress`. */
export type ProgressToken = typeof ProgressToken.Type
