/**
 * Standing around every operation of a server: measuring, refusing, rewriting.
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { CallContext } from "../definition/CallContext.ts"
import type { Members } from "../protocol/JsonRpc.ts"
import type { McpError } from "../protocol/McpError.ts"

/** One operation, in the canonical model, whatever the revision it was asked in. */
export interface Operation {
  /** Such as `tools/call`. */
  readonly method: string
  /** The params, as the revision's codec has read them. */
  readonly params: Members
}

/**
 * Runs around an operation: `next` is the rest of the way to the handler. The first in the list is the outermost.
 *
 * @example
 * ```ts
 * import { Effect } from "effect"
 * import type { Middleware } from "mcp-effect"
 *
 * const timed: Middleware.Middleware = (operation, next) => Effect.withSpan(next, operation.method)
 * ```
 */
export interface Middleware<out R = never> {
  (
    operation: Operation,
    next: Effect.Effect<Members, McpError, CallContext | Scope.Scope>
  ): Effect.Effect<Members, McpError, R | CallContext | Scope.Scope>
}
