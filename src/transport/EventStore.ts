/**
 * Where the events of resumable streams are kept until nobody can ask for them again. The default keeps them in memory;
 * a store of one's own lets a client resume at another process.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Recency, Used } from "./Recency.ts"

/** An event of a stream. Sequence numbers rise within a stream. */
export interface StoredEvent {
  /** Its place in the stream, from 1. */
  readonly sequence: number
  /** The JSON of the message. */
  readonly message: string
}

/** Keeps events by session and stream. What one session stored, no other can read. */
export interface Store {
  /** Keeps an event and gives its sequence number, which is greater than any that its stream ever had. */
  readonly append: (session: string, stream: string, message: string) => Effect.Effect<number>
  /**
   * `append` for a store that has nothing to wait for: keeps the event in the call itself. `now` is the time in
   * milliseconds. Optional; every event of every stream comes through here.
   */
  readonly appendUnsafe?: ((session: string, stream: string, message: string, now: number) => number) | undefined
  /**
   * The events of a stream after a sequence number (0: all there ever were), oldest first; `undefined` when some of them are
   * gone already.
   */
  readonly after: (
    session: string,
    stream: string,
    sequence: number
  ) => Effect.Effect<ReadonlyArray<StoredEvent> | undefined>
  /** Forgets a session. */
  readonly forget: (session: string) => Effect.Effect<void>
}

/** The store of a server. A server without this service keeps events in memory, with the default bounds. */
export class EventStore extends Context.Service<EventStore, Store>()("mcp-effect/transport/EventStore") {}

/** Bounds of the store in memory. */
export interface Options {
  /** Events kept per session; the oldest go first. Default 1,000. */
  readonly maximumEvents?: number | undefined
  /** How long an event is kept. Default 5 minutes. */
  readonly maximumAge?: Duration.Input | undefined
  /**
   * Characters of JSON kept in all; then the sessions that were told nothing for longest lose their events. A single event
   * may be larger. Default 64 Mi.
   */
  readonly maximumCharacters?: number | undefined
}

/** A stream that has events: what came up to `start` is not known any more. */
class KeptStream {
  readonly id: string
  readonly start: number
  last: number

  constructor(id: string, start: number) {
    this.id = id
    this.start = start
    this.last = start
  }
}

class Kept implements StoredEvent {
  readonly stream: KeptStream
  readonly sequence: number
  readonly message: string
  readonly at: number

  constructor(stream: KeptStream, message: string, at: number) {
    this.stream = stream
    this.sequence = ++stream.last
    this.message = message
    this.at = at
  }
}

/** Events that were dropped, and still have a place at the beginning of the array, before it is worth moving the rest. */
const holes = 256

class KeptSession extends Used {
  readonly id: string
  readonly streams = new Map<string, KeptStream>()
  /** No stream that is not known may use a number up to this one: it may have been that stream's before. */
  floor = 0
  /** The first `#dropped` places are empty. */
  readonly #events: Array<Kept | undefined> = []
  #dropped = 0

  constructor(id: string) {
    super()
    this.id = id
  }

  get size(): number {
    return this.#events.length - this.#dropped
  }

  get oldest(): Kept | undefined {
    return this.#events[this.#dropped]
  }

  get newest(): Kept | undefined {
    return this.#events.at(-1)
  }

  add(stream: string, message: string, at: number): number {
    // Events of one stream come after each other, most of the time.
    const latest = this.newest?.stream
    const event = new Kept(latest?.id === stream ? latest : this.#stream(stream), message, at)
    this.#events.push(event)
    return event.sequence
  }

  /** Takes out the oldest event. */
  shift(): Kept | undefined {
    const event = this.oldest
    if (event === undefined) return undefined
    this.#events[this.#dropped++] = undefined
    if (this.#dropped === this.#events.length || this.#dropped >= holes) {
      this.#events.splice(0, this.#dropped)
      this.#dropped = 0
    }
    if (event.stream.last === event.sequence) {
      this.streams.delete(event.stream.id)
      this.floor = Math.max(this.floor, event.sequence)
    }
    return event
  }

  filter(wanted: (event: Kept) => boolean): Array<Kept> {
    return this.#events.filter((event) => event !== undefined && wanted(event)) as Array<Kept>
  }

  #stream(id: string): KeptStream {
    const known = this.streams.get(id)
    if (known !== undefined) return known
    const stream = new KeptStream(id, this.floor)
    this.streams.set(id, stream)
    return stream
  }
}

class MemoryStore implements Store {
  readonly #maximumEvents: number
  readonly #maximumAge: number
  readonly #maximumCharacters: number
  /** All that are not forgotten, also those whose events are all gone. */
  readonly #sessions = new Map<string, KeptSession>()
  /** Those with events, by when they were told something. */
  readonly #told = new Recency<KeptSession>()
  #characters = 0
  /** No session but the newest has events that are all too old before this time. */
  #staleAt = -Infinity

  constructor(options: Options) {
    this.#maximumEvents = options.maximumEvents ?? 1000
    this.#maximumAge = Duration.toMillis(Duration.fromInputUnsafe(options.maximumAge ?? Duration.minutes(5)))
    this.#maximumCharacters = options.maximumCharacters ?? 64 * 1024 * 1024
  }

  readonly append = (session: string, stream: string, message: string): Effect.Effect<number> =>
    Effect.map(Clock.currentTimeMillis, (now) => this.appendUnsafe(session, stream, message, now))

  readonly appendUnsafe = (session: string, stream: string, message: string, now: number): number => {
    const kept = this.#sessions.get(session) ?? this.#begin(session)
    this.#told.use(kept)
    const sequence = kept.add(stream, message, now)
    this.#characters += message.length
    this.#trim(kept, now)
    return sequence
  }

  readonly after = (
    session: string,
    stream: string,
    sequence: number
  ): Effect.Effect<ReadonlyArray<StoredEvent> | undefined> =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      const kept = this.#sessions.get(session)
      const known = kept?.streams.get(stream)
      if (kept === undefined || known === undefined || sequence > known.last) return undefined
      const from = sequence === 0 ? known.start : sequence
      const events = kept.filter(
        (event) => event.stream === known && event.sequence > from && event.at >= now - this.#maximumAge
      )
      return events.length === known.last - from ? events : undefined
    })

  readonly forget = (session: string): Effect.Effect<void> =>
    Effect.sync(() => {
      const kept = this.#sessions.get(session)
      if (kept === undefined) return
      this.#empty(kept)
      this.#sessions.delete(session)
    })

  #begin(id: string): KeptSession {
    const kept = new KeptSession(id)
    this.#sessions.set(id, kept)
    return kept
  }

  /** Drops what is too much or too old, first of the session that was told something just now. */
  #trim(current: KeptSession, now: number): void {
    const before = now - this.#maximumAge
    while (current.size > this.#maximumEvents || (current.oldest?.at ?? before) < before) this.#drop(current)
    if (this.#characters > this.#maximumCharacters || now >= this.#staleAt) this.#trimOthers(current, now)
    while (this.#characters > this.#maximumCharacters && current.size > 1) this.#drop(current)
  }

  #trimOthers(current: KeptSession, now: number): void {
    this.#staleAt = now + this.#maximumAge
    for (let kept = this.#told.oldest; kept !== undefined && kept !== current; kept = this.#told.oldest) {
      const stale = (kept.newest?.at ?? -Infinity) + this.#maximumAge
      if (this.#characters <= this.#maximumCharacters && stale >= now) {
        this.#staleAt = stale
        return
      }
      this.#empty(kept)
    }
  }

  #empty(kept: KeptSession): void {
    while (kept.size > 0) this.#drop(kept)
    this.#told.delete(kept)
  }

  #drop(kept: KeptSession): void {
    this.#characters -= kept.shift()?.message.length ?? 0
  }
}

/** Makes a store that keeps events in memory. */
export const make = (options: Options = {}): Store => new MemoryStore(options)

/**
 * Provides a store in memory with bounds of one's own.
 *
 * @example
 * ```ts
 * import { Layer } from "effect"
 * import { EventStore, McpServer } from "mcp-effect"
 * import { StreamableHttp } from "mcp-effect/node"
 *
 * const server = McpServer.make({ name: "demo", version: "1.0.0" })
 *
 * const main = StreamableHttp.layerNode(server, { port: 3000 }).pipe(
 *   Layer.provide(EventStore.layer({ maximumEvents: 100, maximumAge: "1 minute" }))
 * )
 * ```
 */
export const layer = (options: Options = {}): Layer.Layer<EventStore> => Layer.sync(EventStore, () => make(options))
