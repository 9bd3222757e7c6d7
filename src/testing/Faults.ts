/**
 * What goes wrong on the way between two peers, and how often; decided by a seed, so that it goes wrong again in the same
 * way.
 */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

/** Faults of a link. Probabilities are between 0 and 1, and are asked for every piece of text that moves. */
export interface Faults {
  /** Most milliseconds that a piece is on its way. */
  readonly delay: number
  /** That a piece is cut, in the middle of a message or of a character. What is not cut arrives joined together. */
  readonly split: number
  /** That a message arrives twice. Over HTTP: that a request does. */
  readonly duplicate: number
  /** That a message never arrives. Over HTTP: that a request does not, or that its response does not. */
  readonly drop: number
  /** That nothing moves in this direction for a time. */
  readonly stall: number
  /** Milliseconds that a stall lasts; `Infinity` for good. */
  readonly stallFor: number
  /** That the link breaks, in both directions. Over HTTP: that the body of a response is cut off. */
  readonly kill: number
}

/** Nothing goes wrong, and nothing takes time. */
export const none: Faults = { delay: 0, split: 0, duplicate: 0, drop: 0, stall: 0, stallFor: 0, kill: 0 }

/** What every transport may do: take time, cut and join. */
export const gentle: Faults = { ...none, delay: 40, split: 0.3, stall: 0.02, stallFor: 2000 }

/** Everything at once. */
export const rough: Faults = {
  delay: 200,
  split: 0.4,
  duplicate: 0.03,
  drop: 0.03,
  stall: 0.03,
  stallFor: 20_000,
  kill: 0.01
}

/** Decides by chance, the same for the same seed. */
export class Dice {
  readonly #random: Random.Random

  constructor(seed: string | number) {
    this.#random = Effect.runSync(Random.withSeed(Effect.service(Random.Random), seed))
  }

  /** Whether something of this probability happens. */
  chance(probability: number): boolean {
    return probability > 0 && this.#random.nextDoubleUnsafe() < probability
  }

  /** A whole number from 0 up to, and not including, `end`. */
  below(end: number): number {
    return Math.floor(this.#random.nextDoubleUnsafe() * end)
  }

  /** One of several. */
  pick<A>(values: readonly [A, ...ReadonlyArray<A>]): A {
    return values[this.below(values.length)] ?? values[0]
  }
}

/** What a piece waits for before it moves on. */
export const pause = (dice: Dice, { delay, stall, stallFor }: Faults): Effect.Effect<void> =>
  Effect.suspend(() => {
    const stalled = dice.chance(stall)
    if (stalled && stallFor === Infinity) return Effect.never
    const milliseconds = (delay > 0 ? dice.below(delay + 1) : 0) + (stalled ? stallFor : 0)
    return milliseconds > 0 ? Effect.sleep(milliseconds) : Effect.void
  })
