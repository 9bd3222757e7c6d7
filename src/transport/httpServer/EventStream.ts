/**
 * A response body of server-sent events while it is being written: a bounded queue between whoever has something to
 * say and the host that writes it.
 */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"

/** How many events wait for a client that reads slowly, before whoever sends has to wait. */
const capacity = 64

/** Who has to do with a stream. */
export interface Options {
  /** Milliseconds for which so many events may wait that no more fit, before the stream is dropped. */
  readonly readTimeout: number
  /** Called when the client leaves before the end, or was dropped. */
  readonly onGone: () => void
}

/** An open stream of events. Made with {@link make}. */
export class EventStream {
  readonly #queue: Queue.Queue<string, Cause.Done>
  readonly #options: Options
  #open = true
  #abort: (() => void) | undefined

  constructor(queue: Queue.Queue<string, Cause.Done>, options: Options) {
    this.#queue = queue
    this.#options = options
  }

  /** Whether someone may still be reading. */
  get isOpen(): boolean {
    return this.#open
  }

  /**
   * Writes text that is one or more whole events. Waits while the client is slow, and drops it when it has left the stream
   * unread for too long; does nothing once it is gone.
   */
  write(text: string): Effect.Effect<void> {
    if (!this.#open || Queue.offerUnsafe(this.#queue, text)) return Effect.void
    return Effect.asVoid(
      Effect.timeoutOrElse(Queue.offer(this.#queue, text), {
        duration: this.#options.readTimeout,
        orElse: () => this.#drop
      })
    )
  }

  /** Writes text that nobody misses, unless something still waits for the client to read it. */
  writeIfRead(text: string): void {
    if (this.#open && Queue.sizeUnsafe(this.#queue) === 0) Queue.offerUnsafe(this.#queue, text)
  }

  /** Ends the response, after what was written. */
  end(): void {
    if (!this.#open) return
    this.#open = false
    Queue.endUnsafe(this.#queue)
  }

  /** The host says that the client is gone, or that everything was written. */
  gone(): void {
    Queue.shutdownUnsafe(this.#queue)
    if (!this.#open) return
    this.#open = false
    this.#options.onGone()
  }

  /** The host says how it hangs up on a client that was dropped. */
  onDropped(abort: () => void): void {
    this.#abort = abort
  }

  /** The text to write, for the host. Calls {@link EventStream.gone} when it is done with or given up. */
  get text(): Stream.Stream<string> {
    return Stream.ensuring(
      Stream.fromQueue(this.#queue),
      Effect.sync(() => this.gone())
    )
  }

  /** All text there is now, waiting for some; `undefined` at the end. For hosts that write by hand. */
  get next(): Effect.Effect<string | undefined> {
    return Effect.matchEffect(Queue.takeAll(this.#queue), {
      onSuccess: (parts) => Effect.succeed(parts.length === 1 ? parts[0] : parts.join("")),
      onFailure: () => Effect.undefined
    })
  }

  // A peer that holds up whoever writes, and events in memory, for that long may as well be dead.
  get #drop(): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (!this.#open) return Effect.void
      this.#open = false
      const seconds = this.#options.readTimeout / 1000
      const reason = `A client was dropped: it left ${capacity} events of a stream unread for ${seconds} seconds (readTimeout)`
      return Effect.andThen(
        Effect.logWarning(reason),
        Effect.sync(() => {
          Queue.shutdownUnsafe(this.#queue)
          this.#abort?.()
          this.#options.onGone()
        })
      )
    })
  }
}

/** Opens a stream. */
export const make = (options: Options): EventStream =>
  // A queue is made of plain fields; making one waits for nothing.
  new EventStream(Effect.runSync(Queue.bounded<string, Cause.Done>(capacity)), options)
