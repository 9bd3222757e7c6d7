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

/** An event of a stream. Sequence numbers rise within a stream. */
export interface StoredEvent {
  /** Its place in the stream, from 1. */
  readonly sequence: number
  /** The JSON of the message. */
  readonly message: string
}

/** Keeps events by session and stream. What one session stored, no other can read. */
export interface Store {
  /** Keeps an event and gives its sequence number: one more than the stream's last, from 1. */
  readonly append: (session: string, stream: string, message: string) => Effect.Effect<number>
  /** The events of a stream after a sequence number, oldest first; `undefined` when some of them are gone already. */
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
}

interface Kept extends StoredEvent {
  readonly stream: string
  readonly at: number
}

/** Makes a store that keeps events in memory. */
export const make = (options: Options = {}): Store => {
  const maximumEvents = options.maximumEvents ?? 1000
  const maximumAge = Duration.toMillis(Duration.fromInputUnsafe(options.maximumAge ?? Duration.minutes(5)))
  const sessions = new Map<string, { readonly events: Array<Kept>; readonly last: Map<string, number> }>()
  return {
    append: (session, stream, message) =>
      Effect.map(Clock.currentTimeMillis, (at) => {
        let kept = sessions.get(session)
        if (kept === undefined) sessions.set(session, (kept = { events: [], last: new Map() }))
        const sequence = (kept.last.get(stream) ?? 0) + 1
        kept.last.set(stream, sequence)
        kept.events.push({ stream, sequence, message, at })
        let gone = 0
        while (gone < kept.events.length - maximumEvents || (kept.events[gone]?.at ?? at) < at - maximumAge) gone++
        for (const { stream: from, sequence: last } of kept.events.splice(0, gone)) {
          if (kept.last.get(from) === last) kept.last.delete(from)
        }
        return sequence
      }),
    after: (session, stream, sequence) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const kept = sessions.get(session)
        const last = kept?.last.get(stream)
        if (kept === undefined || last === undefined || sequence > last) return undefined
        const events = kept.events.filter(
          (event) => event.stream === stream && event.sequence > sequence && event.at >= now - maximumAge
        )
        return events.length === last - sequence ? events : undefined
      }),
    forget: (session) => Effect.sync(() => sessions.delete(session))
  }
}

/** Provides a store in memory with bounds of one's own. */
export const layer = (options: Options = {}): Layer.Layer<EventStore> => Layer.sync(EventStore, () => make(options))
