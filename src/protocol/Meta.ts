/**
 * `_meta`: the reserved keys, the grammar of keys, and the shape `_meta` has in requests, notifications and results.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#meta
 */
import * as Schema from "effect/Schema"
import { ClientCapabilities } from "./Capabilities.ts"
import { ProgressToken, RequestId } from "./Identifiers.ts"
import { Implementation } from "./Implementation.ts"
import { LoggingLevel } from "./LoggingLevel.ts"

/** Keys whose meaning the specification gives. */
export const MetaKey = {
  /** Request: opts in to progress (META-07). */
  progressToken: "progressToken",
  /** Request, from 2026-07-28: the revision it is written in (META-10). */
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  /** Request, from 2026-07-28: who sends it; optional (META-12, META-15). */
  clientInfo: "io.modelcontextprotocol/clientInfo",
  /** Request, from 2026-07-28: what the client can do (META-11). */
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  /** Request, from 2026-07-28: opts in to log notifications (META-13). */
  logLevel: "io.modelcontextprotocol/logLevel",
  /** Result, from 2026-07-28: who answers (META-16). */
  serverInfo: "io.modelcontextprotocol/serverInfo",
  /** Every message of a listen stream, from 2026-07-28: the id of the listen request (META-18). */
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
  /** W3C Trace Context (META-19). */
  traceparent: "traceparent",
  /** W3C Trace Context (META-19). */
  tracestate: "tracestate",
  /** W3C Baggage (META-19). */
  baggage: "baggage"
} as const

const openRecord = Schema.Record(Schema.String, Schema.Unknown)

/** `_meta` of things that are not messages: tools, resources, content. */
export const Meta = openRecord

/** `_meta` of things that are not messages. */
export type Meta = typeof Meta.Type

/**
 * `params._meta` of a request. All members are optional here, because up to 2025-11-25 they are; that 2026-07-28
 * requires two of them is for the session to check (META-14), since the right error code depends on it.
 */
export const RequestMeta = Schema.StructWithRest(
  Schema.Struct({
    [MetaKey.progressToken]: Schema.optionalKey(ProgressToken),
    [MetaKey.protocolVersion]: Schema.optionalKey(Schema.String),
    [MetaKey.clientInfo]: Schema.optionalKey(Implementation),
    [MetaKey.clientCapabilities]: Schema.optionalKey(ClientCapabilities),
    [MetaKey.logLevel]: Schema.optionalKey(LoggingLevel)
  }),
  [openRecord]
)

/** `params._meta` of a request. */
export type RequestMeta = typeof RequestMeta.Type

/** `params._meta` of a notification. */
export const NotificationMeta = Schema.StructWithRest(
  Schema.Struct({ [MetaKey.subscriptionId]: Schema.optionalKey(RequestId) }),
  [openRecord]
)

/** `params._meta` of a notification. */
export type NotificationMeta = typeof NotificationMeta.Type

/** `_meta` of a result. */
export const ResultMeta = Schema.StructWithRest(
  Schema.Struct({
    [MetaKey.serverInfo]: Schema.optionalKey(Implementation),
    [MetaKey.subscriptionId]: Schema.optionalKey(RequestId)
  }),
  [openRecord]
)

/** `_meta` of a result. */
export type ResultMeta = typeof ResultMeta.Type

const label = /^[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/
const name = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$/

/** Whether a key follows the grammar: an optional prefix of dot-separated labels and `/`, then a name (META-01, META-02). */
export const isMetaKey = (key: string): boolean => {
  const slash = key.indexOf("/")
  if (slash === -1) return key.length > 0 && name.test(key)
  return (
    key
      .slice(0, slash)
      .split(".")
      .every((part) => label.test(part)) && name.test(key.slice(slash + 1))
  )
}

/**
 * Whether the prefix of a key belongs to MCP itself: its second label is `modelcontextprotocol` or `mcp` (META-04).
 * `com.example.mcp/` is free.
 */
export const isReservedMetaKey = (key: string): boolean => {
  const slash = key.indexOf("/")
  if (slash === -1) return false
  const second = key.slice(0, slash).split(".")[1]
  return second === "modelcontextprotocol" || second === "mcp"
}

/**
 * The rule of 2025-06-18, which differs: reserved is a prefix where `modelcontextprotocol` or `mcp` is followed by
 * another label (META-03).
 */
export const isReservedMetaKey2025_06_18 = (key: string): boolean => {
  const slash = key.indexOf("/")
  if (slash === -1) return false
  return key
    .slice(0, slash)
    .split(".")
    .slice(0, -1)
    .some((part) => part === "modelcontextprotocol" || part === "mcp")
}
