/**
 * What a client has learned about the server behind an endpoint: the era, the session, the negotiated revision. It
 * decides the protocol's headers of every request.
 */
import * as JsonRpc from "../protocol/JsonRpc.ts"
import { findRevision } from "../revision/Revisions.ts"
import { standardHeaders } from "./StandardHeaders.ts"

const versionMember = "io.modelcontextprotocol/protocolVersion"

/** The protocol version that a modern message carries in its `_meta`; none in an older one. */
export const metaVersion = (message: JsonRpc.Outgoing): string | undefined => {
  if (!("method" in message)) return undefined
  const meta = message.params?._meta
  if (typeof meta !== "object" || meta === null || !(versionMember in meta)) return undefined
  const version = meta[versionMember]
  return typeof version === "string" ? version : undefined
}

/** Visible ASCII, as HTTP-28 asks; and so a header that came twice is none. */
const validSessionId = /^[\x21-\x7e]+$/

/** The state of one connection. */
export class HttpSession {
  /** The session id that the server gave with its answer to `initialize`. Not every server gives one. */
  id: string | undefined
  /** The server has forgotten the session. */
  isLost = false
  /** The revision that `initialize` settled. */
  protocolVersion: string | undefined
  /** The revision of the last modern request. */
  #modernVersion: string | undefined

  /** Whether a message belongs to the modern era. A request says so itself; other messages follow the last request. */
  isModern(message: JsonRpc.Outgoing): boolean {
    if (JsonRpc.isRequest(message) || this.protocolVersion !== undefined) return metaVersion(message) !== undefined
    return metaVersion(message) !== undefined || this.#modernVersion !== undefined
  }

  /** Whether the server may say several things in one array (2025-03-26). */
  get batches(): boolean {
    return this.protocolVersion !== undefined && findRevision(this.protocolVersion)?.batches === true
  }

  /** The session's own headers: of a GET, a DELETE and every POST after `initialize` (HTTP-29, HTTP-34). */
  get headers(): Record<string, string> {
    const headers: Record<string, string> = {}
    if (this.id !== undefined) headers["mcp-session-id"] = this.id
    if (this.protocolVersion !== undefined) headers["mcp-protocol-version"] = this.protocolVersion
    return headers
  }

  /** The headers that go with a message. Names are in lower case, so that none can be there twice. */
  headersFor(message: JsonRpc.Outgoing): Record<string, string> {
    const version = metaVersion(message)
    if (version !== undefined) this.#modernVersion = version
    if (this.isModern(message)) return this.#modernHeaders(message, version ?? this.#modernVersion)
    // A new session begins without the old one's headers (HTTP-32).
    return isInitialize(message) ? {} : this.headers
  }

  #modernHeaders(message: JsonRpc.Outgoing, version: string | undefined): Record<string, string> {
    const headers: Record<string, string> = {}
    for (const [name, value] of Object.entries(standardHeaders(message))) headers[name.toLowerCase()] = value
    if (version !== undefined) headers["mcp-protocol-version"] = version
    return headers
  }

  /** Begins anew with the head of the reply to `initialize`. Tells whether its session id, if it has one, is valid. */
  begin(id: string | undefined): boolean {
    const isValid = id === undefined || validSessionId.test(id)
    this.id = isValid ? id : undefined
    this.isLost = false
    this.protocolVersion = undefined
    this.#modernVersion = undefined
    return isValid
  }

  /** The server does not know the session with this id, unless a newer one has taken its place. */
  lose(id: string): void {
    if (this.id === id) this.isLost = true
  }

  /** Learns from the answer to `initialize`. */
  settle(answer: JsonRpc.Response): void {
    if (!("result" in answer)) return
    const version = answer.result.protocolVersion
    if (typeof version === "string") this.protocolVersion = version
  }
}

/** Whether a message opens a session. */
export const isInitialize = (message: JsonRpc.Outgoing): message is JsonRpc.Request =>
  JsonRpc.isRequest(message) && message.method === "initialize"
