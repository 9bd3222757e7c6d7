/**
 * A property with a name, so that the command line and the tests run the same ones.
 */
import { Effect, Exit, Scope } from "effect"
import * as fc from "fast-check"

/** What holds for everything that an arbitrary makes up. */
export interface Property {
  readonly name: string
  /** Prepares what all runs share, checks, and cleans up. */
  readonly check: (parameters: Parameters) => Promise<Details>
}

/** How to check: as fast-check has it, without what depends on the values. */
export type Parameters = Pick<
  fc.Parameters<unknown>,
  "seed" | "path" | "numRuns" | "interruptAfterTimeLimit" | "markInterruptAsFailure"
>

/** How checking went. */
export interface Details {
  readonly failed: boolean
  readonly runs: number
  readonly seed: number
  /** Where the smallest failure is found again. */
  readonly path: string
  /** What did not hold, for a person to read. */
  readonly report: string
}

const detailsOf = <A>(details: fc.RunDetails<A>): Details => ({
  failed: details.failed,
  runs: details.numRuns,
  seed: details.seed,
  path: details.counterexamplePath ?? "0",
  report: details.failed
    ? `${fc.defaultReportMessage(details)}\n${details.errorInstance instanceof Error ? details.errorInstance.stack : ""}`
    : ""
})

/** The longest that one run may take, in milliseconds. More is a hang. */
const longest = 5000

const inTime = async (name: string, run: Promise<void>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${name} hangs: no end after ${longest} ms`)), longest)
  })
  try {
    await Promise.race([run, late])
  } finally {
    clearTimeout(timer)
  }
}

/** A property of one value, for code that waits for nothing. */
export const plain = <A>(name: string, values: fc.Arbitrary<A>, holds: (value: A) => void): Property => ({
  name,
  check: async (parameters) => detailsOf(fc.check(fc.property(values, holds), parameters))
})

/** A property whose runs are effects, in a scope that they share. */
export const effectful = <A, S>(
  name: string,
  values: fc.Arbitrary<A>,
  shared: Effect.Effect<S, never, Scope.Scope>,
  holds: (shared: S, value: A) => Effect.Effect<void, never, Scope.Scope>
): Property => ({
  name,
  check: async (parameters) => {
    const scope = Scope.makeUnsafe()
    try {
      const ready = await Effect.runPromise(Scope.provide(shared, scope))
      const run = (value: A) => inTime(name, Effect.runPromise(Effect.scoped(holds(ready, value))))
      return detailsOf(await fc.check(fc.asyncProperty(values, run), parameters))
    } finally {
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
})

/** Fails a run. */
export const fail = (what: string, about?: unknown): never => {
  throw new Error(about === undefined ? what : `${what}: ${JSON.stringify(about)?.slice(0, 2000)}`)
}

/** Gives everything that is ready its turn. */
export const settle: Effect.Effect<void> = Effect.repeat(Effect.yieldNow, { times: 20 }).pipe(Effect.asVoid)
