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
export type Completers<Name extends string, out R> = { readonly [K in Name]?: Completer<R> | undefined }
