import { describe, expect, it } from "@effect/vitest"
import * as fc from "fast-check"
import { Recency, Used } from "../../src/transport/Recency.ts"

const order = (recency: Recency<Used>): ReadonlyArray<Used> => {
  const all: Array<Used> = []
  for (let used = recency.oldest; used !== undefined; used = recency.after(used)) all.push(used)
  return all
}

describe("Recency", () => {
  it("keeps things in the order of their last use, whatever is used and deleted", () => {
    const step = fc.record({ act: fc.constantFrom("use", "delete"), which: fc.nat(4) } as const)
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const things = Array.from({ length: 5 }, () => new Used())
        const recency = new Recency<Used>()
        let expected: ReadonlyArray<number> = []
        for (const { act, which } of steps) {
          recency[act](things[which] as Used)
          expected = expected.filter((other) => other !== which)
          if (act === "use") expected = [...expected, which]
          expect(order(recency).map((used) => things.indexOf(used))).toEqual(expected)
        }
      })
    )
  })
})
