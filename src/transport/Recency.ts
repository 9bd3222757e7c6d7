/**
 * Things in the order of their last use. Every message of a session is a use, so each thing is a link of the chain itself:
 * to move it is to set a few fields, where a `Map` would be deleted from, added to, and rebuilt every so often.
 */

/** What can be kept in a {@link Recency}, one at a time. */
export class Used {
  /** @internal */
  older: Used | undefined
  /** @internal */
  newer: Used | undefined
}

/** A chain of things, from the one that was used longest ago to the one that was used last. */
export class Recency<A extends Used> {
  #oldest: A | undefined
  #newest: A | undefined

  /** The one that was used longest ago. */
  get oldest(): A | undefined {
    return this.#oldest
  }

  /** The one that was used after this one. */
  after(used: A): A | undefined {
    return used.newer as A | undefined // all of a chain are alike
  }

  /** Makes it the one that was used last, whether it is here or new. */
  use(used: A): void {
    if (this.#newest === used) return
    this.delete(used)
    used.older = this.#newest
    if (this.#newest === undefined) this.#oldest = used
    else this.#newest.newer = used
    this.#newest = used
  }

  /** Takes it out, if it is here. */
  delete(used: A): void {
    const { newer, older } = used
    if (this.#oldest === used) this.#oldest = newer as A | undefined
    else if (older !== undefined) older.newer = newer
    if (this.#newest === used) this.#newest = older as A | undefined
    else if (newer !== undefined) newer.older = older
    used.older = undefined
    used.newer = undefined
  }
}
