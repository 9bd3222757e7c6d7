/**
 * Telling the peer how far a call has come.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
 */
import * as Effect from "effect/Effect"
import { CallContext } from "./CallContext.ts"

/** How far a call has come. `progress` must rise with every report; what does not rise is not sent (PROG-02). */
export interface Report {
  /** How much is done; may be a fraction. */
  readonly progress: number
  /** The value of `progress` at the end, when it is known. */
  readonly total?: number | undefined
  /** For a person to read. Sent from 2025-03-26 on. */
  readonly message?: string | undefined
}

/** An element of a handler's stream that reports progress; every other element is its result. */
export class Update {
  readonly _tag = "Progress"
  readonly report: Report
  constructor(report: Report) {
    this.report = report
  }
}

/** Makes an {@link Update} for a handler that answers with a stream. */
export const update = (report: Report): Update => new Update(report)

/**
 * Reports progress of the call being answered. Does nothing when the peer did not ask for progress.
 *
 * @example
 * ```ts
 * import { Effect } from "effect"
 * import { Progress } from "mcp-effect"
 *
 * const indexAll = (paths: ReadonlyArray<string>) =>
 *   Effect.forEach(paths, (path, index) =>
 *     Progress.report({ progress: index + 1, total: paths.length, message: path })
 *   )
 * ```
 */
export const report = (value: Report): Effect.Effect<void, never, CallContext> =>
  Effect.flatMap(CallContext, (call) => {
    const token = call.meta.progressToken
    return token === undefined ? Effect.void : call.notify("notifications/progress", { progressToken: token, ...value })
  })
