/**
 * Clients: one API for servers of every revision. The era of a server is found out when the client is made.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client
 */
import { Context, Effect, Layer, type Scope, Stream } from "effect"
import { McpError } from "../protocol/McpError.ts"
import { newestLegacy } from "../revision/Revisions.ts"
import type { ClientTransport } from "../transport/Transport.ts"
import type { Client } from "./Client.ts"
import { Conversation } from "./Conversation.ts"
import type { Handlers } from "./Handlers.ts"
import { Invalidation } from "./Invalidation.ts"
import { LegacySubscriptions } from "./LegacySubscriptions.ts"
import * as Link from "./Link.ts"
import { subscribe as listen } from "./Listening.ts"
import { negotiate } from "./Negotiation.ts"
import { Notifications } from "./Notifications.ts"
import { PeerRequests } from "./PeerRequests.ts"
import { Reading } from "./Reading.ts"
import { ResultCache } from "./ResultCache.ts"
import { Rounds } from "./Rounds.ts"
import * as Settings from "./Settings.ts"
import { ToolCalls } from "./ToolCalls.ts"
import { ToolDirectory } from "./ToolDirectory.ts"
import { events } from "./ToolEvents.ts"

export type { Change, ChangeFilter } from "./Changes.ts"
export type { Client } from "./Client.ts"
export type { Progress, RequestOptions } from "./Conversation.ts"
export type { Handlers, Sampling } from "./Handlers.ts"
export type { ServerNotification } from "./Notifications.ts"
export type { Server } from "./Opening.ts"
export type { CacheOptions, Limits, Options, Verdict } from "./Settings.ts"
export type { ToolEvent } from "./ToolEvents.ts"

/** A client of one server. */
export class McpClient extends Context.Service<McpClient, Client>()("mcp-effect/client/McpClient") {}

/** What the handlers in these options need. */
export type Needs<O extends Settings.Options> = O extends { readonly handlers: infer H } ? HandlerNeeds<H> : never

type HandlerNeeds<H> = { readonly [K in keyof H]: HandlerNeed<H[K]> }[keyof H]
type HandlerNeed<H> = H extends (request: never) => Effect.Effect<unknown, unknown, infer R>
  ? R
  : H extends Effect.Effect<unknown, unknown, infer R>
    ? R
    : H extends Stream.Stream<unknown, unknown, infer R>
      ? R
      : never

/**
 * Connects to a server and finds out its era. The connection lives as long as the scope; calls that are made after it
 * has ended fail with `Closed`.
 *
 * Fails with `Unsupported` when client and server share no revision, and with what the transport says when there is no
 * server, or when it does not let the client in.
 */
export const make = <const O extends Settings.Options>(
  options: O
): Effect.Effect<Client, McpError, ClientTransport | Scope.Scope | Needs<O>> =>
  // `Needs` has collected what the handlers need; the handlers themselves are typed by what they have in common.
  open(Settings.fromOptions(options), options.handlers ?? {}) as Effect.Effect<
    Client,
    McpError,
    ClientTransport | Scope.Scope | Needs<O>
  >

/**
 * Provides a client.
 *
 * @example
 * ```ts
 * import { Effect } from "effect"
 * import { InMemory, McpClient } from "mcp-effect"
 *
 * const program = Effect.gen(function* () {
 *   const client = yield* McpClient.McpClient
 *   return yield* client.callTool("add", { a: 1, b: 2 })
 * }).pipe(Effect.provide(McpClient.layer({ name: "demo", version: "1.0.0" })))
 *
 * const inProcess = Effect.provide(program, InMemory.layer)
 * ```
 */
export const layer = <const O extends Settings.Options>(
  options: O
): Layer.Layer<McpClient, McpError, ClientTransport | Exclude<Needs<O>, Scope.Scope>> =>
  Layer.effect(McpClient, make(options)) as Layer.Layer<
    McpClient,
    McpError,
    ClientTransport | Exclude<Needs<O>, Scope.Scope>
  >

const open = Effect.fnUntraced(function* (
  settings: Settings.Settings,
  handlers: Handlers<unknown>
): Effect.fn.Return<Client, McpError, ClientTransport | Scope.Scope> {
  const services = (yield* Effect.context<never>()) as Context.Context<unknown>
  const questions = new PeerRequests(handlers, services)
  const notifications = new Notifications()
  const oldest = settings.legacy[0] ?? newestLegacy
  const receiver: Link.Receiver = {
    onRequest: (link, request) => questions.respond(link.revision ?? oldest, request),
    onNotification: (link, notification) => notifications.receive(link.revision ?? oldest, notification)
  }
  const agreement = yield* negotiate(settings, Link.open(receiver, settings.limits))
  const conversation = new Conversation(settings, agreement)
  const cache = new ResultCache(settings.cacheCapacity)
  const directory = new ToolDirectory(settings.limits.items)
  yield* notifications.listen(invalidate(cache, directory))
  const rounds = new Rounds(conversation, questions, settings.limits.rounds)
  const reading = new Reading(conversation, rounds, cache, directory, settings.limits)
  if (agreement.discovered !== undefined) yield* reading.keepDiscovery(agreement.discovered)
  const tools = new ToolCalls(conversation, rounds, directory, reading.relistTools)
  const subscribe =
    agreement.revision.era === "modern"
      ? listen(conversation, notifications)
      : new LegacySubscriptions(conversation, notifications).subscribe
  yield* tellRootsChanges(conversation, handlers, services)
  ...
})
