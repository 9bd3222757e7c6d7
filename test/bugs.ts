/**
 * Which faults of other runtimes have a test here? A test claims a row of the list by quoting its id in its name:
 * `[BUG-28]`. Run with `npm run bugs`.
 *
 * Exits with 1 when a row in reach is not claimed, or when a test claims a row that does not exist. Out of reach are
 * authorization and tasks, which this package does not have yet.
 */
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { quotedIds } from "./QuotedIds.ts"

interface Fault {
  readonly id: string
  readonly kind: string
  readonly priority: string
  readonly side: string
  readonly symptom: string
}

const kindsOutOfReach = ["OAUTH", "TASK", "TASKS"]

/** Reads the rows of every table; their columns are #, kind, priority, side, era, source, symptom, … */
const parseFaults = (markdown: string): ReadonlyArray<Fault> =>
  markdown.split("\n").flatMap((line) => {
    const [, number = "", kind = "", priority = "", side = "", , , symptom = ""] = line
      .split("|")
      .map((cell) => cell.trim())
    return /^\d+$/.test(number) ? [{ id: `BUG-${number}`, kind, priority, side, symptom }] : []
  })

const describe = ({ id, kind, priority, side, symptom }: Fault): string =>
  `  ${id.padEnd(8)} ${kind.padEnd(8)} P${priority}  ${side.padEnd(7)} ${symptom}`

const report = (faults: ReadonlyArray<Fault>, quoted: ReadonlyMap<string, ReadonlySet<string>>): boolean => {
  const inReach = faults.filter((fault) => !kindsOutOfReach.includes(fault.kind))
  const covered = inReach.filter((fault) => quoted.has(fault.id))
  const uncovered = inReach.filter((fault) => !quoted.has(fault.id))
  const known = new Set(faults.map((fault) => fault.id))
  const unknown = [...quoted].filter(([id]) => id.startsWith("BUG-") && !known.has(id))

  console.log("With a test:")
  for (const fault of covered) {
    console.log(describe(fault))
    console.log(`${" ".repeat(32)}${[...(quoted.get(fault.id) ?? [])].join(", ")}`)
  }
  if (uncovered.length > 0) console.log("\nWithout a test:")
  for (const fault of uncovered) console.log(describe(fault))
  if (unknown.length > 0) console.log("\nQuoted by a test, but no such row:")
  for (const [id, files] of unknown) console.log(`  ${id.padEnd(8)} ${[...files].join(", ")}`)

  console.log(
    `\n${covered.length} of ${inReach.length} rows in reach have a test; ` +
      `${faults.length - inReach.length} of ${faults.length} are out of reach (${kindsOutOfReach.join(", ")})`
  )
  return uncovered.length === 0 && unknown.length === 0
}

const faultsFile = fileURLToPath(new URL("../../shared/bugs.md", import.meta.url))
if (existsSync(faultsFile)) {
  const faults = parseFaults(readFileSync(faultsFile, "utf8"))
  process.exitCode = report(faults, quotedIds(import.meta.dirname)) ? 0 : 1
} else {
  console.log(`The list of faults is not here (${faultsFile}): nothing to compare the tests with.`)
}
