/**
 * Suggestions for the arguments of prompts and the variables of resource templates.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion
 */
import type { Effect } from "effect"
import type { McpError } from "../protocol/McpError.ts"

/** What a completer may know besides the text typed so far. */
export interface CompletionContext {
  /** Arguments that were chosen before. */
  readonly arguments: { readonly [name: string]: string }
}

/** Suggests values for what was typed so far, best first. At most 100 are sent; how many there are is sent along. */
export type Completer<out R> = (
  value: string,
  context: CompletionContext
) => Effect.Effect<ReadonlyArray<string>, McpError, R>

/** Completers by argument name. */
export type Completers<Name extends string> = { readonly [K in Name]?: Completer<unknown> | undefined }

/** What completers need. */
export type CompletersNeeds<C> = { [K in keyof C]: C[K] extends Completer<infer R> ? R : never }[keyof C]

/** Refuses completers for arguments that are not there. */
export type Known<C, Name extends string> = C & { readonly [K in Exclude<keyof C, Name>]: never }
