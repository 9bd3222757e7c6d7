/** From the start of a process to the first answer that its client has in hand, over stdio. */
import { spawn } from "node:child_process"
import { built } from "../harness/built.ts"
import * as messages from "../harness/messages.ts"
import type { Row } from "../harness/Result.ts"
import { median } from "../harness/Sample.ts"
import type { System } from "../harness/Systems.ts"
import type { Workload } from "../harness/Workload.ts"

const call = messages.textWith(messages.echo("legacy", "hello"), 2) + "\n"
const greeting = messages.textWith(messages.initialize, 1) + "\n"

/** Milliseconds from `spawn` to the answer of the first call. */
const start = (folder: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const started = performance.now()
    const child = spawn(process.execPath, [built(`${folder}/server-stdio.ts`)], {
      stdio: ["pipe", "pipe", "ignore"],
      env: { ...process.env, NODE_ENV: "production" }
    })
    const timer = setTimeout(() => child.kill("SIGKILL"), 20_000)
    let text = ""
    let greeted = false
    let taken: number | undefined
    child.stdin.on("error", () => {})
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString()
      if (!greeted && text.includes("\n")) {
        greeted = true
        text = text.slice(text.indexOf("\n") + 1)
        child.stdin.write(messages.initialized + "\n" + call)
      }
      if (greeted && text.includes("\n") && taken === undefined) {
        taken = performance.now() - started
        if (!text.includes(`"hello"`)) taken = Number.NaN
        child.kill("SIGKILL")
      }
    })
    child.once("exit", () => {
      clearTimeout(timer)
      if (taken === undefined || Number.isNaN(taken)) reject(new Error(`No answer: ${text.slice(0, 200)}`))
      else resolve(taken)
    })
    child.stdin.write(greeting)
  })

const name = "start"
const title = "Start to first answer over stdio"

export const workloads: ReadonlyArray<Workload> = [
  {
    name,
    title,
    quick: true,
    run: async ({ pace, systems }) => {
      const taken = new Map<System, Array<number>>()
      const absent: Array<{ system: string; why: string }> = []
      for (const system of systems.filter(({ everywhere }) => everywhere)) {
        try {
          // The first start reads the files from the disk.
          await start(system.folder)
          taken.set(system, [])
        } catch (cause) {
          absent.push({ system: system.name, why: String(cause).split("\n")[0] ?? "" })
        }
      }
      for (let round = 0; round < (pace.quick ? 3 : 9); round++) {
        for (const [{ folder }, values] of taken) values.push(await start(folder))
      }
      const rows = [...taken].map(([system, values]): Row => {
        return { system: system.name, role: system.role, value: median(values) }
      })
      return { workload: name, title, unit: "ms", better: "lower", rows, absent }
    }
  }
]
