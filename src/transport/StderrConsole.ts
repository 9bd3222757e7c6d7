/**
 * A console that writes everything to standard error, for programs whose standard output carries a protocol (STDIO-02).
 */
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"

/** Makes it from the console and the clock that are in use. */
export const make: Effect.Effect<Console.Console> = Effect.gen(function* () {
  const console = yield* Console.Console
  const clock = yield* Clock.Clock
  const counts = new Map<string, number>()
  const starts = new Map<string, number>()
  let indentation = ""

  const write = (...values: ReadonlyArray<unknown>): void =>
    indentation === "" ? console.error(...values) : console.error(indentation, ...values)

  const group = (...labels: ReadonlyArray<unknown>): void => {
    if (labels.length > 0) write(...labels)
    indentation += "  "
  }

  const timeLog = (label: string, ...values: ReadonlyArray<unknown>): void => {
    const start = starts.get(label)
    if (start !== undefined) write(`${label}: ${clock.currentTimeMillisUnsafe() - start}ms`, ...values)
  }

  return {
    assert: (condition, ...values) => {
      if (!condition) write("Assertion failed", ...values)
    },
    clear: () => {},
    count: (label = "default") => {
      const count = (counts.get(label) ?? 0) + 1
      counts.set(label, count)
      write(`${label}: ${count}`)
    },
    countReset: (label = "default") => {
      counts.delete(label)
    },
    debug: write,
    dir: (item) => write(item),
    dirxml: write,
    error: write,
    group,
    groupCollapsed: group,
    groupEnd: () => {
      indentation = indentation.slice(2)
    },
    info: write,
    log: write,
    table: (data) => write(data),
    time: (label = "default") => {
      starts.set(label, clock.currentTimeMillisUnsafe())
    },
    timeEnd: (label = "default") => {
      timeLog(label)
      starts.delete(label)
    },
    timeLog: (label = "default", ...values) => timeLog(label, ...values),
    trace: (...values) => console.trace(...values),
    warn: write
  }
})
