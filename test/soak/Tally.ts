/**
 * What clients have seen: calls that were answered as they should be, faults they have injected, and what was wrong.
 */

/** The figures of one worker. */
export interface Report {
  readonly calls: { readonly [kind: string]: number }
  readonly faults: { readonly [kind: string]: number }
  readonly wrong: number
  readonly lost: number
  readonly unhandled: number
  /** The first of every kind that was wrong or did not come, for people. */
  readonly examples: ReadonlyArray<string>
}

/** An answer that is not what it should be. */
export class Wrong extends Error {}

/** An answer that did not come. */
export class Lost extends Error {}

const describe = (error: Error): string =>
  error.cause instanceof Error ? `${error.stack}\n    because of ${error.cause.stack}` : String(error.stack)

/** Counts. */
export class Tally {
  #calls: { [kind: string]: number } = {}
  #faults: { [kind: string]: number } = {}
  #wrong = 0
  #lost = 0
  #examples: Array<string> = []

  /** A call came to the right end. */
  call(kind: string): void {
    this.#calls[kind] = (this.#calls[kind] ?? 0) + 1
  }

  /** A fault was injected, and the server took it as it should. */
  fault(kind: string): void {
    this.#faults[kind] = (this.#faults[kind] ?? 0) + 1
  }

  /** Something went wrong with one behaviour. */
  failure(kind: string, cause: unknown): void {
    if (cause instanceof Lost) this.#lost++
    else this.#wrong++
    // One of a kind says enough.
    if (this.#examples.some((example) => example.startsWith(`${kind}: `))) return
    this.#examples.push(`${kind}: ${cause instanceof Error ? describe(cause) : String(cause)}`)
  }

  /** What was counted since the last time. */
  take(unhandled: number): Report {
    const report = {
      calls: this.#calls,
      faults: this.#faults,
      wrong: this.#wrong,
      lost: this.#lost,
      unhandled,
      examples: this.#examples
    }
    this.#calls = {}
    this.#faults = {}
    this.#wrong = 0
    this.#lost = 0
    this.#examples = []
    return report
  }
}

const add = (one: { readonly [kind: string]: number }, other: { readonly [kind: string]: number }) => {
  const sum: { [kind: string]: number } = { ...one }
  for (const [kind, count] of Object.entries(other)) sum[kind] = (sum[kind] ?? 0) + count
  return sum
}

/** The figures of several workers together. */
export const sum = (reports: ReadonlyArray<Report>): Report =>
  reports.reduce((one, other) => ({
    calls: add(one.calls, other.calls),
    faults: add(one.faults, other.faults),
    wrong: one.wrong + other.wrong,
    lost: one.lost + other.lost,
    unhandled: one.unhandled + other.unhandled,
    examples: [...one.examples, ...other.examples]
  }))

/** Fails unless a value is as expected. */
export const expectEqual = (actual: unknown, expected: unknown, what: string): void => {
  const [a, b] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (a !== b) throw new Wrong(`${what} is ${a?.slice(0, 300)}, not ${b?.slice(0, 300)}`)
}
