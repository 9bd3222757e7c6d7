/** One system in one workload. */
import type { Child } from "./Child.ts"
import type { Sample } from "./Sample.ts"

export interface Contestant {
  /** Measures for about this long. */
  readonly run: (milliseconds: number) => Promise<Sample>
  readonly child: Child
  readonly close: () => Promise<void>
}

/** How a contestant is made. Making it includes checking that it answers rightly. */
export interface Entry {
  readonly system: string
  readonly open: () => Promise<Contestant>
}
