/**
 * What was sent to one end of an in-memory link and waits for its receiver: a bounded queue that runs the receiver.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { McpError } from "../protocol/McpError.ts"

/** Messages that wait before a sender suspends. */
const capacity = 64

type Resume = (effect: Effect.Effect<void, McpError>) => void

interface Sender {
  readonly text: string
  readonly resume: Resume
}

interface Receiver {
  readonly receive: (text: string) => Effect.Effect<void>
  readonly fork: (effect: Effect.Effect<void>) => Fiber.Fiber<void>
  readonly resume: Resume
}

const closedByPeer = () => McpError.closed("The peer has closed the connection")

/**
 * One direction of a link. An idle receiver is started inside the sender's call, with no trip through the scheduler, but
 * in a fiber of its own: neither the sender's interruption nor its services reach the receiver.
 */
export class Inbox {
  /** The receiving side has hung up. */
  closed = false
  /** The sending side has hung up: nothing more will come. */
  #ended = false
  #queue: Array<string> = []
  #senders: Array<Sender> = []
  #receiver: Receiver | undefined
  /** The receiver at work on a message that it could not finish at once. */
  #working: Fiber.Fiber<void> | undefined
  /** A delivery is being started; what it sends to this same inbox has to queue up behind it. */
  #delivering = false

  /** Hands over one text. Suspends while the queue is full. */
  offer(text: string): Effect.Effect<void, McpError> {
    if (this.closed) return Effect.fail(closedByPeer())
    if (this.#queue.length < capacity) {
      this.#queue.push(text)
      this.#deliver()
      return Effect.void
    }
    return Effect.callback<void, McpError>((resume) => {
      const sender = { text, resume }
      this.#senders.push(sender)
      return Effect.sync(() => {
        this.#senders = this.#senders.filter((other) => other !== sender)
      })
    })
  }

  /** Runs `receive` for every text, one after the other, until either side hangs up. */
  run(receive: (text: string) => Effect.Effect<void>): Effect.Effect<void, McpError> {
    return Effect.contextWith((context) => {
      const fork = Effect.runForkWith(context)
      return Effect.callback<void, McpError>((resume) => {
        if (this.closed) return resume(Effect.void)
        this.#receiver = { receive, fork, resume }
        this.#deliver()
        return Effect.suspend(() => {
          this.#receiver = undefined
          return this.#interrupt
        })
      })
    })
  }

  /** The sender hangs up. What is queued is still delivered, then `run` ends. */
  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#refuseSenders(McpError.closed("The connection is closed"))
    this.#deliver()
  }

  /** The receiver hangs up. What is queued is dropped, and `run` ends. */
  readonly close: Effect.Effect<void> = Effect.suspend(() => {
    this.closed = true
    this.#queue = []
    this.#refuseSenders(closedByPeer())
    return Effect.andThen(
      this.#interrupt,
      Effect.sync(() => this.#finish(Effect.void))
    )
  })

  readonly #interrupt: Effect.Effect<void> = Effect.withFiber((fiber) =>
    // A receiver that hangs up on itself must not wait for its own end.
    this.#working === undefined || this.#working === fiber ? Effect.void : Fiber.interrupt(this.#working)
  )

  #refuseSenders(error: McpError): void {
    const senders = this.#senders
    this.#senders = []
    for (const sender of senders) sender.resume(Effect.fail(error))
  }

  #take(): string | undefined {
    const text = this.#queue.shift()
    const sender = this.#senders.shift()
    if (sender !== undefined) {
      this.#queue.push(sender.text)
      sender.resume(Effect.void)
    }
    return text
  }

  #deliver(): void {
    if (this.#delivering || this.#working !== undefined) return
    this.#delivering = true
    while (this.#receiver !== undefined && this.#working === undefined) {
      const receiver: Receiver = this.#receiver
      const text = this.#take()
      if (text === undefined) break
      if (this.#receiver !== receiver) {
        // The sender that has gone on just now has made the receiver leave; another one may come.
        if (!this.closed) this.#queue.unshift(text)
        continue
      }
      const receiving = receiver.receive(text)
      // Nearly always there is nothing to wait for before the next one.
      if (receiving === Effect.void) continue
      const fiber = receiver.fork(receiving)
      const exit = fiber.pollUnsafe()
      if (exit === undefined) this.#await(fiber)
      else this.#check(exit)
    }
    this.#delivering = false
    if (this.#ended && this.#queue.length === 0 && this.#working === undefined) this.#finish(Effect.void)
  }

  #await(fiber: Fiber.Fiber<void>): void {
    this.#working = fiber
    fiber.addObserver((exit) => {
      this.#working = undefined
      this.#check(exit)
      this.#deliver()
    })
  }

  /** A defect of the receiver is the defect of its `run`. */
  #check(exit: Exit.Exit<void>): void {
    if (exit._tag === "Failure" && !Cause.hasInterruptsOnly(exit.cause)) this.#finish(Effect.failCause(exit.cause))
  }

  #finish(effect: Effect.Effect<void, McpError>): void {
    const receiver = this.#receiver
    this.#receiver = undefined
    receiver?.resume(effect)
  }
}
