/**
 * How one dated revision of MCP spells the canonical messages, and which of them it has.
 */
import type { ClientCapabilities } from "../protocol/Capabilities.ts"
import type {
  ClientNotifications,
  ClientRequests,
  NotificationTypes,
  RequestTypes,
  ServerNotifications,
  ServerRequests
} from "../protocol/Methods.ts"
import type { Codec } from "./Codec.ts"

/** Both halves of a request. */
export interface RequestCodec<Types extends RequestTypes<unknown, unknown>> {
  readonly params: Codec<Types["params"]>
  readonly result: Codec<Types["result"]>
}

/** What a notification says. */
export interface NotificationCodec<Types extends NotificationTypes<unknown>> {
  readonly params: Codec<Types["params"]>
}

/** Requests by method. A method that is absent does not exist in the revision. */
export type RequestTable<All extends { readonly [M in keyof All]: RequestTypes<unknown, unknown> }> = {
  readonly [Method in keyof All]?: RequestCodec<All[Method]>
}

/** Notifications by method. A method that is absent does not exist in the revision. */
export type NotificationTable<All extends { readonly [M in keyof All]: NotificationTypes<unknown> }> = {
  readonly [Method in keyof All]?: NotificationCodec<All[Method]>
}

/** What the date of a revision decides besides the messages: rules for sessions and transports. */
export interface RevisionRules {
  /** Whether messages may come, and must be taken, in arrays: only in 2025-03-26 (section 2.3). */
  readonly batches: boolean
  /** Whether HTTP requests after the first say the revision in `MCP-Protocol-Version`: from 2025-06-18. */
  readonly versionHeader: boolean
  /**
   * Whether a resumable SSE stream starts with an event that has only an id: only in 2025-11-25 (A25). Older clients
   * may choke on it, and 2026-07-28 has no streams to resume.
   */
  readonly primingEvents: boolean
  /** How arguments that don't fit a tool's schema are told: as a failed result from 2025-11-25, `-32602` before (TOOL-27). */
  readonly invalidArguments: "result" | "error"
}

/**
 * One revision.
 *
 * Not here, because they depend on more than the message: the members of `_meta` that 2026-07-28 asks for on requests,
 * results and notifications (the session puts them in before `encode`), and the `resultType`s of extensions (the
 * session looks for those that both sides have declared before it calls `decode`).
 */
export interface Revision extends RevisionRules {
  /** `YYYY-MM-DD` (VER-18). */
  readonly version: string
  /** Whether a conversation opens with `initialize` (legacy) or each request stands for itself (modern). */
  readonly era: "legacy" | "modern"
  /** What clients ask. */
  readonly clientRequests: RequestTable<ClientRequests>
  /** What servers ask: as requests of their own in the legacy era, inside `inputRequests` in the modern one. */
  readonly serverRequests: RequestTable<ServerRequests>
  /** What clients tell. */
  readonly clientNotifications: NotificationTable<ClientNotifications>
  /** What servers tell. */
  readonly serverNotifications: NotificationTable<ServerNotifications>
  /** Spells the capabilities of a client, wherever the revision carries them. */
  readonly encodeClientCapabilities: (capabilities: ClientCapabilities) => ClientCapabilities
  /** Codes that differ between revisions. Read both: a client should accept either (ERR-12). */
  readonly errorCode: { readonly resourceNotFound: number }
}

/**
 * A table without a prototype, so that looking up a method that a peer made up, such as `constructor`, finds nothing.
 */
export const table = <Table extends object>(entries: Table): Table =>
  Object.freeze(Object.assign(Object.create(null) as object, entries))

/** Looks up a request by a name that came from a peer. */
export const findRequest = (
  requests: RequestTable<ClientRequests> | RequestTable<ServerRequests>,
  method: string
): RequestCodec<RequestTypes<unknown, unknown>> | undefined =>
  (requests as { readonly [method: string]: RequestCodec<RequestTypes<unknown, unknown>> | undefined })[method]

/** Looks up a notification by a name that came from a peer. */
export const findNotification = (
  notifications: NotificationTable<ClientNotifications> | NotificationTable<ServerNotifications>,
  method: string
): NotificationCodec<NotificationTypes<unknown>> | undefined =>
  (notifications as { readonly [method: string]: NotificationCodec<NotificationTypes<unknown>> | undefined })[method]
