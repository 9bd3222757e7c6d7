/**
 * Which binding requirements of the protocol have a test? A test claims a requirement by quoting its id in its name:
 * `[HTTP-12]`, `[HTTP-12][HTTP-13]` or `[HTTP-12, HTTP-13]`. Run with `npm run requirements`.
 *
 * Exits with 1 when less than 90 % are claimed, or when a test quotes an id that does not exist.
 */
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { quotedIds } from "./QuotedIds.ts"

interface Requirement {
  readonly id: string
  readonly area: string
  readonly level: string
  readonly who: string
  readonly revisions: ReadonlyArray<string>
  readonly text: string
}

const levels = ["MUST", "MUST NOT"]
const revisions = ["24-11", "25-03", "25-06", "25-11", "26-07"]
const areasLeftOut = ["AUTH", "AUTHX", "TASK", "TASKX"]
const partiesLeftOut = ["AS", "host", "intermediary"]
const threshold = 0.9

/** Reads the rows of every table that starts with an `id` column. */
const parseMatrix = (markdown: string): ReadonlyArray<Requirement> => {
  const requirements: Array<Requirement> = []
  let columns: ReadonlyArray<string> = []
  for (const line of markdown.split("\n")) {
    if (!line.startsWith("| ")) continue
    const cells = line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim())
    if (cells[0] === "id") columns = cells
    if (!/^[A-Z0-9]+-\d+$/.test(cells[0] ?? "")) continue
    const cell = (name: string): string => cells[columns.indexOf(name)] ?? ""
    requirements.push({
      id: cell("id"),
      area: cell("area"),
      level: cell("level"),
      who: cell("who"),
      revisions: columns.filter((name) => /^\d\d-\d\d$/.test(name) && cell(name) === "x"),
      text: cell("requirement")
    })
  }
  return requirements
}

const counts = (requirement: Requirement): boolean =>
  levels.includes(requirement.level) &&
  requirement.revisions.some((revision) => revisions.includes(revision)) &&
  !areasLeftOut.includes(requirement.area) &&
  !partiesLeftOut.includes(requirement.who)

const percent = (part: number, whole: number): string => `${((part / Math.max(whole, 1)) * 100).toFixed(1)} %`

/** Ids of the faults that a test may quote as well, as `[BUG-28]`. */
const faultsIn = (markdown: string): ReadonlyArray<string> =>
  [...markdown.matchAll(/^\| (\d+) \|/gm)].map(([, number]) => `BUG-${number}`)

const report = (
  matrix: ReadonlyArray<Requirement>,
  faults: ReadonlyArray<string>,
  quoted: ReadonlyMap<string, ReadonlySet<string>>
): boolean => {
  const wanted = matrix.filter(counts)
  const uncovered = wanted.filter((requirement) => !quoted.has(requirement.id))
  const covered = wanted.length - uncovered.length
  const known = new Set([...matrix.map((requirement) => requirement.id), ...faults])
  const unknown = [...quoted].filter(([id]) => !known.has(id))

  console.log(`Requirements of level ${levels.join(" and ")} that hold in any of ${revisions.join(", ")},`)
  console.log(
    `without the areas ${areasLeftOut.join(", ")} and without what binds only ${partiesLeftOut.join(", ")}.\n`
  )

  for (const area of new Set(wanted.map((requirement) => requirement.area))) {
    const all = wanted.filter((requirement) => requirement.area === area)
    const tested = all.filter((requirement) => quoted.has(requirement.id))
    console.log(`  ${area.padEnd(8)}${String(tested.length).padStart(4)} / ${all.length}`)
  }
  console.log(`\n${covered} of ${wanted.length} covered, ${percent(covered, wanted.length)}`)

  if (uncovered.length > 0) console.log("\nWithout a test:")
  for (const { id, level, who, text } of uncovered) {
    console.log(`  ${id.padEnd(9)} ${level.padEnd(9)} ${who.padEnd(7)} ${text}`)
  }
  if (unknown.length > 0) console.log("\nQuoted by a test, but no such requirement:")
  for (const [id, files] of unknown) console.log(`  ${id.padEnd(9)} ${[...files].join(", ")}`)

  return unknown.length === 0 && covered >= threshold * wanted.length
}

const matrixFile = fileURLToPath(new URL("../../shared/spec/requirements.md", import.meta.url))
const faultsFile = fileURLToPath(new URL("../../shared/bugs.md", import.meta.url))
if (existsSync(matrixFile)) {
  const matrix = parseMatrix(readFileSync(matrixFile, "utf8"))
  const faults = existsSync(faultsFile) ? faultsIn(readFileSync(faultsFile, "utf8")) : []
  process.exitCode = report(matrix, faults, quotedIds(import.meta.dirname)) ? 0 : 1
} else {
  console.log(`The requirements matrix is not here (${matrixFile}): nothing to compare the tests with.`)
}
