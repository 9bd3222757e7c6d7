/**
 * What all list operations have in common: a page of a catalog, with its cursor and cache hint.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { CallContext } from "../../definition/CallContext.ts"
import type { McpError } from "../../protocol/McpError.ts"
import type { CacheScope } from "../../protocol/index.ts"
import type { Entry } from "../Catalog.ts"
import type { Cacheable, McpServer } from "../McpServer.ts"
import { page } from "../Pagination.ts"

/** What a server says about how long a result may be kept (CACHE-01, CACHE-02). */
export const cacheHint = <R>(
  server: McpServer<R>,
  what: Cacheable
): { readonly ttlMs?: number; readonly cacheScope?: CacheScope } => {
  const hint = server.cache[what]
  if (hint === undefined) return {}
  const ttlMs = Math.trunc(Duration.toMillis(Duration.fromInputUnsafe(hint.ttl ?? 0)))
  return { ttlMs, cacheScope: hint.scope ?? "private" }
}

/** Lists a page, and describes its entries. */
export const listPage = <A extends Entry, Result_, R, RS>(
  server: McpServer<RS>,
  what: Cacheable,
  list: Effect.Effect<ReadonlyArray<A>, McpError, R | CallContext>,
  cursor: string | undefined,
  describe: (entries: ReadonlyArray<A>) => Result_
): Effect.Effect<Result_ & { readonly nextCursor?: string }, McpError, R | CallContext> =>
  Effect.flatMapEager(list, (entries) => {
    const part = page(entries, cursor, server.pageSize)
    if (Result.isFailure(part)) return Effect.fail(part.failure)
    const { nextCursor } = part.success
    return Effect.succeed({
      ...describe(part.success.entries),
      ...(nextCursor !== undefined && { nextCursor }),
      ...cacheHint(server, what)
    })
  })
