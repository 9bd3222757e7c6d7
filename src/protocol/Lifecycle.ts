/**
 * How a conversation starts: `initialize` up to 2025-11-25, `server/discover` from 2026-07-28.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/discover
 */
import * as Schema from "effect/Schema"
import { cacheable } from "./Caching.ts"
import { ClientCapabilities, ServerCapabilities } from "./Capabilities.ts"
import { Implementation } from "./Implementation.ts"
import { requestParams, resultMembers } from "./Message.ts"

/** Params of `initialize` (LIFE-02). */
export const InitializeRequestParams = Schema.Struct({
  ...requestParams,
  protocolVersion: Schema.String,
  capabilities: ClientCapabilities,
  clientInfo: Implementation
})

/** Params of `initialize`. */
export type InitializeRequestParams = typeof InitializeRequestParams.Type

/** Result of `initialize` (LIFE-03). `protocolVersion` may be another one than was offered. */
export const InitializeResult = Schema.Struct({
  ...resultMembers,
  protocolVersion: Schema.String,
  capabilities: ServerCapabilities,
  serverInfo: Implementation,
  /** For the model: how to use this server. */
  instructions: Schema.optionalKey(Schema.String)
})

/** Result of `initialize`. */
export type InitializeResult = typeof InitializeResult.Type

/** Params of `server/discover`. */
export const DiscoverRequestParams = Schema.Struct(requestParams)

/** Params of `server/discover`. */
export type DiscoverRequestParams = typeof DiscoverRequestParams.Type

/** Result of `server/discover` (DISC-03). Who the server is stands in `_meta` (DISC-04). */
export const DiscoverResult = Schema.Struct({
  ...resultMembers,
  ...cacheable,
  supportedVersions: Schema.Array(Schema.String),
  capabilities: ServerCapabilities,
  /** For the model: how to use this server. */
  instructions: Schema.optionalKey(Schema.String)
})

/** Result of `server/discover`. */
export type DiscoverResult = typeof DiscoverResult.Type
