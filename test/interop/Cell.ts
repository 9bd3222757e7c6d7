/**
 * One cell of the grid: one client, one server, one transport, one revision, all scenarios.
 */
import { setTimeout as sleep } from "node:timers/promises"
import type { ClientKind, Conversation } from "./Conversation.ts"
import { type Fault, faults } from "./faults.ts"
import { scenarios } from "./scenarios.ts"
import type { ServerKind } from "./servers.ts"
import type { Started, Tap } from "./Started.ts"
import { excerpt, negotiated } from "./Wire.ts"

/** Who talks with whom, over what. */
export interface Pairing {
  readonly name: string
  readonly client: ClientKind
  readonly server: ServerKind
  /** As the grid names it. */
  readonly transport: string
}

/** What went wrong. */
export interface Failure {
  readonly scenario: string
  readonly message: string
  /** What was said meanwhile. */
  readonly excerpt: ReadonlyArray<string>
  /** The fault of the peer that explains it. */
  readonly fault: Fault | undefined
}

/** What came of it all. */
export interface Cell {
  /** The revision that was asked for; `undefined` where that was left open. */
  readonly column: string | undefined
  readonly negotiated: string | undefined
  readonly passed: number
  readonly failures: ReadonlyArray<Failure>
  /** Why nothing was tried, where that is as it should be. */
  readonly refusal?: string | undefined
}

/** Runs all scenarios. */
export const runCell = async (pairing: Pairing, started: Started, column: string | undefined): Promise<Cell> => {
  const { client } = pairing
  const isSpoken = column === undefined ? client.negotiates : client.revisions.includes(column)
  const isCarried = !pairing.transport.endsWith("sse") || column !== "2026-07-28"
  if (!isSpoken || !isCarried) return { column, negotiated: undefined, passed: 0, failures: [], refusal: "-" }
  const tap = await started.tap()
  try {
    return await converse(pairing, tap, column)
  } finally {
    await tap.close()
  }
}

const converse = async (pairing: Pairing, tap: Tap, column: string | undefined): Promise<Cell> => {
  const { client: kind, server, transport } = pairing
  const { wire } = tap
  const logs: Array<unknown> = []
  const failures: Array<Failure> = []
  let passed = 0
  let from = 0

  const attempt = async <A>(scenario: string, run: () => Promise<A>): Promise<A | undefined> => {
    from = wire.pieces().length
    try {
      const value = await run()
      passed++
      return value
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause)
      const fault = faults.find(
        (one) =>
          one.pairing.test(pairing.name) &&
          one.scenario.test(scenario) &&
          (one.transport?.test(transport) ?? true) &&
          (one.revision?.test(negotiated(wire) ?? column ?? "") ?? true)
      )
      failures.push({ scenario, message, excerpt: excerpt(wire, from), fault })
      return undefined
    }
  }

  let refusal: string | undefined
  const client = await attempt("connect", async (): Promise<Conversation | undefined> => {
    try {
      return await kind.connect(tap.target, column, { onLog: (data) => logs.push(data) }, wire)
    } catch (cause) {
      // A server that does not speak the revision is one that the client has to turn down, with the right words.
      const offered = /Unsupported: The server (?:speaks revision|does not speak) (\S+)/.exec(String(cause))?.[1]
      if (column === undefined || offered === undefined || server.speaks.includes(column)) throw cause
      refusal = "not spoken"
      return undefined
    }
  })
  if (client === undefined) return { column, negotiated: undefined, passed, failures, refusal }

  let revision: string | undefined
  await attempt("revision", async () => {
    // What stands in between may be slower than client and server.
    for (let waited = 0; waited < 1000 && revision === undefined; waited += 20) {
      await sleep(20)
      revision = negotiated(wire)
    }
    if (revision === undefined) throw new Error("No revision can be seen on the wire")
    const newest = kind.revisions.findLast((one) => server.speaks.includes(one))
    if (column === undefined && revision !== newest) throw new Error(`${revision} was negotiated; both speak ${newest}`)
    if (column !== undefined && revision !== column) throw new Error(`${revision} was negotiated, not ${column}`)
    if (client.revision !== undefined && client.revision !== revision) {
      throw new Error(`The client says ${client.revision}; the wire says ${revision}`)
    }
  })
  const stage = { kind, client, offer: server.offer, revision: revision ?? "", wire, logs }
  for (const [name, scenario] of scenarios) {
    const run = scenario(stage)
    if (run !== undefined) await attempt(name, run)
  }
  await attempt("close", async () => {
    await client.close()
    const unclean = await tap.unclean()
    if (unclean !== undefined) throw new Error(`Not a clean end: ${unclean}`)
  })
  return { column, negotiated: revision, passed, failures }
}
