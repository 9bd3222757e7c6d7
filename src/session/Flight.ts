/**
 * One request of a peer, from its arrival to its answer: exactly one answer, or none when it was cancelled.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as JsonRpc from "../protocol/JsonRpc.ts"
import { type McpError, toErrorObject } from "../protocol/McpError.ts"
import { type Outlet, sendNow } from "../transport/Transport.ts"
import type { Outcome, Work } from "./Work.ts"

/** Who keeps track of flights. */
export interface Tower {
  /** The answer of a flight waits for a peer that is slow to read. */
  readonly unread: () => void
  /** A flight is over. */
  readonly landed: (flight: Flight) => void
}

/** A request that is being worked on. */
export class Flight {
  readonly #request: JsonRpc.Request
  readonly #outlet: Outlet
  readonly #work: Work
  readonly #tower: Tower
  #fiber: Fiber.Fiber<unknown, unknown> | undefined
  #cancelled = false
  #replying = false
  #landed = false
  #waiting: Array<() => void> | undefined

  constructor(request: JsonRpc.Request, outlet: Outlet, work: Work, tower: Tower) {
    this.#request = request
    this.#outlet = outlet
    this.#work = work
    this.#tower = tower
  }

  get id(): JsonRpc.RequestId {
    return this.#request.id
  }

  /** Whether everything is done, the answer included. */
  get landed(): boolean {
    return this.#landed
  }

  /** Whether the answer is on its way to a peer that is slow to read. */
  get replying(): boolean {
    return this.#replying
  }

  /** Sets the work going. What needs no waiting is done when this returns. */
  start(): void {
    const { effect } = this.#work
    if (Exit.isExit(effect)) this.#worked(effect as Outcome)
    else this.#follow(effect, (outcome) => this.#worked(outcome))
  }

  /** Interrupts the work; no answer is sent. */
  cancel(): void {
    this.#cancelled = true
    this.#fiber?.interruptUnsafe()
  }

  /** Ends when everything is done, finalizers included. */
  get landing(): Effect.Effect<void> {
    return Effect.suspend(() =>
      this.#landed
        ? Effect.void
        : Effect.callback((resume) => {
            this.#waiting ??= []
            this.#waiting.push(() => resume(Effect.void))
          })
    )
  }

  #worked(outcome: Outcome): void {
    const work = this.#work
    if (work.after === undefined) return this.#reply(outcome)
    let last: ReturnType<typeof work.after>
    try {
      last = work.after(outcome)
    } catch (defect) {
      last = Exit.die(defect)
    }
    if (Exit.isExit(last)) this.#reply(last as Outcome)
    else this.#follow(last, (concluded) => this.#reply(concluded))
  }

  #follow<A, E>(effect: Effect.Effect<A, E>, then: (exit: Exit.Exit<A, E>) => void): void {
    const fiber = Effect.runForkWith(this.#work.context)(effect)
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) return then(exit)
    this.#fiber = fiber
    fiber.addObserver(then)
  }

  #reply(outcome: Outcome): void {
    if (this.#cancelled) {
      this.#outlet.unanswered?.()
      return this.#land()
    }
    const { id } = this.#request
    if (Exit.isSuccess(outcome)) return this.#send(JsonRpc.result(id, outcome.value))
    const failure = failureOf(outcome.cause)
    if (failure !== undefined) return this.#send(JsonRpc.error(id, toErrorObject(failure)))
    this.#broken("failed unexpectedly", outcome.cause)
  }

  // The operator learns why; the peer only that it was not its fault.
  #broken(how: string, cause: Cause.Cause<unknown>): void {
    const message = `The handler of ${this.#request.method} ${how}`
    Effect.runForkWith(this.#work.context)(Effect.logError(message, cause))
    const { InternalError } = JsonRpc.ErrorCode
    this.#send(JsonRpc.error(this.#request.id, { code: InternalError, message: "Internal error" }))
  }

  #send(answer: JsonRpc.Response): void {
    let sending: Effect.Effect<void, McpError>
    try {
      sending = sendNow(this.#outlet, answer)
    } catch (defect) {
      sending = Exit.die(defect)
    }
    if (sending === Effect.void) return this.#land()
    if ("result" in answer && isDefect(sending))
      return this.#broken("gave what can't be written as JSON", sending.cause)
    this.#replying = true
    this.#tower.unread()
    // A peer that is gone needs no answer.
    this.#follow(sending, () => this.#land())
  }

  #land(): void {
    this.#landed = true
    this.#fiber = undefined
    this.#tower.landed(this)
    if (this.#waiting !== undefined) for (const resume of this.#waiting) resume()
  }
}

const isDefect = (effect: Effect.Effect<void, McpError>): effect is Exit.Failure<void, McpError> =>
  Exit.isExit(effect) && Exit.isFailure(effect) && Cause.hasDies(effect.cause)

/** The first declared failure of a cause. */
export const failureOf = (cause: Cause.Cause<McpError>): McpError | undefined => {
  for (const reason of cause.reasons) if (Cause.isFailReason(reason)) return reason.error
  return undefined
}
