/**
 * Roots: the folders a client works in. Deprecated in 2026-07-28.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/roots
 */
import * as Schema from "effect/Schema"
import { requestParams, resultMembers } from "./Message.ts"
import { Meta } from "./Meta.ts"

/** A folder; `uri` starts with `file://` (ROOT-06). */
export const Root = Schema.Struct({
  uri: Schema.String,
  name: Schema.optionalKey(Schema.String),
  _meta: Schema.optionalKey(Meta)
})

/** A folder. */
export type Root = typeof Root.Type

/** Params of `roots/list`. */
export const ListRootsRequestParams = Schema.Struct(requestParams)

/** Params of `roots/list`. */
export type ListRootsRequestParams = typeof ListRootsRequestParams.Type

/** Asks for the roots. In 2026-07-28 a bare object inside `inputRequests` (MRTR-04). */
export const ListRootsRequest = Schema.Struct({
  method: Schema.Literal("roots/list"),
  params: Schema.optionalKey(ListRootsRequestParams)
})

/** Asks for the roots. */
export type ListRootsRequest = typeof ListRootsRequest.Type

/** Result of `roots/list` (ROOT-03). */
export const ListRootsResult = Schema.Struct({ ...resultMembers, roots: Schema.Array(Root) })

/** Result of `roots/list`. */
export type ListRootsResult = typeof ListRootsResult.Type
