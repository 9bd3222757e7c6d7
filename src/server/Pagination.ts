/**
 * Cutting a list into pages. A cursor names the entry that the page before it ended with, so it stays good while other
 * entries come and go.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
 */
import * as Result from "effect/Result"
import * as Base64Url from "effect/encoding/Base64Url"
import { McpError } from "../protocol/McpError.ts"
import type { Entry } from "./Catalog.ts"

/** Part of a list, and the cursor of the next part when there is one. */
export interface Page<A> {
  readonly entries: ReadonlyArray<A>
  readonly nextCursor?: string
}

/** The page after `cursor`. A cursor that this list did not give out, or whose entry is gone, is refused (PAGE-06). */
export const page = <A extends Entry>(
  entries: ReadonlyArray<A>,
  cursor: string | undefined,
  size: number
): Result.Result<Page<A>, McpError> => {
  let start = 0
  if (cursor !== undefined) {
    const key = Base64Url.decodeString(cursor)
    const index = Result.isSuccess(key) ? entries.findIndex((entry) => entry.key === key.success) : -1
    if (index === -1) return Result.fail(McpError.invalidParams("Invalid cursor: list again from the start"))
    start = index + 1
  }
  if (entries.length - start <= size) return Result.succeed({ entries: start === 0 ? entries : entries.slice(start) })
  const last = entries[start + size - 1] as A
  return Result.succeed({ entries: entries.slice(start, start + size), nextCursor: Base64Url.encode(last.key) })
}
