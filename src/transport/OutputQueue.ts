/**
 * Lines on their way out: what senders hand over and one writer takes. It joins what waits into few writes, and holds
 * senders back while the other end is slow.
 */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Pull from "effect/Pull"
import { McpError } from "../protocol/McpError.ts"

/** Characters that may wait to be written before a sender has to wait too. */
const highWaterMark = 64 * 1024

/** Characters that are worth a write of their own: the peer can begin with them while more are made. */
const promptLength = 4 * 1024

/** What a queue may hold when nothing else is said: 64 Mi characters. */
const defaultMaximum = 64 * 1024 * 1024

type NonEmpty<A> = readonly [A, ...Array<A>]

/** How much a peer may leave unread. */
export interface Options {
  /**
   * The most that may wait to be written to a peer, in characters of JSON. One that leaves more unread is hung up on:
   * `run` and every `send` fail with `LimitExceeded`. A single message may be larger. Default: 64 Mi.
   */
  readonly maxQueuedCharacters?: number | undefined
}

/** A queue with many senders and one writer. Order is the order of the calls to {@link OutputQueue.offer}. */
export class OutputQueue {
  readonly #utf8 = new TextEncoder()
  /** Wakes the writer that has nothing to write. */
  #wake: (() => void) | undefined
  /** Whether that is about to happen. */
  #isWaking = false
  #waiting: Array<string> = []
  #waitingLength = 0
  #writingLength = 0
  #senders: Array<(effect: Effect.Effect<void, McpError>) => void> = []
  #ended = false
  #failure: McpError | undefined
  readonly #maximum: number
  readonly #overflow = Deferred.makeUnsafe<never, McpError>()

  constructor(options: Options = {}) {
    this.#maximum = options.maxQueuedCharacters ?? defaultMaximum
  }

  /** Fails when the peer has left too much unread. */
  readonly overflow: Effect.Effect<never, McpError> = Deferred.await(this.#overflow)

  /**
   * Queues one text at once; the effect then suspends while more than 64 Ki characters wait. Interrupting it does not take the text
   * back. Fails with `Closed` after {@link OutputQueue.end}, and with the given error after {@link OutputQueue.fail}.
   */
  offer(text: string): Effect.Effect<void, McpError> {
    if (this.#failure !== undefined) return Effect.fail(this.#failure)
    if (this.#ended) return Effect.fail(McpError.closed("The connection is closed"))
    const queued = this.#waitingLength + this.#writingLength
    if (queued > 0 && queued + text.length > this.#maximum) return this.#hangUp()
    this.#waiting.push(text)
    this.#waitingLength += text.length
    this.#wakeWriter()
    return this.#waitingLength + this.#writingLength <= highWaterMark ? Effect.void : this.#drained
  }

  /** Nothing more comes. The writer is given the rest and then the end. */
  end(): void {
    this.#ended = true
    this.#wakeWriter()
  }

  /** Nobody reads any more: every sender fails, now and later. The first error stays. */
  fail(error: McpError): void {
    this.#failure ??= error
    this.#resumeSenders(Effect.fail(this.#failure))
  }

  /** For the writer: the texts that wait, in order, if there are any. Asking again says that the last ones are written. */
  takeTexts(): NonEmpty<string> | undefined {
    if (this.#writingLength > 0) {
      this.#writingLength = 0
      this.#resumeSenders(Effect.void)
    }
    const [first, ...rest] = this.#waiting
    if (first === undefined) return undefined
    this.#writingLength = this.#waitingLength
    this.#waiting = []
    this.#waitingLength = 0
    return [first, ...rest]
  }

  /** Whether nothing waits, and nothing more comes. */
  get isDone(): boolean {
    return this.#ended && this.#waiting.length === 0
  }

  /** Calls the writer once, when there is something to take or nothing more comes. */
  whenReady(writer: () => void): void {
    if (this.#waiting.length > 0 || this.#ended) writer()
    else this.#wake = writer
  }

  /** {@link OutputQueue.takeTexts} for a writer that is a fiber. */
  readonly texts: Pull.Pull<NonEmpty<string>> = Effect.suspend(() => {
    const texts = this.takeTexts()
    if (texts !== undefined) return Effect.succeed(texts)
    return this.#ended ? Cause.done() : Effect.flatMap(this.#ready, () => this.texts)
  })

  /** {@link OutputQueue.texts} as bytes, for a stream of them: small texts are joined. */
  readonly take: Pull.Pull<NonEmpty<Uint8Array>> = Effect.map(this.texts, (texts) => this.#encode(texts))

  get #ready(): Effect.Effect<void> {
    return Effect.callback((resume) => {
      const writer = () => resume(Effect.void)
      this.whenReady(writer)
      return Effect.sync(() => {
        if (this.#wake === writer) this.#wake = undefined
      })
    })
  }

  #wakeWriter(): void {
    if (this.#wake === undefined) return
    if (this.#waitingLength >= promptLength) return this.#awake()
    if (this.#isWaking) return
    this.#isWaking = true
    // What is said in the same moment goes out in the same write, which is the costly part.
    queueMicrotask(() => {
      this.#isWaking = false
      if (this.#waiting.length > 0 || this.#ended) this.#awake()
    })
  }

  #awake(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }

  #hangUp(): Effect.Effect<void, McpError> {
    const message = `The peer has left more than ${this.#maximum} characters unread (maxQueuedCharacters)`
    const error = McpError.limit("maxQueuedCharacters", message)
    this.#waiting = []
    this.#waitingLength = 0
    this.fail(error)
    Deferred.doneUnsafe(this.#overflow, Effect.fail(error))
    return Effect.fail(error)
  }

  #encode(texts: NonEmpty<string>): NonEmpty<Uint8Array> {
    // Small messages go out in one write; large ones are not copied again for that.
    if (texts.length > 1 && this.#writingLength <= highWaterMark) return [this.#utf8.encode(texts.join(""))]
    const [first, ...rest] = texts
    return [this.#utf8.encode(first), ...rest.map((text) => this.#utf8.encode(text))]
  }

  readonly #drained: Effect.Effect<void, McpError> = Effect.callback((resume) => {
    this.#senders.push(resume)
    return Effect.sync(() => {
      this.#senders = this.#senders.filter((other) => other !== resume)
    })
  })

  #resumeSenders(effect: Effect.Effect<void, McpError>): void {
    const senders = this.#senders
    this.#senders = []
    for (const resume of senders) resume(effect)
  }
}
