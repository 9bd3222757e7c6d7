/**
 * HTTP as a value: a request in, a response out. Hosts translate between this and what they have.
 */
import type * as Effect from "effect/Effect"
import type { McpError } from "../../protocol/McpError.ts"
import type { Principal } from "../Transport.ts"
import type { EventStream } from "./EventStream.ts"

/** Names in lower case. */
export interface Headers {
  readonly [name: string]: string | undefined
}

/** What a request says before its body. */
export interface HttpHead {
  /** In capitals. */
  readonly method: string
  /** Path and query, as the client sent them, or the whole URL. Without it only the endpoint itself is served. */
  readonly url?: string | undefined
  readonly headers: Headers
  /** Who sent it, when the host has established that. */
  readonly principal?: Principal | undefined
}

/** A request whose body is still to be read. */
export interface HttpRequest extends HttpHead {
  /** Reads the body; fails with `LimitExceeded` as soon as it has more than so many bytes, without reading the rest. */
  body(maximumBytes: number): Effect.Effect<Uint8Array, McpError>
}

/** The body of a request, or why it could not be read. */
export type Body = Uint8Array | McpError

/** The body of a request that has none. */
export const noBody = new Uint8Array(0)

/** A response, for the host to write. */
export interface HttpResponse {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  /** Nothing, JSON, or a stream of server-sent events that the host writes until it ends. */
  readonly body?: string | EventStream | undefined
}

/** Takes the response to a request. */
export type Respond = (response: HttpResponse) => void

/** Whoever waits for a response that is not there yet. */
export interface Pending {
  /** The client is gone, and nobody waits any more. */
  leave(): void
}

/** The path of a URL or of its end, without a last slash. */
export const pathOf = (url: string): string => {
  const [path = ""] = url.replace(/^[a-z]+:\/\/[^/]*/i, "").split("?", 1)
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path
}
