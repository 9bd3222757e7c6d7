/**
 * What a handler may know of the call that it answers. The runtime provides it; a handler that uses it says so in its
 * type, so using it outside a call does not compile.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { RequestId } from "../protocol/JsonRpc.ts"
import type { ClientCapabilities, Implementation, LoggingLevel, RequestMeta } from "../protocol/index.ts"
import type { McpError } from "../protocol/McpError.ts"
import type { Principal } from "../transport/Transport.ts"
import type { Revision } from "../revision/Revision.ts"
import type { Question } from "./Question.ts"

export type { Principal } from "../transport/Transport.ts"

/** The peer that called, as it described itself. Self-asserted: fit for display, never for decisions (META-17). */
export interface Caller {
  /** What it calls itself; `undefined` when it did not say (2026-07-28 only). */
  readonly info: Implementation | undefined
  /** What it can be asked for, as declared in the handshake or, from 2026-07-28, in this request. */
  readonly capabilities: ClientCapabilities
}

/**
 * The call being answered.
 *
 * @example
 * ```ts
 * import { Effect } from "effect"
 * import { CallContext, Tool } from "mcp-effect"
 *
 * const whoami = Tool.handle(Tool.make("whoami"), () =>
 *   Effect.map(CallContext.CallContext, ({ principal }) => principal?.subject ?? "nobody")
 * )
 * ```
 */
export class CallContext extends Context.Service<
  CallContext,
  {
    /** The JSON-RPC method, such as `tools/call`. */
    readonly method: string
    /** The JSON-RPC id, as the peer sent it. */
    readonly requestId: RequestId
    /** The dated revision that the call is spoken in. */
    readonly revision: Revision
    /** Who called. */
    readonly caller: Caller
    /** Whom the transport has authenticated; `undefined` when it has authenticated nobody. */
    readonly principal: Principal | undefined
    /** `params._meta` as it came: progress token, trace context (`traceparent`, …), vendor keys. */
    readonly meta: RequestMeta
    /** The HTTP request's headers, names in lower case; `undefined` on other transports. */
    readonly headers: { readonly [name: string]: string | undefined } | undefined
    /** The least severe level of log message that the peer asked for; `undefined` when it wants none. */
    readonly logLevel: LoggingLevel | undefined
    /** Sends a notification that belongs to this call. */
    readonly notify: (method: string, params: { readonly [member: string]: unknown }) => Effect.Effect<void>
    /** Ends the connection that waits for the answer, where the client can come back for it. See `Polling`. */
    readonly disconnect: Effect.Effect<void>
    /** Asks the peer, in the way of its revision. Handlers use `Peer` instead. */
    readonly ask: (question: Question) => Effect.Effect<unknown, McpError>
    /** What `Step.run` has remembered of earlier rounds, and what it is to remember. */
    readonly steps: StepMemory
  }
>()("mcp-effect/CallContext") {}

/** Results of the steps of a handler that may be run again when its question was answered. */
export interface StepMemory {
  /** What a step has given in an earlier round; `undefined` when it has not run. */
  readonly get: (name: string) => { readonly value: unknown } | undefined
  /** Remembers what a step has given. */
  readonly set: (name: string, value: unknown) => void
}

/** Remembers nothing. */
export const noSteps: StepMemory = { get: () => undefined, set: () => {} }
