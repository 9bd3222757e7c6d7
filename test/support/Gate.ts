/**
 * A handler's work that lasts as long as the test wants, and tells how it went.
 */
import { Deferred, Effect, Exit } from "effect"

/** Work that waits at a gate. */
export class Gate {
  readonly #started = Deferred.makeUnsafe<void>()
  readonly #opened = Deferred.makeUnsafe<void>()
  readonly #interrupted = Deferred.makeUnsafe<void>()
  /** How often the work has begun. */
  begun = 0
  /** How often it was interrupted. */
  stopped = 0
  /** How often it came to its end. */
  finished = 0

  /** The work itself. */
  readonly work: Effect.Effect<void> = Effect.suspend(() => {
    this.begun++
    Deferred.doneUnsafe(this.#started, Effect.void)
    return Deferred.await(this.#opened)
  }).pipe(
    Effect.onExit((exit) =>
      Effect.sync(() => {
        if (Exit.isSuccess(exit)) return void this.finished++
        this.stopped++
        Deferred.doneUnsafe(this.#interrupted, Effect.void)
      })
    )
  )

  /** Waits until the work has begun. */
  readonly started = Deferred.await(this.#started)
  /** Waits until the work was interrupted. */
  readonly interrupted = Deferred.await(this.#interrupted)
  /** Lets the work end. */
  readonly open: Effect.Effect<void> = Effect.sync(() => {
    Deferred.doneUnsafe(this.#opened, Effect.void)
  })
}
