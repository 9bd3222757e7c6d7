/**
 * Clients: one API for servers of every revision. The era of a server is found out when the client is made.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { McpError } from "../protocol/McpError.ts"
import { newestLegacy } from "../revision/Revisions.ts"
import type { ClientTransport } from "../transport/Transport.ts"
import { run as runBatch } from "./Batch.ts"
import type { Client } from "./Client.ts"
import { Conversation } from "./Conversation.ts"
import type { Handlers } from "./Handlers.ts"
import { invalidate } from "./Invalidation.ts"
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
export type NeedsOf<O> = O extends { readonly handlers: infer H } ? HandlerNeeds<H> : never

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
): Effect.Effect<Client, McpError, ClientTransport | Scope.Scope | NeedsOf<O>> =>
  // `NeedsOf` has collected what the handlers need; the handlers themselves are typed by what they have in common.
  closedOnFailure(open(Settings.fromOptions(options), options.handlers ?? {})) as Effect.Effect<
    Client,
    McpError,
    ClientTransport | Scope.Scope | NeedsOf<O>
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
): Layer.Layer<McpClient, McpError, ClientTransport | Exclude<NeedsOf<O>, Scope.Scope>> =>
  Layer.effect(McpClient, make(options)) as Layer.Layer<
    McpClient,
    McpError,
    ClientTransport | Exclude<NeedsOf<O>, Scope.Scope>
  >

/** A client that could not be made leaves nothing open, however long the scope goes on (BUG-74). */
const closedOnFailure = <A, E, R>(make: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Scope.Scope> =>
  Effect.flatMap(Effect.scope, (parent) =>
    Effect.flatMap(Scope.fork(parent), (scope) =>
      Effect.onError(Effect.provideService(make, Scope.Scope, scope), (cause) =>
        Scope.close(scope, Exit.failCause(cause))
      )
    )
  )

const open = Effect.fnUntraced(function* (
  settings: Settings.Settings,
  handlers: Handlers<unknown>
): Effect.fn.Return<Client, McpError, ClientTransport | Scope.Scope> {
  const services = (yield* Effect.context<never>()) as Context.Context<unknown>
  const questions = new PeerRequests(handlers, services)
  const notifications = new Notifications()
  const unsettled = settings.legacy[0] ?? newestLegacy
  const agreement = yield* negotiate(
    settings,
    Link.open(
      {
        onRequest: (link, request) => questions.respond(link.revision ?? unsettled, request),
        onNotification: (link, notification) => notifications.receive(link.revision ?? unsettled, notification)
      },
      settings.limits
    )
  )
  const conversation = new Conversation(settings, agreement)
  const cache = new ResultCache(settings.cacheCapacity)
  const directory = new ToolDirectory(settings.limits.items)
  yield* notifications.listen(invalidate(cache, directory))
  const rounds = new Rounds(conversation, questions, settings.limits.rounds)
  const reading = new Reading({ conversation, rounds, cache, directory, limits: settings.limits })
  if (agreement.discovered !== undefined) yield* reading.keepDiscovery(agreement.discovered)
  const tools = new ToolCalls(conversation, rounds, directory, reading)
  const subscribe =
    agreement.revision.era === "modern"
      ? listen(conversation, notifications)
      : new LegacySubscriptions(conversation, notifications).subscribe
  if (handlers.rootsChanges !== undefined) yield* tellRootsChanges(conversation, handlers.rootsChanges, services)
  const { ended } = agreement.link
  return {
    get server() {
      return conversation.agreement.server
    },
    call: tools.call,
    stream: (tool, input, options = {}) =>
      events(notifications, options, (withEvents) => tools.call(tool, input, withEvents)),
    callTool: tools.callTool,
    batch: (calls) => runBatch(conversation, calls),
    listTools: reading.listTools,
    listResources: reading.listResources,
    listResourceTemplates: reading.listResourceTemplates,
    listPrompts: reading.listPrompts,
    readResource: reading.readResource,
    getPrompt: reading.getPrompt,
    complete: reading.complete,
    subscribe,
    changes: (filter) => Stream.unwrap(subscribe(filter)),
    notifications: notifications.stream((notification) => notification, ended),
    logs: notifications.stream(
      ({ method, params }) => (method === "notifications/message" ? params : undefined),
      ended
    ),
    setLogLevel: (level) => conversation.setLogLevel(level),
    ping: Effect.asVoid(conversation.request("ping", {})),
    discover: reading.discover,
    ended
  }
})

const tellRootsChanges = (
  conversation: Conversation,
  changes: Stream.Stream<void, never, unknown>,
  services: Context.Context<unknown>
): Effect.Effect<unknown, never, Scope.Scope> =>
  Stream.runForEach(changes, () => Effect.ignore(conversation.notify("notifications/roots/list_changed", {}))).pipe(
    Effect.provideContext(services),
    Effect.forkScoped
  )
