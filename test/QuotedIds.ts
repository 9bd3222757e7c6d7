/**
 * Which ids of requirements and faults the tests quote: `[HTTP-12]`, `[HTTP-12][BUG-28]` or `[HTTP-12, HTTP-13]`.
 */
import { globSync, readFileSync } from "node:fs"

/** Ids quoted in string literals below a directory, each with the files that quote it. Comments claim nothing. */
export const quotedIds = (directory: string): ReadonlyMap<string, ReadonlySet<string>> => {
  const quoted = new Map<string, Set<string>>()
  for (const file of globSync("**/*.ts", { cwd: directory, exclude: ["**/node_modules/**"] })) {
    const code = readFileSync(`${directory}/${file}`, "utf8")
      .replace(/^\s*\/\*[\s\S]*?\*\//gm, "")
      .replace(/^\s*\/\/.*$/gm, "")
    const literals = code.match(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g) ?? []
    for (const literal of literals) {
      for (const [, list] of literal.matchAll(/\[([A-Z]+\d*-\d+(?:\s*,\s*[A-Z]+\d*-\d+)*)\]/g)) {
        for (const id of (list ?? "").split(/\s*,\s*/)) {
          quoted.set(id, (quoted.get(id) ?? new Set()).add(file))
        }
      }
    }
  }
  return quoted
}
