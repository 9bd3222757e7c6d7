/** What an idle HTTP session costs: heap per session with many open, and what is left when they are closed. */
import type { Child } from "../harness/Child.ts"
import { HttpConnection } from "../harness/HttpConnection.ts"
import { closeSession, listen, openSession } from "../harness/HttpDriver.ts"
import type { Row } from "../harness/Result.ts"
import type { System } from "../harness/Systems.ts"
import type { Workload } from "../harness/Workload.ts"

const lanes = 16

/** Milliseconds. */
const patience = 15_000

type Fields = ReadonlyArray<string>

/** Opens sessions over a few connections that are kept. */
class Sessions {
  readonly #connections: ReadonlyArray<HttpConnection>
  #open: Array<{ readonly connection: HttpConnection; readonly fields: Fields }> = []

  constructor(port: number) {
    this.#connections = Array.from({ length: lanes }, () => new HttpConnection(port))
  }

  /** Opens so many, or fewer when that would take too long, and says how many are open. */
  async open(count: number): Promise<number> {
    let left = count
    const started = performance.now()
    await Promise.all(
      this.#connections.map(async (connection) => {
        while (left-- > 0 && performance.now() - started < patience) {
          this.#open.push({ connection, fields: await openSession(connection) })
        }
      })
    )
    return this.#open.length
  }

  async close(): Promise<void> {
    const open = this.#open
    this.#open = []
    await Promise.all(
      this.#connections.map(async (mine) => {
        for (const { connection, fields } of open) if (connection === mine) await closeSession(connection, fields)
      })
    )
  }

  disconnect(): void {
    for (const connection of this.#connections) connection.close()
  }
}

const measure = async (child: Child, port: number, { name, role }: System, quick: boolean): Promise<Row> => {
  const sessions = new Sessions(port)
  // What is made once, and code that is compiled when it is first used, is no cost of a session.
  await sessions.open(100)
  await sessions.close()
  const before = await child.heap()
  const more: { [name: string]: number } = {}
  const perSession = async (count: number) => {
    const open = await sessions.open(count)
    const bytes = ((await child.heap()) - before) / open
    more[`B with ${open}`] = bytes
    return bytes
  }
  let value = await perSession(1000)
  if (!quick) value = await perSession(9000)
  await sessions.close()
  more["% left after closing"] = ((await child.heap()) / before - 1) * 100
  sessions.disconnect()
  return { system: name, role, value, more }
}

const name = "sessions"
const title = "Heap of an idle HTTP session, 2025-11-25"

export const workloads: ReadonlyArray<Workload> = [
  {
    name,
    title,
    quick: true,
    run: async ({ pace, systems }) => {
      const rows: Array<Row> = []
      const absent: Array<{ system: string; why: string }> = []
      for (const system of systems.filter(({ role }) => role !== "limit")) {
        try {
          const { child, port } = await listen(`systems/${system.folder}/server-${system.http}.ts`)
          try {
            rows.push(await child.alive(measure(child, port, system, pace.quick), 60_000))
          } finally {
            await child.close()
          }
        } catch (cause) {
          absent.push({ system: system.name, why: String(cause).split("\n")[0] ?? "" })
        }
      }
      return { workload: name, title, unit: "bytes", better: "lower", rows, absent }
    }
  }
]
