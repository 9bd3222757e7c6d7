/**
 * Suggestions for the arguments of prompts and the variables of resource templates.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion
 */
import type * as Effect from "effect/Effect"
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
export type Completers = { readonly [name: string]: Completer<unknown> }

/** What completers need. */
export type CompletersNeeds<C> = { [K in keyof C]: C[K] extends Completer<infer R> ? R : never }[keyof C]

/** A completer for an argument that is not there is a mistake in the program, so this throws. */
export const checkNames = (what: string, completers: object, names: ReadonlyArray<string>): void => {
  const unknown = Object.keys(completers).find((name) => !names.includes(name))
  if (unknown !== undefined) throw new TypeError(`${what} has no "${unknown}" to complete`)
}
