/**
 * What a client does when a server asks it for something: a form to fill in, a page to open, its model, its roots.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client
 */
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { McpError } from "../protocol/McpError.ts"
import type {
  ClientCapabilities,
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestFormParams,
  ElicitRequestURLParams,
  ElicitResult,
  Root
} from "../protocol/index.ts"

/**
 * Handlers by what they answer. A capability is declared if and only if its handler is here (BUG-120), and servers are
 * asked for nothing that is not declared.
 *
 * A handler that fails makes the server's question fail; what a person decided is a value, never a failure.
 */
export interface Handlers<out R> {
  /**
   * Asks a person to fill in a form. Fields that an `accept` leaves out get the defaults of the form, and what does not
   * fit the form is not sent. Show who is asking, and let the person decline (ELIC-20).
   */
  readonly elicit?: ((request: ElicitRequestFormParams) => Effect.Effect<ElicitResult, McpError, R>) | undefined
  /**
   * Asks a person whether to open a page. Show the whole URL; never open or fetch it without their consent (ELIC-21).
   */
  readonly elicitUrl?: ((request: ElicitRequestURLParams) => Effect.Effect<ElicitResult, McpError, R>) | undefined
  /** Completes a conversation with the client's model. Keep a person in the loop (SAMP-18). */
  readonly sample?:
    ((request: CreateMessageRequestParams) => Effect.Effect<CreateMessageResult, McpError, R>) | undefined
  /** What `sample` can do besides plain messages. Default: nothing. */
  readonly sampling?: Sampling | undefined
  /** The directories and files that servers may work in. Their URIs are `file://` (ROOT-06). */
  readonly roots?: Effect.Effect<ReadonlyArray<Root>, McpError, R> | undefined
  /** Emits whenever `roots` has changed; servers up to 2025-11-25 are told (ROOT-05). */
  readonly rootsChanges?: Stream.Stream<void, never, R> | undefined
}

/** What a sampling handler can do besides plain messages. */
export interface Sampling {
  /** It takes `tools` and `toolChoice` (SAMP-08). Default `false`. */
  readonly tools?: boolean | undefined
  /** It takes an `includeContext` other than `none` (SAMP-14). Default `false`. */
  readonly context?: boolean | undefined
}

/** What a client with these handlers declares. */
export const capabilitiesOf = (handlers: Handlers<unknown>): ClientCapabilities => {
  const { elicit, elicitUrl, roots, rootsChanges, sample, sampling } = handlers
  return {
    ...((elicit !== undefined || elicitUrl !== undefined) && {
      elicitation: { ...(elicit !== undefined && { form: {} }), ...(elicitUrl !== undefined && { url: {} }) }
    }),
    ...(sample !== undefined && {
      sampling: { ...(sampling?.tools === true && { tools: {} }), ...(sampling?.context === true && { context: {} }) }
    }),
    ...(roots !== undefined && { roots: rootsChanges === undefined ? {} : { listChanged: true } })
  }
}
