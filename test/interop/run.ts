/**
 * Runs MCP programs of others against this package, as processes and over sockets, and prints a grid.
 *
 *     npm run interop                           everything
 *     npm run interop -- --only tmcp            the pairings with this in their names
 *     npm run interop -- --revision 2025-06-18  one column
 *     npm run interop -- --verbose              with what was said wherever something failed
 *     npm run interop -- --jobs 1               one pairing at a time; 3 by default
 *
 * A cell names the revision that was negotiated, seen on the wire, and how many scenarios went well; then how many did
 * not, by a fault of the peer (see `faults.ts`) or by ours. Exits with 1 when a failure is ours.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { effectAi } from "./clients/effect-ai.ts"
import { inspector } from "./clients/inspector.ts"
import { mcpEffect } from "./clients/mcp-effect.ts"
import { sdk1 } from "./clients/sdk1.ts"
import { sdk2 } from "./clients/sdk2.ts"
import { type Fault, faults } from "./faults.ts"
import { type Cell, type Pairing, runCell } from "./Cell.ts"
import { ofThisPackage, type ServerKind, theirs } from "./servers.ts"
import type { ClientKind } from "./Conversation.ts"
import { start } from "./Started.ts"

const { values: options } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    revision: { type: "string" },
    jobs: { type: "string", default: "3" },
    verbose: { type: "boolean", default: false }
  }
})

const revisions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]

/** `undefined` leaves the choice to client and server. */
const columns = [undefined, ...revisions].filter(
  (column) => options.revision === undefined || column === options.revision
)

interface Row {
  readonly pairing: Pairing
  readonly cells: ReadonlyArray<Cell>
}

const runRow = async (client: ClientKind, server: ServerKind, startOf: ServerKind["starts"][number]): Promise<Row> => {
  const pairing: Pairing = {
    client,
    server,
    transport: startOf.label ?? startOf.transport,
    name: `${client.name} → ${server.name}`
  }
  const started = await start(startOf, directory).catch((cause: unknown) => String(cause))
  if (typeof started === "string") {
    const failure = { scenario: "start", message: started, excerpt: [], fault: undefined }
    const failed = { column: undefined, negotiated: undefined, passed: 0, failures: [failure] }
    return { pairing, cells: columns.map((column) => ({ ...failed, column })) }
  }
  const cells: Array<Cell> = []
  try {
    for (const column of columns) {
      const cell = await runCell(pairing, started, column)
      cells.push(cell)
      process.stderr.write(`${pairing.name} (${pairing.transport}) ${column ?? "any"}: ${textOf(cell)}\n`)
    }
  } finally {
    await started.stop()
  }
  return { pairing, cells }
}

const rowsOf = (
  clients: ReadonlyArray<ClientKind>,
  serversFor: (client: ClientKind) => ReadonlyArray<ServerKind>
): ReadonlyArray<() => Promise<Row>> =>
  clients.flatMap((client) =>
    serversFor(client).flatMap((server) =>
      server.starts
        .filter(
          ({ label, transport }) =>
            client.transports.includes(transport) &&
            `${client.name} → ${server.name} (${label ?? transport})`.includes(options.only)
        )
        .map((one) => () => runRow(client, server, one))
    )
  )

/** Runs a few at a time, and gives the results in their order. */
const runAll = async (tasks: ReadonlyArray<() => Promise<Row>>): Promise<ReadonlyArray<Row>> => {
  const rows: Array<Row> = []
  const waiting = [...tasks.entries()]
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) rows[next[0]] = await next[1]()
  }
  await Promise.all(Array.from({ length: Number(options.jobs) }, work))
  return rows
}

/** A cell in the grid. */
const textOf = ({ failures, negotiated, passed, refusal }: Cell): string => {
  if (refusal !== undefined) return refusal
  const ours = failures.filter(({ fault }) => fault === undefined).length
  const theirs = failures.length - ours
  return [
    negotiated ?? "no connection",
    `${passed} ok`,
    ...(theirs > 0 ? [`${theirs} theirs`] : []),
    ...(ours > 0 ? [`${ours} FAILED`] : [])
  ].join(" ")
}

const printGrid = (title: string, rows: ReadonlyArray<Row>): void => {
  if (rows.length === 0) return
  const table = [
    [title, "transport", ...columns.map((column) => column ?? "any revision")],
    ...rows.map(({ cells, pairing }) => [pairing.name, pairing.transport, ...cells.map(textOf)])
  ]
  const widths = table[0]?.map((_, index) => Math.max(...table.map((row) => row[index]?.length ?? 0))) ?? []
  const [head = [], ...body] = table
  for (const row of [head, widths.map((width) => "-".repeat(width)), ...body]) {
    console.log(
      row
        .map((text, index) => text.padEnd(widths[index] ?? 0))
        .join("  ")
        .trimEnd()
    )
  }
  console.log("")
}

const printFailures = (rows: ReadonlyArray<Row>): void => {
  for (const { cells, pairing } of rows) {
    for (const { column, failures } of cells) {
      for (const { excerpt, fault, message, scenario } of failures) {
        if (fault !== undefined && !options.verbose) continue
        const where = `${pairing.name} (${pairing.transport}, ${column ?? "any revision"})`
        console.log(`${fault === undefined ? "FAILED" : "Theirs"}: ${where}, ${scenario}: ${message}`)
        for (const line of excerpt) console.log(`    ${line}`)
      }
    }
  }
}

/** What peers do wrong, each once. Gives those that have not shown. */
const printFaults = (rows: ReadonlyArray<Row>): ReadonlyArray<Fault> => {
  const seen = new Map<Fault, Set<string>>()
  for (const { cells, pairing } of rows) {
    for (const { column, failures } of cells) {
      for (const { fault, scenario } of failures) {
        if (fault === undefined) continue
        const places = seen.get(fault) ?? new Set()
        seen.set(fault, places.add(`${pairing.name}, ${pairing.transport}, ${column ?? "any"}: ${scenario}`))
      }
    }
  }
  if (seen.size > 0) console.log("Faults of peers:\n")
  for (const [fault, places] of seen) {
    const [first = ""] = places
    console.log(`- ${fault.evidence}\n  ${first}${places.size > 1 ? `, and ${places.size - 1} more` : ""}\n`)
  }
  return faults.filter((fault) => !seen.has(fault))
}

const directory = mkdtempSync(join(tmpdir(), "mcp-effect-interop-"))
try {
  const driving = rowsOf([mcpEffect], () => theirs(directory))
  const driven = rowsOf([sdk1, sdk2, effectAi, inspector], (client) =>
    ofThisPackage(join(directory, client.name.replaceAll(/\W/g, "-")))
  )
  const rows = await runAll([...driving, ...driven])
  console.log("")
  printGrid("Our client, their servers", rows.slice(0, driving.length))
  printGrid("Their clients, our servers", rows.slice(driving.length))
  const stale = printFaults(rows)
  printFailures(rows)
  const failed = rows
    .flatMap(({ cells }) => cells.flatMap(({ failures }) => failures))
    .filter(({ fault }) => fault === undefined)
  const isWhole = options.only === "" && options.revision === undefined
  if (isWhole) {
    for (const { evidence } of stale) console.log(`No longer to be seen, remove it from faults.ts: ${evidence}`)
  }
  console.log(failed.length === 0 ? "No failure is ours." : `${failed.length} failures are ours.`)
  process.exitCode = failed.length === 0 && rows.length > 0 ? 0 : 1
} finally {
  rmSync(directory, { recursive: true, force: true })
}
