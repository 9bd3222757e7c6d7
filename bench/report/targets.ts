/** What was promised, and whether the numbers of this run keep it. */
import { bestPeer, limitOf, ratio, type Result, type Row, rowOf } from "../harness/Result.ts"

/** One promise. */
export interface Verdict {
  readonly promise: string
  readonly workload: string
  readonly wanted: string
  readonly value: number
  readonly met: boolean
}

type Results = ReadonlyMap<string, Result>

const atLeast = (promise: string, workload: string, value: number, wanted: number): Verdict => ({
  promise,
  workload,
  wanted: `≥ ${wanted.toFixed(2)}`,
  value,
  met: value >= wanted
})

const atMost = (promise: string, workload: string, value: number, wanted: number): Verdict => ({
  promise,
  workload,
  wanted: `≤ ${wanted.toFixed(wanted < 100 ? 2 : 0)}`,
  value,
  met: value <= wanted
})

/** Judges one of our systems in one workload, when both it and what it is held against have taken part. */
const judge = (
  results: Results,
  workload: string,
  system: string,
  judges: (result: Result, row: Row) => ReadonlyArray<Verdict | undefined>
): ReadonlyArray<Verdict> => {
  const result = results.get(workload)
  const row = rowOf(result, system)
  if (result === undefined || row === undefined) return []
  return judges(result, row).filter((verdict) => verdict !== undefined)
}

const ofLimit = (result: Result, row: Row, wanted: number): Verdict | undefined => {
  const limit = limitOf(result, row.system)
  return limit && atLeast(`${row.system} of ${limit.system}`, result.workload, ratio(result, row, limit), wanted)
}

const ofPeer = (result: Result, row: Row, wanted: number): Verdict | undefined => {
  const peer = bestPeer(result)
  return peer && atLeast(`${row.system} over ${peer.system}`, result.workload, ratio(result, row, peer), wanted)
}

/** The 99th percentile against the fastest peer's, which is the one with the most calls. */
const tail = (result: Result, row: Row): Verdict | undefined => {
  const peer = bestPeer(result)
  if (peer?.p99 === undefined || row.p99 === undefined) return undefined
  return atMost(`p99 of ${row.system} over that of ${peer.system}`, result.workload, row.p99 / peer.p99, 1)
}

const eras = ["legacy", "modern"] as const

const growth = (results: Results, transport: string, system: string): ReadonlyArray<Verdict> => {
  const one = rowOf(results.get(`payload-${transport}-1MB`), system)
  const four = rowOf(results.get(`payload-${transport}-4MB`), system)
  if (one === undefined || four === undefined) return []
  return [atMost(`${system}: time of 4 MB over time of 1 MB`, `payload-${transport}`, one.value / four.value, 5)]
}

const sessions = (results: Results, system: string): ReadonlyArray<Verdict> =>
  judge(results, "sessions", system, (result, row) => [
    atMost(`${system}: bytes of an idle session`, result.workload, row.value, 8192),
    atMost(`${system}: % of heap left after closing`, result.workload, row.more?.["% left after closing"] ?? NaN, 5)
  ])

/** All promises that these results can tell about. */
export const verdicts = (results: Results): ReadonlyArray<Verdict> => [
  ...eras.flatMap((era) =>
    judge(results, `memory-${era}`, "mcp-effect", (result, row) => [
      ofLimit(result, row, era === "legacy" ? 0.4 : 0.3),
      ofPeer(result, row, 2)
    ])
  ),
  ...eras.flatMap((era) =>
    judge(results, `stdio-64-${era}`, "mcp-effect", (result, row) => [
      ofLimit(result, row, 0.35),
      ofPeer(result, row, 2)
    ])
  ),
  ...eras.flatMap((era) => [
    ...judge(results, `http-64-${era}`, "mcp-effect", (result, row) => [
      ofLimit(result, row, 0.65),
      ofPeer(result, row, 2.5),
      tail(result, row)
    ]),
    ...judge(results, `http-64-${era}`, "mcp-effect route", (result, row) => [
      ofLimit(result, row, 0.85),
      ofPeer(result, row, 1.5),
      tail(result, row)
    ]),
    ...judge(results, `sse-64-${era}`, "mcp-effect", (result, row) => [ofLimit(result, row, 0.5)])
  ]),
  ...[...results.keys()]
    .filter((name) => name.startsWith("client-"))
    .flatMap((name) => judge(results, name, "mcp-effect", (result, row) => [ofPeer(result, row, 1)])),
  ...["memory", "stdio", "http"].flatMap((transport) => growth(results, transport, "mcp-effect")),
  ...growth(results, "http", "mcp-effect route"),
  ...sessions(results, "mcp-effect"),
  ...["start", "start-bundled"].flatMap((name) =>
    judge(results, name, "mcp-effect", (result, row) => [ofPeer(result, row, 1)])
  )
]
