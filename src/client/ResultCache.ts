/**
 * Results that their server lets a client keep for a while (from 2026-07-28). A cache belongs to one client, and so to
 * one principal (CACHE-07).
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Members } from "../protocol/JsonRpc.ts"
import type { McpError } from "../protocol/McpError.ts"
import { canonicalJson } from "../session/RequestState.ts"

interface Kept {
  readonly method: string
  readonly uri: unknown
  readonly result: Members
  /** When it is stale; milliseconds. */
  readonly until: number
}

/** A fetched result, and whether it may be kept. */
export interface Fetched<A> {
  readonly result: A
  readonly keep: boolean
}

/** Results by method and params. */
export class ResultCache {
  readonly #capacity: number
  readonly #kept = new Map<string, Kept>()
  /** Rises whenever something is dropped: what was asked for before that may be older than the change. */
  #drops = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** The kept result while it is fresh, or else a new one (CACHE-03, CACHE-04, CACHE-08). `params` are without `_meta`. */
  get<A extends Members, R>(
    method: string,
    params: Members,
    fetch: Effect.Effect<Fetched<A>, McpError, R>
  ): Effect.Effect<A, McpError, R> {
    if (this.#capacity === 0) return Effect.map(fetch, ({ result }) => result)
    const key = `${method} ${canonicalJson(params)}`
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const kept = this.#kept.get(key)
      if (kept !== undefined) {
        this.#kept.delete(key)
        if (now < kept.until) {
          this.#kept.set(key, kept)
          return Effect.succeed(kept.result as A) // what was fetched for this method
        }
      }
      const drops = this.#drops
      return Effect.flatMap(fetch, ({ keep, result }) =>
        keep && drops === this.#drops ? this.#keep(key, method, params, result) : Effect.succeed(result)
      )
    })
  }

  /** Keeps a result for the time that it says itself; for no time when it says none. */
  keep<A extends Members>(method: string, params: Members, result: A): Effect.Effect<A> {
    return this.#keep(`${method} ${canonicalJson(params)}`, method, params, result)
  }

  /** Drops what a notification says is no longer so (CACHE-10). `uri` drops the results of that resource alone. */
  drop(methods: ReadonlyArray<string>, uri?: string): void {
    this.#drops++
    for (const [key, kept] of this.#kept) {
      if (methods.includes(kept.method) && (uri === undefined || isPartOf(uri, kept.uri))) this.#kept.delete(key)
    }
  }

  #keep<A extends Members>(key: string, method: string, params: Members, result: A): Effect.Effect<A> {
    const { ttlMs } = result
    if (this.#capacity === 0 || typeof ttlMs !== "number" || ttlMs <= 0) return Effect.succeed(result)
    return Effect.map(Clock.currentTimeMillis, (now) => {
      this.#kept.set(key, { method, uri: params.uri, result, until: now + ttlMs })
      const [oldest] = this.#kept.keys()
      if (this.#kept.size > this.#capacity && oldest !== undefined) this.#kept.delete(oldest)
      return result
    })
  }
}

/** An update may name a part of what is kept. */
const isPartOf = (uri: string, whole: unknown): boolean => typeof whole === "string" && uri.startsWith(whole)
