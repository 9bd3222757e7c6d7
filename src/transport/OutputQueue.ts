/**
 * Lines on their way out: what senders hand over and one writer takes. It joins what waits into few writes, and holds
 * senders back while the other end is slow.
 */
import { Cause, Effect, Latch, type Pull } from "effect"
import { McpError } from "../protocol/McpError.ts"

/** Characters that may wait to be written before a sender has to wait too. */
const highWaterMark = 64 * 1024

type NonEmpty<A> = readonly [A, ...Array<A>]

/** A queue with many senders and one writer. Order is the order of the calls to {@link OutputQueue.offer}. */
export class OutputQueue {
  readonly #utf8 = new TextEncoder()
  readonly #ready = Latch.makeUnsafe(false)
  #waiting: Array<string> = []
  #waitingLength = 0
  #writingLength = 0
  #senders: Array<(effect: Effect.Effect<void, McpError>) => void> = []
  #ended = false
  #failure: McpError | undefined

  /**
   * Queues one text at once; the effect then suspends while more than 64 Ki characters wait. Interrupting it does not take the text
   * back. Fails with `Closed` after {@link OutputQueue.end}, and with the given error after {@link OutputQueue.fail}.
   */
  offer(text: string): Effect.Effect<void, McpError> {
    if (this.#failure !== undefined) return Effect.fail(this.#failure)
    if (this.#ended) return Effect.fail(McpError.closed("The connection is closed"))
    this.#waiting.push(text)
    this.#waitingLength += text.length
    this.#ready.openUnsafe()
    return this.#waitingLength + this.#writingLength <= highWaterMark ? Effect.void : this.#drained
  }

  /** Nothing more comes. The writer is given the rest and then the end. */
  end(): void {
    this.#ended = true
    this.#ready.openUnsafe()
  }

  /** Nobody reads any more: every sender fails, now and later. The first error stays. */
  fail(error: McpError): void {
    this.#failure ??= error
    this.#resumeSenders(Effect.fail(this.#failure))
  }

  /** For the writer: the texts that wait, in order. Asking again says that the last ones are written. */
  readonly texts: Pull.Pull<NonEmpty<string>> = Effect.suspend(() => {
    this.#writingLength = 0
    this.#resumeSenders(Effect.void)
    return this.#take()
  })

  /** {@link OutputQueue.texts} as bytes, for a stream of them: small texts are joined. */
  readonly take: Pull.Pull<NonEmpty<Uint8Array>> = Effect.map(this.texts, (texts) => this.#encode(texts))

  #take(): Pull.Pull<NonEmpty<string>> {
    const [first, ...rest] = this.#waiting
    if (first !== undefined) {
      this.#writingLength = this.#waitingLength
      this.#waiting = []
      this.#waitingLength = 0
      return Effect.succeed([first, ...rest])
    }
    if (this.#ended) return Cause.done()
    this.#ready.closeUnsafe()
    // What is said in the same moment goes out in the same write, which is the costly part.
    return Effect.flatMap(Effect.andThen(this.#ready.await, Effect.yieldNow), () => this.#take())
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
