/**
 * A response body of server-sent events while it is being written: a bounded queue between whoever has something to
 * say and the host that writes it.
 *
 * Plain fields and callbacks, because every response that is a stream makes one.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"

/** How many events wait for a client that reads slowly, before whoever sends has to wait. */
const capacity = 64

/** An open stream of events. */
export class EventStream {
  readonly #readTimeout: number
  readonly #onGone: () => void
  #waiting: Array<string> = []
  #open = true
  #reader: (() => void) | undefined
  #writers: Array<() => void> = []
  #abort: (() => void) | undefined
  #onClosed: (() => void) | undefined

  /**
   * `readTimeout` is how many milliseconds so many events may wait that no more fit, before the stream is dropped; `onGone`
   * is called when the client leaves before the end, or was dropped.
   */
  constructor(readTimeout: number, onGone: () => void) {
    this.#readTimeout = readTimeout
    this.#onGone = onGone
  }

  /** Whether someone may still be reading. */
  get isOpen(): boolean {
    return this.#open
  }

  /** Whether so much waits for the client that whoever writes has to wait, too. */
  get isStalled(): boolean {
    return this.#open && this.#waiting.length >= capacity
  }

  /** Whether nothing more comes, and everything was taken. */
  get isDone(): boolean {
    return !this.#open && this.#waiting.length === 0
  }

  /**
   * Writes text that is one or more whole events. Waits while the client is slow, and drops it when it has left the stream
   * unread for too long; does nothing once it is gone.
   */
  write(text: string): Effect.Effect<void> {
    if (!this.#open) return Effect.void
    if (this.#waiting.length < capacity) {
      this.#push(text)
      return Effect.void
    }
    return Effect.timeoutOrElse(this.#turn(text), {
      duration: this.#readTimeout,
      orElse: () => this.#drop
    })
  }

  /** {@link EventStream.write}, and then the end. */
  writeLast(text: string): Effect.Effect<void> {
    const writing = this.write(text)
    if (writing !== Effect.void) {
      return Effect.andThen(
        writing,
        Effect.sync(() => this.end())
      )
    }
    this.end()
    return Effect.void
  }

  /** Writes text that nobody misses, unless something still waits for the client to read it. */
  writeIfRead(text: string): void {
    if (this.#open && this.#waiting.length === 0) this.#push(text)
  }

  /** Ends the response, after what was written. */
  end(): void {
    if (!this.#open) return
    this.#close()
    this.#wake()
  }

  /** The host says that the client is gone, or that everything was written. */
  gone(): void {
    this.#waiting = []
    const before = this.#open
    if (before) this.#close()
    this.#wake()
    this.#release()
    if (before) this.#onGone()
  }

  /** Has whoever keeps track of open streams told when this one is none any more. */
  onClosed(forget: () => void): void {
    this.#onClosed = forget
  }

  /** The host says how it hangs up on a client. */
  onHangUp(abort: () => void): void {
    this.#abort = abort
  }

  /** Ends the response at once, whatever was not read of it. */
  hangUp(): void {
    this.#abort?.()
    this.gone()
  }

  /** All text there is at the moment; `undefined` when there is none. */
  take(): string | undefined {
    const waiting = this.#waiting
    if (waiting.length === 0) return undefined
    this.#waiting = []
    this.#release()
    return waiting.length === 1 ? waiting[0] : waiting.join("")
  }

  /** All text there will ever be, if the stream was ended before anything was taken of it; the host is then done with it. */
  whole(): string | undefined {
    return this.#open ? undefined : (this.take() ?? "")
  }

  /** Calls `reader` once, when there is text to take or the stream is done. There is one reader at a time. */
  whenReady(reader: () => void): void {
    if (this.#waiting.length > 0 || !this.#open) reader()
    else this.#reader = reader
  }

  /** {@link EventStream.take}, waiting until there is some; `undefined` at the end. */
  get next(): Effect.Effect<string | undefined> {
    return Effect.suspend(() => this.#next())
  }

  /** The text to write, for the host. Calls {@link EventStream.gone} when it is done with or given up. */
  get text(): Stream.Stream<string> {
    const pull: Pull.Pull<readonly [string]> = Effect.flatMap(
      Effect.suspend(() => this.next),
      (text) => (text === undefined ? Cause.done() : Effect.succeed([text] as const))
    )
    return Stream.ensuring(
      Stream.fromPull(Effect.succeed(pull)),
      Effect.sync(() => this.gone())
    )
  }

  #next(): Effect.Effect<string | undefined> {
    const text = this.take()
    if (text !== undefined) return Effect.succeed(text)
    if (this.isDone) return Effect.undefined
    const ready = Effect.callback<void>((resume) => {
      this.whenReady(() => resume(Effect.void))
      return Effect.sync(() => {
        this.#reader = undefined
      })
    })
    return Effect.flatMap(ready, () => this.#next())
  }

  #close(): void {
    this.#open = false
    this.#onClosed?.()
  }

  #push(text: string): void {
    this.#waiting.push(text)
    this.#wake()
  }

  #wake(): void {
    const reader = this.#reader
    this.#reader = undefined
    reader?.()
  }

  #release(): void {
    const writers = this.#writers
    this.#writers = []
    for (const writer of writers) writer()
  }

  /** Writes when it is this writer's turn; the writers before it keep theirs. */
  #turn(text: string): Effect.Effect<void> {
    return Effect.callback((resume) => {
      const writer = () => {
        if (this.#open && this.#waiting.length >= capacity) return void this.#writers.push(writer)
        if (this.#open) this.#push(text)
        resume(Effect.void)
      }
      this.#writers.push(writer)
      return Effect.sync(() => {
        this.#writers = this.#writers.filter((other) => other !== writer)
      })
    })
  }

  // A peer that holds up whoever writes, and events in memory, for that long may as well be dead.
  get #drop(): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (!this.#open) return Effect.void
      const seconds = this.#readTimeout / 1000
      const reason = `A client was dropped: it left ${capacity} events of a stream unread for ${seconds} seconds (readTimeout)`
      // Told first: whoever writes may be interrupted when the client is gone.
      return Effect.andThen(
        Effect.logWarning(reason),
        Effect.sync(() => this.hangUp())
      )
    })
  }
}
