/**
 * Letting a client poll for the answer to a long call, instead of holding a connection open for it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 */
import * as Effect from "effect/Effect"
import { CallContext } from "./CallContext.ts"

/**
 * Ends the HTTP connection that waits for the answer of this call, but not the call: the client comes back for what it
 * has missed, after the time that the server's `retry` option tells it to wait. For calls that take minutes.
 *
 * Does nothing where a client has no way to come back: in revisions other than 2025-11-25, and on other transports.
 *
 * @example
 * ```ts
 * import { Effect } from "effect"
 * import { Polling, Tool } from "mcp-effect"
 *
 * const nightly = Tool.handle(Tool.make("nightly-build"), () =>
 *   Effect.gen(function* () {
 *     yield* Polling.disconnect
 *     yield* Effect.sleep("20 minutes")
 *     return "built"
 *   })
 * )
 * ```
 */
export const disconnect: Effect.Effect<void, never, CallContext> = Effect.flatMap(
  CallContext,
  (call) => call.disconnect
)
