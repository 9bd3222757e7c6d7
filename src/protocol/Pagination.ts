/**
 * Lists that come in pages.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
 */
import * as Schema from "effect/Schema"
import { requestParams } from "./Message.ts"

/** Where the next page starts. Opaque; the empty string is a cursor like any other (PAGE-02, PAGE-04). */
export const Cursor = Schema.String

/** Where the next page starts. */
export type Cursor = typeof Cursor.Type

/** Params of every list request; without `cursor` the first page (PAGE-01). */
export const PaginatedRequestParams = Schema.Struct({ ...requestParams, cursor: Schema.optionalKey(Cursor) })

/** Params of every list request. */
export type PaginatedRequestParams = typeof PaginatedRequestParams.Type

/** Member of every list result. Absence ends the list, and so does `null`, which some servers send (PAGE-04). */
export const paginatedResult = { nextCursor: Schema.optionalKey(Schema.NullOr(Cursor)) }
