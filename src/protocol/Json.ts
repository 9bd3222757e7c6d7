/**
 * Open JSON, where the specification leaves the contents to others.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic
 */
import * as Schema from "effect/Schema"

/** Any JSON object: extension settings, metadata, arguments. The values are not looked at. */
export const JsonObject = Schema.Record(Schema.String, Schema.Unknown)

/** Any JSON object. */
export type JsonObject = typeof JsonObject.Type
