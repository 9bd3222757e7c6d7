/**
 * A stream of a legacy session: what one request, or nobody in particular, has to be told. It outlives the connection
 * that carries it; a client that lost the connection asks for the rest (HTTP-24 to HTTP-27).
 */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { Store } from "../EventStore.ts"
import * as Sse from "../Sse.ts"
import type { EventStream } from "./EventStream.ts"

/** What a stream needs to know of its session. */
export interface Owner {
  readonly id: string
  readonly store: Store
  /** Milliseconds that clients should wait before they reconnect. */
  readonly retry: number
  /** Whether new connections start with an event without data, so that they can be resumed (from 2025-11-25). */
  readonly primes: boolean
}

/** The id of an event, unique in its session, naming its stream. */
export const eventId = (stream: string, sequence: number): string => `${stream}-${sequence}`

/** Reads an event id; `undefined` for one that this server can't have given out. */
export const parseEventId = (id: string): { readonly stream: string; readonly sequence: number } | undefined => {
  const match = /^([0-9a-z]+)-(\d{1,15})$/.exec(id)
  return match === null ? undefined : { stream: match[1] as string, sequence: Number(match[2]) }
}

/** One stream of a session. */
export class SessionStream {
  readonly id: string
  readonly #owner: Owner
  readonly #turn = Semaphore.makeUnsafe(1)
  #connection: EventStream | undefined
  #delivered = 0
  #complete = false

  constructor(id: string, owner: Owner) {
    this.id = id
    this.#owner = owner
  }

  /** Whether a connection carries the stream at the moment. */
  get isConnected(): boolean {
    return this.#connection?.isOpen === true
  }

  /** Whether the last message has been stored. */
  get isComplete(): boolean {
    return this.#complete
  }

  /** Stores the text of a message and sends it if a connection is there. `last` ends the stream. */
  send(text: string, last = false): Effect.Effect<void> {
    return this.#turn.withPermit(
      Effect.flatMap(this.#owner.store.append(this.#owner.id, this.id, text), (sequence) => {
        if (last) this.#complete = true
        const connection = this.#connection
        if (connection?.isOpen !== true) return Effect.void
        this.#delivered = sequence
        const write = connection.write(Sse.encode({ id: eventId(this.id, sequence), data: text }))
        return last
          ? Effect.andThen(
              write,
              Effect.sync(() => connection.end())
            )
          : write
      })
    )
  }

  /**
   * Puts the stream on a connection, which takes over from the one before. What was stored after `sequence` (or, without
   * it, what no connection has carried yet) comes first. `false` when some of that is gone.
   */
  connect(connection: EventStream, sequence?: number): Effect.Effect<boolean> {
    // Or this would wait until what is being sent to a client that does not read has got through to it.
    if (this.#connection?.isStalled === true) this.#connection.hangUp()
    return this.#turn.withPermit(
      Effect.gen({ self: this }, function* () {
        const { id, primes, retry, store } = this.#owner
        const from = sequence ?? this.#delivered
        const stored = yield* store.after(id, this.id, from)
        // Who names no event has no claim to one that is gone; and a stream without an event is not known to the store.
        const missed = stored ?? (sequence === undefined || this.#isNew(sequence) ? [] : undefined)
        if (missed === undefined) return false
        this.#connection?.end()
        this.#connection = connection
        if (primes) yield* connection.write(Sse.encode({ id: eventId(this.id, from), retry, data: "" }))
        for (const event of missed) {
          this.#delivered = event.sequence
          yield* connection.write(Sse.encode({ id: eventId(this.id, event.sequence), data: event.message }))
        }
        if (this.#complete) connection.end()
        return true
      })
    )
  }

  /** Ends the connection that carries the stream, not the stream, once what is being sent is on its way. */
  get disconnect(): Effect.Effect<void> {
    return this.#turn.withPermit(Effect.sync(() => this.close()))
  }

  /** Ends the stream without a last message. */
  get finish(): Effect.Effect<void> {
    return this.#turn.withPermit(
      Effect.sync(() => {
        this.#complete = true
        this.#connection?.end()
      })
    )
  }

  /** Ends the connection that carries the stream, at once. */
  close(): void {
    this.#connection?.end()
    this.#connection = undefined
  }

  /** Whether a sequence number is that of the first priming event, and nothing came after it. */
  #isNew(sequence: number): boolean {
    return sequence === 0 && this.#delivered === 0
  }
}
