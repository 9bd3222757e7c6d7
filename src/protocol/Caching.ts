/**
 * How long a result stays fresh, and who may share it (from 2026-07-28).
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
 */
import * as Schema from "effect/Schema"

/** Who may reuse a cached result: everybody, or only the authorization context it was made for (CACHE-06, CACHE-07). */
export const CacheScope = Schema.Literals(["public", "private"])

/** Who may reuse a cached result. */
export type CacheScope = typeof CacheScope.Type

/**
 * Members of the six cacheable results (CACHE-01). Optional here: a server that leaves them out gets `0` and
 * `"private"` from the codec, and an older server has none. A negative `ttlMs` reads as 0 (CACHE-03).
 */
export const cacheable = {
  /** Milliseconds, an integer of at least 0 (CACHE-02). */
  ttlMs: Schema.optionalKey(Schema.Int),
  cacheScope: Schema.optionalKey(CacheScope)
}
