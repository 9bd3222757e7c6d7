/**
 * What a client or a server says about itself.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#meta
 */
import * as Schema from "effect/Schema"
import { baseMetadata, icons } from "./Icon.ts"

/** Name and version of a program (LIFE-13). Self-asserted: for display and logs, never for decisions (META-17). */
export const Implementation = Schema.Struct({
  ...baseMetadata,
  ...icons,
  version: Schema.String,
  description: Schema.optionalKey(Schema.String),
  websiteUrl: Schema.optionalKey(Schema.String)
})

/** Name and version of a program. */
export type Implementation = typeof Implementation.Type
