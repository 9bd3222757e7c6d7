/**
 * What each side can do. Both sets are open: members that this file does not know are kept and ignored (LIFE-15).
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#capabilities
 */
import * as Schema from "effect/Schema"
import { JsonObject } from "./Json.ts"

const namedSettings = Schema.optionalKey(Schema.Record(Schema.String, JsonObject))
const settings = Schema.optionalKey(JsonObject)
const flag = Schema.optionalKey(Schema.Boolean)

/** What a client offers to servers (LIFE-14, VER-12). Presence of a member is the declaration; `{}` will do. */
export const ClientCapabilities = Schema.Struct({
  experimental: namedSettings,
  /** The client tells which folders it works in. `listChanged` up to 2025-11-25. Deprecated in 2026-07-28. */
  roots: Schema.optionalKey(Schema.Struct({ listChanged: flag })),
  /** The client lets servers use its model. Deprecated in 2026-07-28. */
  sampling: Schema.optionalKey(Schema.Struct({ context: settings, tools: settings })),
  /** The client asks its user on behalf of servers. `{}` means forms only (ELIC-03). */
  elicitation: Schema.optionalKey(Schema.Struct({ form: settings, url: settings })),
  /** Settings by extension id, such as `io.modelcontextprotocol/tasks`. */
  extensions: namedSettings
})

/** What a client offers to servers. */
export type ClientCapabilities = typeof ClientCapabilities.Type

/** What a server offers to clients (LIFE-14, VER-13). Presence of a member is the declaration; `{}` will do. */
export const ServerCapabilities = Schema.Struct({
  experimental: namedSettings,
  /** The server emits log notifications. Deprecated in 2026-07-28. */
  logging: settings,
  /** The server completes arguments (from 2025-03-26). */
  completions: settings,
  prompts: Schema.optionalKey(Schema.Struct({ listChanged: flag })),
  resources: Schema.optionalKey(Schema.Struct({ subscribe: flag, listChanged: flag })),
  tools: Schema.optionalKey(Schema.Struct({ listChanged: flag })),
  /** Settings by extension id. */
  extensions: namedSettings
})

/** What a server offers to clients. */
export type ServerCapabilities = typeof ServerCapabilities.Type
