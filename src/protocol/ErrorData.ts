/**
 * What the `data` of MCP's own JSON-RPC errors holds.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#error-codes
 */
import * as Schema from "effect/Schema"
import { ClientCapabilities } from "./Capabilities.ts"
import { ElicitRequestURLParams } from "./Elicitation.ts"

/** `data` of `-32022`, from 2026-07-28 (ERR-10). `supported` may name legacy versions too. */
export const UnsupportedProtocolVersionData = Schema.Struct({
  supported: Schema.Array(Schema.String),
  requested: Schema.String
})

/** `data` of `-32022`. */
export type UnsupportedProtocolVersionData = typeof UnsupportedProtocolVersionData.Type

/** `data` of `-32021`, from 2026-07-28: what the client would have to declare (ERR-09). */
export const MissingRequiredClientCapabilityData = Schema.Struct({ requiredCapabilities: ClientCapabilities })

/** `data` of `-32021`. */
export type MissingRequiredClientCapabilityData = typeof MissingRequiredClientCapabilityData.Type

/** `data` of `-32042`, only in 2025-11-25: pages the user must visit before the request can work (ELIC-11). */
export const UrlElicitationRequiredData = Schema.Struct({ elicitations: Schema.Array(ElicitRequestURLParams) })

/** `data` of `-32042`. */
export type UrlElicitationRequiredData = typeof UrlElicitationRequiredData.Type
