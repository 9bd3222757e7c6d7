/** Where the time of a CPU profile goes. */
import { readFileSync } from "node:fs"

interface Frame {
  readonly functionName: string
  readonly url: string
  readonly lineNumber: number
}

interface ProfileNode {
  readonly id: number
  readonly callFrame: Frame
  readonly children?: ReadonlyArray<number>
}

interface Profile {
  readonly nodes: ReadonlyArray<ProfileNode>
  readonly samples: ReadonlyArray<number>
  readonly timeDeltas: ReadonlyArray<number>
}

const place = (url: string): string =>
  url.replace(/^.*\/node_modules\//, "").replace(/^file:\/\/.*?\/(dist|bench)\//, "$1/")

const nameOf = ({ functionName, lineNumber, url }: Frame): string => {
  const name = functionName === "" ? "(anonymous)" : functionName
  return url === "" ? name : `${name}  ${place(url)}:${lineNumber + 1}`
}

/** Whose code it is. */
const ownerOf = ({ functionName, url }: Frame): string => {
  if (functionName === "(garbage collector)") return "garbage collector"
  if (url === "" || url.startsWith("node:")) return "node and V8"
  const path = place(url)
  if (path.startsWith("dist/")) return "mcp-effect"
  return /^(@[^/]+\/[^/]+|[^/]+)/.exec(path)?.[0] ?? path
}

/** Waiting, and the profiler at work on itself. */
const isIdle = ({ functionName, url }: Frame): boolean =>
  functionName === "(idle)" || (functionName === "post" && url === "node:inspector")

const lines = (times: ReadonlyMap<string, number>, total: number, count: number): string =>
  [...times]
    .toSorted(([, left], [, other]) => other - left)
    .slice(0, count)
    .map(([name, time]) => `  ${((time / total) * 100).toFixed(1).padStart(5)} %  ${name}`)
    .join("\n")

/** Whose code takes how much, the functions with the most time of their own, and those of ours with the most in all. */
export const summary = (path: string): string => {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(path, "utf8")) as Profile
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap(({ children = [], id }) => children.map((child) => [child, id] as const)))
  const owners = new Map<string, number>()
  const own = new Map<string, number>()
  const all = new Map<string, number>()
  let total = 0
  for (const [index, id] of samples.entries()) {
    const frame = byId.get(id)?.callFrame
    const time = timeDeltas[index] ?? 0
    if (frame === undefined || isIdle(frame)) continue
    total += time
    own.set(nameOf(frame), (own.get(nameOf(frame)) ?? 0) + time)
    owners.set(ownerOf(frame), (owners.get(ownerOf(frame)) ?? 0) + time)
    const seen = new Set<string>()
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const caller = byId.get(at)?.callFrame
      if (caller === undefined || ownerOf(caller) !== "mcp-effect" || seen.has(nameOf(caller))) continue
      seen.add(nameOf(caller))
      all.set(nameOf(caller), (all.get(nameOf(caller)) ?? 0) + time)
    }
  }
  return [
    "Whose code",
    lines(owners, total, 8),
    "Functions, their own time",
    lines(own, total, 30),
    "Functions of mcp-effect, with what they call",
    lines(all, total, 25)
  ].join("\n")
}
