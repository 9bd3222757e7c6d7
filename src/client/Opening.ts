/**
 * The first request of a conversation, in either era, and what the server says of itself in its answer.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { McpError, Timeout } from "../protocol/McpError.ts"
import {
  type DiscoverResult,
  type Implementation,
  type InitializeResult,
  MetaKey,
  type ServerCapabilities
} from "../protocol/index.ts"
import { findRequest, type Revision } from "../revision/Revision.ts"
import type { Link } from "./Link.ts"
import { modernMeta } from "./ModernMeta.ts"
import type { Settings, Verdict } from "./Settings.ts"

/** A server, as it described itself. Self-asserted: for display and logs, never for decisions (META-17). */
export interface Server extends Verdict {
  /** What it calls itself; `undefined` when it did not say (2026-07-28 only). */
  readonly info: Implementation | undefined
  /** What it offers. Asking for anything else fails with `Unsupported` before it is sent. */
  readonly capabilities: ServerCapabilities
  /** For the model: how to use this server. */
  readonly instructions: string | undefined
}

/** What client and server have agreed on. */
export interface Agreement {
  readonly link: Link
  readonly revision: Revision
  readonly server: Server
  /** The answer to `server/discover` that it rests on, in the modern era. */
  readonly discovered?: DiscoverResult | undefined
}

/** Asks what the server is, in a modern revision. A result of the wrong shape fails with `DecodeFailure`. */
export const discover = Effect.fnUntraced(function* (
  link: Link,
  settings: Settings,
  revision: Revision
): Effect.fn.Return<DiscoverResult, McpError> {
  const method = "server/discover"
  const answer = yield* link.session.request(
    method,
    { _meta: modernMeta(settings, revision) },
    { timeout: settings.timeout }
  )
  const decoded = findRequest(revision.clientRequests, method)?.result.decode(answer)
  if (decoded === undefined) return yield* McpError.unsupported(`Revision ${revision.version} has no ${method}`)
  if (Result.isFailure(decoded)) {
    return yield* McpError.decode(`The server's answer to ${method} is malformed: ${decoded.failure}`)
  }
  return decoded.success as DiscoverResult // by the codec of this method
})

/** The agreement that an answer to `server/discover` makes. */
export const modernAgreement = (link: Link, revision: Revision, discovered: DiscoverResult): Agreement => ({
  link,
  revision,
  discovered,
  server: {
    era: "modern",
    revision: revision.version,
    info: discovered._meta?.[MetaKey.serverInfo],
    capabilities: discovered.capabilities,
    instructions: discovered.instructions
  }
})

/**
 * Asks to open a legacy session. When the server offers a revision that this client does not speak, it hangs up and fails
 * with `Unsupported` (LIFE-09, BUG-72).
 */
export const initialize = Effect.fnUntraced(function* (
  link: Link,
  settings: Settings
): Effect.fn.Return<Agreement, McpError> {
  const method = "initialize"
  const newest = settings.legacy[0]
  if (newest === undefined) {
    return yield* McpError.unsupported("This client speaks no revision that opens with initialize")
  }
  const params = { protocolVersion: newest.version, capabilities: settings.capabilities, clientInfo: settings.info }
  const encoded = findRequest(newest.clientRequests, method)?.params.encode(params) ?? params
  const answer = yield* link.session.request(method, encoded, { timeout: settings.timeout })
  const offered = answer.protocolVersion
  const revision = settings.legacy.find(({ version }) => version === offered)
  if (revision === undefined) {
    yield* link.close
    return yield* Predicate.isString(offered)
      ? McpError.unsupported(`The server speaks revision ${offered}, which this client does not`)
      : McpError.decode("The server's answer to initialize has no protocolVersion")
  }
  const decoded = findRequest(revision.clientRequests, method)?.result.decode(answer)
  if (decoded === undefined || Result.isFailure(decoded)) {
    return yield* McpError.decode(`The server's answer to initialize is malformed: ${decoded?.failure ?? ""}`)
  }
  const { capabilities, instructions, serverInfo } = decoded.success as InitializeResult // by the codec of this method
  return {
    link,
    revision,
    server: { era: "legacy", revision: revision.version, info: serverInfo, capabilities, instructions }
  }
})

/** Makes an agreement hold; a legacy server is told that the client is ready, before anything else (LIFE-04). */
export const settle =
  ({ timeout }: Settings) =>
  ({ link, revision }: Agreement): Effect.Effect<void, McpError> =>
    Effect.suspend(() => {
      link.revision = revision
      if (revision.era === "modern") return Effect.void
      const method = "notifications/initialized"
      // Over HTTP it takes an exchange, which a server may leave hanging.
      return Effect.timeoutOrElse(link.session.notify(method), {
        duration: timeout,
        orElse: () => Effect.fail(new McpError({ reason: new Timeout({ method, after: timeout }) }))
      })
    })
