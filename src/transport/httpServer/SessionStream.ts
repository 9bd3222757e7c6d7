/**
 * A stream of a legacy session: what one request, or nobody in particular, has to be told. It outlives the connection
 * that carries it; a client that lost the connection asks for the rest (HTTP-24 to HTTP-27).
 */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { Store, StoredEvent } from "../EventStore.ts"
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
  /** The time in milliseconds. */
  readonly now: () => number
}

/** The id of an event, unique in its session, naming its stream. */
export const eventId = (stream: string, sequence: number): string => `${stream}-${sequence}`

/** Reads an event id; `undefined` for one that this server can't have given out. */
export const parseEventId = (id: string): { readonly stream: string; readonly sequence: number } | undefined => {
  const match = /^([0-9a-z]+)-(\d{1,15})$/.exec(id)
  return match === null ? undefined : { stream: match[1] as string, sequence: Number(match[2]) }
}

const found = (is: boolean): Effect.Effect<boolean> => Effect.succeed(is)

/** One stream of a session. */
export class SessionStream {
  readonly id: string
  readonly #owner: Owner
  /** Made when something has to wait for its turn. */
  #turn: Semaphore.Semaphore | undefined
  /** How many have their turn, or wait for it. */
  #turns = 0
  #connection: EventStream | undefined
  #delivered = 0
  #isEmpty = true
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
    const { id: session, now, store } = this.#owner
    this.#isEmpty = false
    // Nearly always there is nothing to wait for.
    if (store.appendUnsafe !== undefined && this.#turns === 0 && this.#connection?.isStalled !== true) {
      return this.#deliver(store.appendUnsafe(session, this.id, text, now()), text, last)
    }
    return this.#inTurn(
      Effect.flatMap(store.append(session, this.id, text), (sequence) => this.#deliver(sequence, text, last))
    )
  }

  /**
   * Puts the stream on a connection, which takes over from the one before. What was stored after `sequence` (or, without
   * it, what no connection has carried yet) comes first. `false` when some of that is gone.
   */
  connect(connection: EventStream, sequence?: number): Effect.Effect<boolean> {
    // Or this would wait until what is being sent to a client that does not read has got through to it.
    if (this.#connection?.isStalled === true) this.#connection.hangUp()
    const isNew = this.#isEmpty && sequence === undefined
    if (isNew && this.#turns === 0) return this.#carry(connection, 0, [])
    return this.#inTurn(
      Effect.suspend(() => {
        const { id, store } = this.#owner
        const from = sequence ?? this.#delivered
        return Effect.flatMap(store.after(id, this.id, from), (stored) => {
          // Who names no event has no claim to one that is gone; and a stream without an event is not known to the store.
          const missed = stored ?? (sequence === undefined || this.#isNew(sequence) ? [] : undefined)
          return missed === undefined ? found(false) : this.#carry(connection, from, missed)
        })
      })
    )
  }

  /** Ends the connection that carries the stream, not the stream, once what is being sent is on its way. */
  get disconnect(): Effect.Effect<void> {
    return this.#inTurn(Effect.sync(() => this.close()))
  }

  /** Ends the stream without a last message. */
  get finish(): Effect.Effect<void> {
    return this.#inTurn(
      Effect.sync(() => {
        this.#complete = true
        this.close()
      })
    )
  }

  /** Ends the connection that carries the stream, at once. */
  close(): void {
    this.#connection?.end()
    this.#connection = undefined
  }

  #inTurn<A>(effect: Effect.Effect<A>): Effect.Effect<A> {
    return Effect.suspend(() => {
      this.#turns++
      this.#turn ??= Semaphore.makeUnsafe(1)
      return Effect.ensuring(
        this.#turn.withPermit(effect),
        Effect.sync(() => this.#turns--)
      )
    })
  }

  #deliver(sequence: number, text: string, last: boolean): Effect.Effect<void> {
    if (last) this.#complete = true
    const connection = this.#connection
    if (connection?.isOpen !== true) return Effect.void
    this.#delivered = sequence
    const event = Sse.encode({ id: eventId(this.id, sequence), data: text })
    const writing = last ? connection.writeLast(event) : connection.write(event)
    // Streams are kept for a while after their end, and what carried them is not.
    if (!connection.isOpen) this.#connection = undefined
    return writing
  }

  #carry(connection: EventStream, from: number, missed: ReadonlyArray<StoredEvent>): Effect.Effect<boolean> {
    const { primes, retry } = this.#owner
    this.#connection?.end()
    this.#connection = connection
    const primed = primes ? connection.write(Sse.encode({ id: eventId(this.id, from), retry, data: "" })) : Effect.void
    if (missed.length === 0 && primed === Effect.void) {
      if (this.#complete) this.close()
      return found(true)
    }
    const written = Effect.forEach(
      missed,
      ({ message, sequence }) => {
        this.#delivered = sequence
        return connection.write(Sse.encode({ id: eventId(this.id, sequence), data: message }))
      },
      { discard: true }
    )
    return Effect.andThen(
      Effect.andThen(primed, written),
      Effect.sync(() => {
        if (this.#complete) this.close()
        return true
      })
    )
  }

  /** Whether a sequence number is that of the first priming event, and nothing came after it. */
  #isNew(sequence: number): boolean {
    return sequence === 0 && this.#delivered === 0
  }
}
