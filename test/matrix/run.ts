/**
 * Runs the matrix: our client against our server, in every revision, over every transport, and prints what works.
 *
 *     npm run matrix                                               all cells
 *     npm run matrix -- --transport stdio --revision 2025-03-26    some of them
 *
 * Exits with 1 when anything fails.
 */
import { Effect, Exit } from "effect"
import { parseArgs } from "node:util"
import { type Cell, runCell, whyOf } from "./cell.ts"
import { isIn, revisions, scenarios } from "./scenarios.ts"
import { ways } from "./transports.ts"

const { values: options } = parseArgs({ options: { transport: { type: "string" }, revision: { type: "string" } } })

const isWanted = (name: string, wanted: string | undefined) => wanted === undefined || name === wanted
const chosenWays = ways({ nodeFlags: process.execArgv }).filter(({ name }) => isWanted(name, options.transport))
const chosenRevisions = revisions.filter((revision) => isWanted(revision, options.revision))

const print = (rows: ReadonlyArray<ReadonlyArray<string>>): void => {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  for (const row of rows)
    console.log(
      row
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd()
    )
}

/** A cell that could not even be opened has failed in everything. */
const openedOrNot = (exit: Exit.Exit<Cell, unknown>): Cell =>
  Exit.isSuccess(exit)
    ? exit.value
    : new Map(scenarios.map(({ name }) => [name, { _tag: "Failed", why: whyOf(exit.cause) }]))

const summary = (cell: Cell | undefined): string => {
  if (cell === undefined) return "not in it"
  const outcomes = [...cell.values()]
  const failed = outcomes.filter(({ _tag }) => _tag === "Failed").length
  const unsupported = outcomes.filter(({ _tag }) => _tag === "Unsupported").length
  return `${outcomes.length - failed}/${outcomes.length}${unsupported > 0 ? ` (${unsupported} U)` : ""}`
}

const verdict = (name: string, cells: ReadonlyArray<Cell | undefined>): string => {
  const outcomes = cells.flatMap((cell) => cell?.get(name)?._tag ?? [])
  if (outcomes.length === 0) return "not run"
  return outcomes.includes("Failed") ? "FAILED" : outcomes.includes("Unsupported") ? "U" : "ok"
}

const main = Effect.gen(function* () {
  const grid = yield* Effect.forEach(chosenWays, (way) =>
    Effect.forEach(chosenRevisions, (revision) =>
      isIn(revision, way) ? Effect.map(Effect.exit(runCell(way, revision)), openedOrNot) : Effect.undefined
    )
  )
  print([
    ["transport", ...chosenRevisions],
    ...chosenWays.map(({ name }, row) => [name, ...(grid[row] ?? []).map(summary)])
  ])
  const column = (index: number) => grid.map((row) => row[index])
  const verdicts = (name: string) => chosenRevisions.map((_, index) => verdict(name, column(index)))
  console.log("")
  print([["scenario", ...chosenRevisions], ...scenarios.map(({ name }) => [name].concat(verdicts(name)))])
  console.log("\nU: the revision has no such thing; the attempt is a typed Unsupported and nothing is sent")

  // One cause seldom comes alone.
  const failures = new Map<string, Array<string>>()
  for (const [row, way] of chosenWays.entries()) {
    for (const [index, revision] of chosenRevisions.entries()) {
      for (const [name, outcome] of grid[row]?.[index] ?? []) {
        if (outcome._tag !== "Failed") continue
        failures.set(outcome.why, [...(failures.get(outcome.why) ?? []), `${way.name}, ${revision}, ${name}`])
      }
    }
  }
  for (const [why, places] of failures) console.log(`\n${places.join("\n")}\n  ${why.replaceAll("\n", "\n  ")}`)
  return failures.size === 0 && grid.flat().some((cell) => cell !== undefined)
})

process.exitCode = (await Effect.runPromise(main)) ? 0 : 1
