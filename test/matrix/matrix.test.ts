/**
 * The matrix in short: every revision in memory, and one revision over every other transport. `npm run matrix` runs all
 * of it.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { nodeFlags } from "../examples/Programs.ts"
import { runCell } from "./cell.ts"
import { isIn, type Revision, revisions, scenarios } from "./scenarios.ts"
import { type Way, ways } from "./transports.ts"

const [memory, ...others] = ways({ nodeFlags }) as [Way, ...ReadonlyArray<Way>]

/** Neighbours get different ones, so that every revision has its turn. */
const revisionOf = (way: Way, index: number): Revision => {
  const having = revisions.filter((revision) => isIn(revision, way))
  return having[index % having.length] as Revision
}

const cells = [
  ...revisions.map((revision) => ({ way: memory, revision, name: memory.name })),
  ...others.map((way, index) => ({ way, revision: revisionOf(way, index), name: way.name }))
]

describe("the matrix", { timeout: 30_000 }, () => {
  it.live.each(cells)("$name, $revision", ({ revision, way }) =>
    Effect.gen(function* () {
      const cell = yield* runCell(way, revision)
      const expected = scenarios.map((scenario) => [
        scenario.name,
        { _tag: isIn(revision, scenario) ? "Passed" : "Unsupported" }
      ])
      expect(Object.fromEntries(cell)).toEqual(Object.fromEntries(expected))
    })
  )
})
