/**
 * Lists that come in pages, as streams over all of them.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { McpError } from "../protocol/McpError.ts"
import type { Limits } from "./Settings.ts"

/** One page. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  /** Where the next page starts. Absent or `null` after the last page; the empty string is a cursor (PAGE-04). */
  readonly nextCursor?: string | null | undefined
}

/**
 * The items of all pages, in order; each page is fetched when the stream gets there. Fails with `DecodeFailure` when the
 * server gives a cursor for the second time, which would never end, and with `LimitExceeded` when the list is too long.
 */
export const list = <A>(
  method: string,
  limits: Limits,
  fetch: (cursor: string | undefined) => Effect.Effect<Page<A>, McpError>
): Stream.Stream<A, McpError> =>
  Stream.suspend(() => {
    const seen = new Set<string>()
    let pages = 0
    let count = 0
    return Stream.paginate<string | undefined, A, McpError>(
      undefined,
      Effect.fnUntraced(function* (cursor) {
        if (++pages > limits.pages) return yield* tooLong(method, "pages", limits)
        const { items, nextCursor } = yield* fetch(cursor)
        count += items.length
        if (count > limits.items) return yield* tooLong(method, "items", limits)
        if (nextCursor === undefined || nextCursor === null) return [items, Option.none()] as const
        if (seen.has(nextCursor)) return yield* McpError.decode(`The server gave the same cursor of ${method} twice`)
        seen.add(nextCursor)
        return [items, Option.some(nextCursor)] as const
      })
    )
  })

const tooLong = (method: string, limit: "pages" | "items", limits: Limits): McpError =>
  McpError.limit(limit, `The answers to ${method} have more than ${limits[limit]} ${limit}`)
