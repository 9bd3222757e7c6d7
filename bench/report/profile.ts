/** Where the time of a CPU profile goes. */
import { readFileSync } from "node:fs"

interface ProfileNode {
  readonly id: number
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
}

interface Profile {
  readonly nodes: ReadonlyArray<ProfileNode>
  readonly samples: ReadonlyArray<number>
  readonly timeDeltas: ReadonlyArray<number>
}

const place = (url: string): string =>
  url.replace(/^.*\/node_modules\//, "").replace(/^file:\/\/.*?\/(dist|bench)\//, "$1/")

/** The functions with the most time of their own, idle time left out. */
export const summary = (path: string, count = 40): string => {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(path, "utf8")) as Profile
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const times = new Map<string, number>()
  let total = 0
  for (const [index, id] of samples.entries()) {
    const frame = byId.get(id)?.callFrame
    if (frame === undefined || frame.functionName === "(idle)") continue
    const time = timeDeltas[index] ?? 0
    const name = frame.functionName === "" ? "(anonymous)" : frame.functionName
    const key = frame.url === "" ? name : `${name}  ${place(frame.url)}:${frame.lineNumber + 1}`
    times.set(key, (times.get(key) ?? 0) + time)
    total += time
  }
  return [...times]
    .toSorted(([, left], [, other]) => other - left)
    .slice(0, count)
    .map(([name, time]) => `  ${((time / total) * 100).toFixed(1).padStart(5)} %  ${name}`)
    .join("\n")
}
