/**
 * Making JSON smaller, step by step: what a failing example is shrunk by.
 */

/** JSON that is a little simpler than `value`, the greatest steps first. */
export function* simpler(value: unknown): IterableIterator<unknown> {
  if (typeof value === "string") yield* simplerStrings(value)
  else if (typeof value === "number") yield* simplerNumbers(value)
  else if (value === true) yield false
  else if (Array.isArray(value)) yield* simplerArrays(value)
  else if (typeof value === "object" && value !== null) yield* simplerObjects(value)
}

function* simplerStrings(value: string): IterableIterator<string> {
  if (value === "") return
  yield ""
  for (let length = value.length >> 1; length > 0; length >>= 1) yield value.slice(0, value.length - length)
  if (/[^a]/.test(value)) yield "a".repeat(value.length)
}

function* simplerNumbers(value: number): IterableIterator<number> {
  if (value === 0) return
  yield 0
  const whole = Math.trunc(value)
  if (whole !== value) yield whole
  const half = Math.trunc(value / 2)
  if (half !== 0 && half !== value) yield half
}

function* simplerArrays(value: ReadonlyArray<unknown>): IterableIterator<ReadonlyArray<unknown>> {
  if (value.length === 0) return
  yield []
  if (value.length > 3) yield value.slice(0, value.length >> 1)
  for (const index of value.keys()) yield value.toSpliced(index, 1)
  for (const [index, element] of value.entries()) {
    for (const smaller of simpler(element)) yield value.with(index, smaller)
  }
}

function* simplerObjects(value: object): IterableIterator<object> {
  const entries = Object.entries(value)
  if (entries.length === 0) return
  for (const [name] of entries) yield Object.fromEntries(entries.filter(([other]) => other !== name))
  for (const [name, member] of entries) {
    for (const smaller of simpler(member)) {
      yield Object.fromEntries(entries.map(([other, same]) => [other, other === name ? smaller : same]))
    }
  }
}
