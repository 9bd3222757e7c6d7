/**
 * The answers a client puts into a retried request (from 2026-07-28).
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import * as Schema from "effect/Schema"
import { JsonObject } from "./Json.ts"

/**
 * Answers by the key of the question. They have no tag: each is read by the method of the question under the same key,
 * and answers to questions nobody asked are ignored (MRTR-17), so here they are any objects.
 */
export const InputResponses = Schema.Record(Schema.String, JsonObject)

/** Answers by the key of the question. */
export type InputResponses = typeof InputResponses.Type

/** Members of the three requests that may be answered with `input_required` (MRTR-01, MRTR-07, MRTR-09). */
export const inputResponseParams = {
  inputResponses: Schema.optionalKey(InputResponses),
  /** Opaque; echoed byte for byte. */
  requestState: Schema.optionalKey(Schema.String)
}
