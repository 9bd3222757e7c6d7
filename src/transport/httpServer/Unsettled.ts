/**
 * The requests of a server that have not been answered yet, and for whose answer somebody still waits.
 */
import * as Effect from "effect/Effect"

/** A count of them that can be waited for. */
export class Unsettled {
  #count = 0
  #onNone: (() => void) | undefined

  get count(): number {
    return this.#count
  }

  /** One more request. */
  readonly begun = (): void => {
    this.#count++
  }

  /** One was answered, or nobody waits for its answer any more. */
  readonly settled = (): void => {
    this.#count--
    if (this.#count === 0) this.#onNone?.()
  }

  /** Ends when there is none. */
  get none(): Effect.Effect<void> {
    return Effect.callback((resume) => {
      if (this.#count === 0) resume(Effect.void)
      else this.#onNone = () => resume(Effect.void)
    })
  }
}
