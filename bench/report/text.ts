/** Results for a person at a terminal. */
import { bestPeer, limitOf, ratio, type Result, type Row } from "../harness/Result.ts"
import type { Verdict } from "./targets.ts"

const pad = (text: string, width: number): string => text.padEnd(width)
const right = (text: string, width: number): string => text.padStart(width)

/** A number with as many digits as it deserves. */
export const number = (value: number): string =>
  Math.abs(value) >= 100
    ? Math.round(value).toLocaleString("en-US")
    : value.toLocaleString("en-US", { maximumSignificantDigits: 3 })

const milliseconds = (microseconds: number | undefined): string =>
  microseconds === undefined ? "" : number(microseconds / 1000)

const line = (result: Result, row: Row): string => {
  const limit = limitOf(result, row.system)
  const peer = bestPeer(result)
  const more = Object.entries(row.more ?? {}).map(([name, value]) => `${number(value)} ${name}`)
  return [
    `  ${pad(row.system, 18)}`,
    right(`${number(row.value)} ${result.unit}`, 20),
    right(limit === undefined || row === limit ? "" : ratio(result, row, limit).toFixed(3), 10),
    right(peer === undefined || row.role === "limit" ? "" : ratio(result, row, peer).toFixed(2), 9),
    right(row.cpu === undefined ? "" : number(row.cpu), 9),
    right(milliseconds(row.p50), 9),
    right(milliseconds(row.p99), 9),
    more.length === 0 ? "" : `  ${more.join(", ")}`
  ]
    .join("")
    .trimEnd()
}

/** The table of one workload. */
export const table = (result: Result): string => {
  const head = [
    `  ${pad("", 18)}`,
    right("median", 20),
    right("of limit", 10),
    right("of peer", 9),
    right("CPU µs", 9),
    right("p50 ms", 9),
    right("p99 ms", 9)
  ].join("")
  const rows = result.rows.map((row) => line(result, row))
  const absent = result.absent.map(({ system, why }) => `  ${pad(system, 18)}  absent: ${why.slice(0, 200)}`)
  return [`${result.title} [${result.workload}]`, head, ...rows, ...absent, ""].join("\n")
}

/** Which promises are kept. */
export const judgement = (verdicts: ReadonlyArray<Verdict>): string =>
  [
    "Targets",
    ...verdicts.map(({ met, promise, value, wanted, workload }) =>
      [
        met ? "  met    " : "  MISSED ",
        pad(workload, 24),
        pad(promise, 50),
        right(number(value), 10),
        "  wanted ",
        wanted
      ].join("")
    ),
    `  ${verdicts.filter(({ met }) => met).length} of ${verdicts.length} met`,
    ""
  ].join("\n")
