/**
 * Hints on who content is for and how much it matters.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources#annotations
 */
import * as Schema from "effect/Schema"

/** Who speaks, or who is meant. */
export const Role = Schema.Literals(["user", "assistant"])

/** Who speaks, or who is meant. */
export type Role = typeof Role.Type

/** Hints for the client; never a promise (RES-12). */
export const Annotations = Schema.Struct({
  audience: Schema.optionalKey(Schema.Array(Role)),
  /** From 0 (optional) to 1 (needed). */
  priority: Schema.optionalKey(Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: 1 }))),
  /** ISO 8601, from 2025-06-18. */
  lastModified: Schema.optionalKey(Schema.String)
})

/** Hints for the client. */
export type Annotations = typeof Annotations.Type
