/** What is measured in one round, and what rounds come to. */

/** One round of one contestant. */
export interface Sample {
  readonly calls: number
  readonly seconds: number
  /** Microseconds of CPU that the measured process has used. */
  readonly cpu?: number | undefined
  /** Microseconds from request to answer, sorted; absent where calls overlap without being told apart. */
  readonly latencies?: Float64Array | undefined
}

/** The medians of all rounds of one contestant. */
export interface Measurement {
  readonly callsPerSecond: number
  /** Microseconds of CPU per call in the measured process. What else runs on the machine hardly changes it. */
  readonly cpu: number
  readonly p50?: number | undefined
  readonly p99?: number | undefined
}

export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}

const quantile = (sorted: Float64Array, q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN

export const summarize = (samples: ReadonlyArray<Sample>): Measurement => {
  const rate = median(samples.map(({ calls, seconds }) => calls / seconds))
  const quantiles = (q: number) =>
    samples.every(({ latencies }) => latencies !== undefined)
      ? median(samples.map(({ latencies }) => quantile(latencies as Float64Array, q)))
      : undefined
  const cpu = median(samples.map((sample) => (sample.cpu ?? Number.NaN) / sample.calls))
  return { callsPerSecond: rate, cpu, p50: quantiles(0.5), p99: quantiles(0.99) }
}

/** Collects latencies without allocating while it is measured. */
export class Stopwatch {
  #values = new Float64Array(1 << 14)
  #size = 0

  add(microseconds: number): void {
    if (this.#size === this.#values.length) {
      const larger = new Float64Array(this.#size * 2)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[this.#size++] = microseconds
  }

  /** Everything since the last time, sorted. */
  take(): Float64Array {
    const taken = this.#values.subarray(0, this.#size).toSorted()
    this.#size = 0
    return taken
  }
}
