/** What comes of a workload, whatever it measures. */
import type { System } from "./Systems.ts"

/** One system in one workload. */
export interface Row {
  readonly system: string
  readonly role: System["role"]
  /** In the workload's unit. */
  readonly value: number
  /** Microseconds of CPU per call in the process that is measured. */
  readonly cpu?: number | undefined
  /** Microseconds from request to answer. */
  readonly p50?: number | undefined
  readonly p99?: number | undefined
  /** What else there is to say, in further units. */
  readonly more?: { readonly [name: string]: number } | undefined
}

export interface Result {
  readonly workload: string
  readonly title: string
  readonly unit: string
  readonly better: "higher" | "lower"
  readonly rows: ReadonlyArray<Row>
  /** Who could not take part, and why. */
  readonly absent: ReadonlyArray<{ readonly system: string; readonly why: string }>
}

export const rowOf = (result: Result | undefined, system: string): Row | undefined =>
  result?.rows.find((row) => row.system === system)

/** How good `row` is in terms of `other`: 2 is twice as good, whichever way the unit goes. */
export const ratio = (result: Result, row: Row, other: Row): number =>
  result.better === "higher" ? row.value / other.value : other.value / row.value

/** The limit that a system is held against: over an `HttpRouter`, the raw route. */
export const limitOf = (result: Result, system: string): Row | undefined =>
  (system.endsWith(" route") ? rowOf(result, "raw route") : undefined) ?? rowOf(result, "raw")

export const bestPeer = (result: Result): Row | undefined => {
  const peers = result.rows.filter(({ role }) => role === "peer")
  const sorted = peers.toSorted((left, right) => left.value - right.value)
  return result.better === "higher" ? sorted.at(-1) : sorted[0]
}
