/**
 * A response body of server-sent events while it is being written: a bounded queue between whoever has something to
 * say and the host that writes it.
 */
import { type Cause, Effect, Queue, Stream } from "effect"

/** How many events wait for a client that reads slowly, before whoever sends has to wait. */
const capacity = 64

/** An open stream of events. Made with {@link make}. */
export class EventStream {
  readonly #queue: Queue.Queue<string, Cause.Done>
  readonly #onGone: () => void
  #open = true

  constructor(queue: Queue.Queue<string, Cause.Done>, onGone: () => void) {
    this.#queue = queue
    this.#onGone = onGone
  }

  /** Whether someone may still be reading. */
  get isOpen(): boolean {
    return this.#open
  }

  /** Writes text that is one or more whole events. Waits while the client is slow; does nothing once it is gone. */
  write(text: string): Effect.Effect<void> {
    if (!this.#open || Queue.offerUnsafe(this.#queue, text)) return Effect.void
    return Effect.asVoid(Queue.offer(this.#queue, text))
  }

  /** Writes text that nobody misses, unless the client is slow: it has enough to read then. */
  writeIfRead(text: string): void {
    if (this.#open) Queue.offerUnsafe(this.#queue, text)
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
    this.#onGone()
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
}

/** Opens a stream. `onGone` is called when the client leaves before the end. */
export const make = (onGone: () => void): EventStream =>
  // A queue is made of plain fields; making one waits for nothing.
  new EventStream(Effect.runSync(Queue.bounded<string, Cause.Done>(capacity)), onGone)
