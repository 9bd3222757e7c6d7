/**
 * Time limits for many waiting calls, kept by one sleeping fiber instead of one timer a call.
 */
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"

/** Something that has to happen before a point in time. Times are in milliseconds, as `Clock` gives them. */
export interface Deadline {
  /** When `expire` is called, unless the deadline was moved or removed before. */
  at: number
  /** What happens when the time is up. Runs once. */
  readonly expire: () => void
}

/**
 * A set of deadlines. Adding and removing cost a set operation each; the fiber sleeps until the earliest one and
 * ends when none is left. All time comes from `Clock`, so `TestClock` drives it.
 */
export class Deadlines {
  readonly #fork: (effect: Effect.Effect<void>) => Fiber.Fiber<void>
  readonly #clock: Clock.Clock
  readonly #waiting = new Set<Deadline>()
  #fiber: Fiber.Fiber<void> | undefined
  #wakesAt = Infinity

  constructor(clock: Clock.Clock, fork: (effect: Effect.Effect<void>) => Fiber.Fiber<void>) {
    this.#clock = clock
    this.#fork = fork
  }

  /** The current time in milliseconds. */
  now(): number {
    return this.#clock.currentTimeMillisUnsafe()
  }

  add(deadline: Deadline): void {
    this.#waiting.add(deadline)
    if (deadline.at < this.#wakesAt) this.#sleep(deadline.at)
  }

  remove(deadline: Deadline): void {
    this.#waiting.delete(deadline)
  }

  #sleep(until: number): void {
    this.#fiber?.interruptUnsafe()
    this.#wakesAt = until
    this.#fiber = this.#fork(
      Effect.andThen(
        Effect.sleep(Math.max(0, until - this.now())),
        Effect.sync(() => this.#wake())
      )
    )
  }

  #wake(): void {
    this.#fiber = undefined
    this.#wakesAt = Infinity
    const now = this.now()
    let next = Infinity
    for (const deadline of this.#waiting) {
      if (deadline.at <= now) {
        this.#waiting.delete(deadline)
        deadline.expire()
      } else if (deadline.at < next) {
        next = deadline.at
      }
    }
    if (next < this.#wakesAt) this.#sleep(next)
  }
}
