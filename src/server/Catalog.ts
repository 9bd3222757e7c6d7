/**
 * Where a server's tools, resources and prompts come from: a list that stays as it is, or one that changes while the
 * server runs. Clients who asked for it are told of every change.
 */
import * as Effect from "effect/Effect"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { CallContext } from "../definition/CallContext.ts"
import type { McpError } from "../protocol/McpError.ts"

/** Something with a key that is unique in its catalog: a tool's name, a resource's URI. */
export interface Entry {
  /** What it is asked for by: the name of a tool or prompt, the URI or template of a resource. */
  readonly key: string
}

/**
 * A source of entries. `list` and `find` run for each request and may look at who is calling, through `CallContext`;
 * the order of `list` is the order in which clients see the entries, and must not change by itself (TOOL-03).
 */
export interface Catalog<out A extends Entry, out R = never> {
  /** All entries that the caller may see. */
  readonly list: Effect.Effect<ReadonlyArray<A>, McpError, R | CallContext>
  /** The entry with this key; `undefined` when there is none for this caller. */
  readonly find: (key: string) => Effect.Effect<A | undefined, McpError, R | CallContext>
  /** Emits after every change, from the moment the effect has ended; absent when the catalog never changes. */
  readonly changes?: Effect.Effect<Stream.Stream<void>, never, Scope.Scope> | undefined
}

/** A catalog that can be changed. Entries keep the order in which they were first added. */
export interface Mutable<A extends Entry> extends Catalog<A> {
  /** Adds entries, or replaces those with the same key. */
  readonly set: (...entries: ReadonlyArray<A>) => Effect.Effect<void>
  /** Removes entries by key. Keys that are not there are ignored. */
  readonly remove: (...keys: ReadonlyArray<string>) => Effect.Effect<void>
}

/** A catalog that never changes. Two entries with one key are a mistake in the program, so that throws. */
export const fixed = <A extends Entry>(entries: ReadonlyArray<A>): Catalog<A> => {
  const list = Effect.succeed(entries)
  const byKey = new Map<string, Effect.Effect<A>>()
  for (const entry of entries) {
    if (byKey.has(entry.key)) throw new TypeError(`"${entry.key}" is offered twice`)
    byKey.set(entry.key, Effect.succeed(entry))
  }
  return { list, find: (key) => byKey.get(key) ?? Effect.undefined }
}

/**
 * Makes a catalog that can be changed while the server runs.
 *
 * @example
 * ```ts
 * import { Effect } from "effect"
 * import { Catalog, McpServer, Tool } from "mcp-effect"
 *
 * const ping = Tool.handle(Tool.make("ping"), () => Effect.succeed("pong"))
 *
 * const program = Effect.gen(function* () {
 *   const tools = yield* Catalog.make([ping])
 *   const server = McpServer.make({ name: "demo", version: "1.0.0", tools })
 *   yield* tools.remove("ping") // every client that listens is told
 *   return server
 * })
 * ```
 */
export const make = <A extends Entry>(initial: ReadonlyArray<A> = []): Effect.Effect<Mutable<A>> =>
  Effect.gen(function* () {
    // A client only needs to know that there was a change, so a slow one never makes more than one wait.
    const changed = yield* PubSub.sliding<void>(1)
    const entries = new Map(initial.map((entry) => [entry.key, entry]))
    let listed: ReadonlyArray<A> | undefined
    const change = (apply: () => void) =>
      Effect.suspend(() => {
        apply()
        listed = undefined
        return Effect.asVoid(PubSub.publish(changed, undefined))
      })
    return {
      list: Effect.sync(() => (listed ??= [...entries.values()])),
      find: (key) => Effect.sync(() => entries.get(key)),
      changes: Effect.map(PubSub.subscribe(changed), Stream.fromSubscription),
      set: (...added) => change(() => added.forEach((entry) => entries.set(entry.key, entry))),
      remove: (...keys) => change(() => keys.forEach((key) => entries.delete(key)))
    }
  })
