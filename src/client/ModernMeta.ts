/**
 * What every request says of itself from 2026-07-28 on: its revision, and who sends it (META-10 to META-13).
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#meta
 */
import type { Members } from "../protocol/JsonRpc.ts"
import { type LoggingLevel, MetaKey } from "../protocol/index.ts"
import type { Revision } from "../revision/Revision.ts"
import type { Settings } from "./Settings.ts"

/** The `_meta` of every request in a revision. */
export const modernMeta = (settings: Settings, revision: Revision): Members => ({
  [MetaKey.protocolVersion]: revision.version,
  [MetaKey.clientInfo]: settings.info,
  [MetaKey.clientCapabilities]: revision.encodeClientCapabilities(settings.capabilities)
})

/** That of one request. What its caller adds can't replace what the protocol puts there. */
export const withRequestMeta = (meta: Members, added: Members | undefined, logLevel: LoggingLevel | undefined) =>
  added === undefined && logLevel === undefined
    ? meta
    : { ...added, ...meta, ...(logLevel !== undefined && { [MetaKey.logLevel]: logLevel }) }
