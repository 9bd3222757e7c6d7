/**
 * A server is a value: what it offers, and in its type what its handlers need. A transport serves it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import type { CallContext } from "../definition/CallContext.ts"
import type * as Prompt from "../definition/Prompt.ts"
import type * as Resource from "../definition/Resource.ts"
import type * as Tool from "../definition/Tool.ts"
import type { CacheScope, Icon, Implementation } from "../protocol/index.ts"
import type { McpError } from "../protocol/McpError.ts"
import * as Limits from "../session/Limits.ts"
import { type Connection, ServerTransport } from "../transport/Transport.ts"
import * as Catalog from "./Catalog.ts"
import type { Middleware } from "./Middleware.ts"
import * as Presence from "./Presence.ts"
import * as ServerPeer from "./ServerPeer.ts"
import * as ServerRuntime from "./ServerRuntime.ts"
import * as Shutdown from "./Shutdown.ts"

/** Entries as a list, or as a catalog that may change. */
export type Source<A extends Catalog.Entry> = ReadonlyArray<A> | Catalog.Catalog<A, unknown>

/** How long clients may keep a result (2026-07-28). */
export interface CacheHint {
  /** How long it stays fresh. Default: not at all. */
  readonly ttl?: Duration.Input | undefined
  /** Whether it is the same for every caller, so that shared caches may keep it. Default `private`. */
  readonly scope?: CacheScope | undefined
}

/** The results that can carry a cache hint. */
export type Cacheable = "discover" | "tools" | "prompts" | "resources" | "resourceTemplates" | "read"

/** Options of {@link make}. */
export interface Options {
  /** The programmatic name. */
  readonly name: string
  /** The version of this program. No format is asked for. */
  readonly version: string
  /** A name for people. */
  readonly title?: string | undefined
  /** What it is, for people. Sent from 2025-11-25 on, as are `websiteUrl` and `icons`. */
  readonly description?: string | undefined
  /** Where people can read more. */
  readonly websiteUrl?: string | undefined
  /** Pictures for user interfaces. */
  readonly icons?: ReadonlyArray<Icon> | undefined
  /** How a model should use this server. */
  readonly instructions?: string | undefined
  /** Tools with their handlers: a list, or a `Catalog`. Default: no tools, and no capability for them. */
  readonly tools?: Source<Tool.Handled<unknown>> | undefined
  /** Resources and templates: a list, or a `Catalog`. Default: none, and no capability for them. */
  readonly resources?: Source<Resource.Any<unknown>> | undefined
  /** Prompts: a list, or a `Catalog`. Default: none, and no capability for them. */
  readonly prompts?: Source<Prompt.Handled<unknown>> | undefined
  /** Stands around every operation; the first is the outermost. */
  readonly middleware?: ReadonlyArray<Middleware<unknown>> | undefined
  /** How many entries a list gives at a time. Default 1,000. */
  readonly pageSize?: number | undefined
  /** How long clients may keep results (2026-07-28). Default: not at all. */
  readonly cache?: { readonly [K in Cacheable]?: CacheHint } | undefined
  /** Whether `Effect.log*` in handlers reaches the peer. Default `true`. */
  readonly logging?: boolean | undefined
  /** The dated revisions to speak, of those that this package knows. Default: all. */
  readonly revisions?: ReadonlyArray<string> | undefined
  /** What one peer may cost; what is left out has its default. */
  readonly limits?: Partial<Limits.Limits> | undefined
}

/** A server. `R` is what its handlers need. */
export interface McpServer<out R> {
  /** What it calls itself. */
  readonly info: Implementation
  /** How a model should use it. */
  readonly instructions: string | undefined
  /** Where its tools come from; `undefined` when it has none. */
  readonly tools: Catalog.Catalog<Tool.Handled<R>, R> | undefined
  /** Where its resources and templates come from; `undefined` when it has none. */
  readonly resources: Catalog.Catalog<Resource.Any<R>, R> | undefined
  /** Where its prompts come from; `undefined` when it has none. */
  readonly prompts: Catalog.Catalog<Prompt.Handled<R>, R> | undefined
  /** What stands around every operation, the outermost first. */
  readonly middleware: ReadonlyArray<Middleware<R>>
  /** Entries that a list gives at a time. */
  readonly pageSize: number
  /** How long clients may keep which results. */
  readonly cache: { readonly [K in Cacheable]?: CacheHint }
  /** Whether `Effect.log*` in handlers reaches the peer. */
  readonly logging: boolean
  /** The revisions to speak; `undefined` for all. */
  readonly revisions: ReadonlyArray<string> | undefined
  /** What one peer may cost. */
  readonly limits: Limits.Limits
}

type SourceNeeds<S> =
  S extends ReadonlyArray<infer A>
    ? EntryNeeds<A>
    : S extends Catalog.Catalog<infer A, infer R>
      ? EntryNeeds<A> | Exclude<R, CallContext>
      : never
type EntryNeeds<A> =
  A extends Tool.Handled<infer R>
    ? R
    : A extends Prompt.Handled<infer R>
      ? R
      : A extends Resource.Any<infer R>
        ? R
        : never
type MiddlewareNeeds<M> = M extends ReadonlyArray<Middleware<infer R>> ? R : never

/** What the handlers of a server with these options need. */
export type Needs<O extends Options> =
  SourceNeeds<O["tools"]> | SourceNeeds<O["resources"]> | SourceNeeds<O["prompts"]> | MiddlewareNeeds<O["middleware"]>

/**
 * Describes a server.
 *
 * @example
 * ```ts
 * import { Effect, Schema } from "effect"
 * import { McpServer, Tool } from "mcp-effect"
 *
 * const Echo = Tool.make("echo", { input: Schema.Struct({ text: Schema.String }) })
 *
 * const server = McpServer.make({
 *   name: "echo",
 *   version: "1.0.0",
 *   tools: [Tool.handle(Echo, ({ text }) => Effect.succeed(text))]
 * })
 * ```
 */
export const make = <const O extends Options>(options: O): McpServer<Needs<O>> => {
  const { description, icons, name, title, version, websiteUrl } = options
  return {
    info: {
      name,
      version,
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
      ...(websiteUrl !== undefined && { websiteUrl }),
      ...(icons !== undefined && { icons })
    },
    instructions: options.instructions,
    tools: catalogOf(options.tools),
    resources: catalogOf(options.resources),
    prompts: catalogOf(options.prompts),
    middleware: options.middleware ?? [],
    pageSize: options.pageSize ?? 1000,
    cache: options.cache ?? {},
    logging: options.logging ?? true,
    revisions: options.revisions,
    limits: { ...Limits.defaults, ...options.limits }
    // `Needs` has collected what the parts need; the parts themselves are typed by what they have in common.
  } as McpServer<Needs<O>>
}

const catalogOf = <A extends Catalog.Entry>(source: Source<A> | undefined): Catalog.Catalog<A, unknown> | undefined =>
  isList(source) ? Catalog.fixed(source) : source

const isList = <A extends Catalog.Entry>(source: Source<A> | undefined): source is ReadonlyArray<A> =>
  Array.isArray(source)

/** How long answers under way may take after the end of input. */
const finishWithin = "2 seconds"

/** Options of {@link layer}. */
export interface LayerOptions {
  /** How long requests under way may take to end at shutdown, before they are interrupted. Default 5 seconds. */
  readonly gracePeriod?: Duration.Input | undefined
}

/**
 * Serves a server to everyone that a transport lets in. When the layer is closed no new requests are taken, those under
 * way are given the grace period, whoever listens for changes is told that it ends, and then all connections end. The
 * program ends by itself when the transport says that there will be no more clients (end of stdin).
 */
export const layer = <R>(
  server: McpServer<R>,
  options: LayerOptions = {}
): Layer.Layer<never, McpError, R | ServerTransport> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const transport = yield* ServerTransport
      const runtime = yield* ServerRuntime.make(server)
      const peers = new Set<ServerPeer.ServerPeer<R>>()
      const attend = (connection: Connection) =>
        Effect.gen(function* () {
          const peer = yield* ServerPeer.open(runtime, connection)
          yield* Effect.acquireRelease(
            Effect.sync(() => peers.add(peer)),
            () => Effect.sync(() => peers.delete(peer))
          )
          const run = connection.run((message) => peer.receive(message, connection))
          yield* connection.trusted === true ? run : Effect.raceFirst(run, Presence.watch(peer, server.limits))
          if (connection.readsAfterEnd === true) {
            peer.stopListening()
            yield* Effect.timeoutOption(peer.idle, finishWithin)
          }
        }).pipe(
          Effect.scoped,
          Effect.catch((error) =>
            error.reason._tag === "LimitExceeded"
              ? Effect.logWarning(`A client was hung up on: ${error.message}`)
              : Effect.logDebug("A connection has ended with an error", error)
          )
        )
      const serving = yield* Effect.forkScoped(
        transport.run((connection) => (runtime.isClosing ? Effect.void : attend(connection)))
      )
      const close = yield* Effect.cached(
        Effect.gen(function* () {
          yield* runtime.close
          // Who listens is told that it ends, before the connections do.
          const ended = Effect.forEach([...peers], (peer) => Effect.andThen(peer.silence, peer.idle), {
            concurrency: "unbounded",
            discard: true
          })
          yield* Effect.timeoutOption(ended, options.gracePeriod ?? "5 seconds")
          yield* Fiber.interrupt(serving)
        })
      )
      yield* Effect.addFinalizer(() => close)
      yield* Shutdown.register(close)
    })
  )
