/**
 * From the start of a process to the first answer that its client has in hand, over stdio: as packages are installed, and
 * as a program of one file, bundled and minified by esbuild.
 */
import { spawn } from "node:child_process"
import { createRequire } from "node:module"
import { inBench } from "../harness/Child.ts"
import { built } from "../harness/built.ts"
import * as messages from "../harness/messages.ts"
import type { Row } from "../harness/Result.ts"
import { median } from "../harness/Sample.ts"
import type { System } from "../harness/Systems.ts"
import type { Workload } from "../harness/Workload.ts"

const call = messages.textWith(messages.echo("legacy", "hello"), 2) + "\n"
const greeting = messages.textWith(messages.initialize, 1) + "\n"

/** Milliseconds from `spawn` to the answer of the first call. */
const start = (file: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const started = performance.now()
    const child = spawn(process.execPath, [file], {
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

interface Bundler {
  readonly buildSync: (options: object) => unknown
}

const bundled = (folder: string): string => {
  const { buildSync } = createRequire(import.meta.url)("esbuild") as Bundler
  const outfile = inBench(`built/bundled/${folder}.mjs`)
  buildSync({
    entryPoints: [built(`${folder}/server-stdio.ts`)],
    outfile,
    bundle: true,
    minify: true,
    platform: "node",
    format: "esm",
    target: "node22",
    logLevel: "silent",
    conditions: ["import", "node", "production"],
    // What is in CommonJS and requires modules of Node has to find them.
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    // Schema libraries that fastmcp looks for and does not depend on.
    external: folder === "fastmcp" ? ["effect", "sury", "@valibot/to-json-schema"] : []
  })
  return outfile
}

const workload = (name: string, title: string, fileOf: (folder: string) => string): Workload => ({
  name,
  title,
  quick: true,
  run: async ({ pace, systems }) => {
    const files = new Map<System, string>()
    const taken = new Map<System, Array<number>>()
    const absent: Array<{ system: string; why: string }> = []
    for (const system of systems.filter(({ everywhere }) => everywhere)) {
      try {
        const file = fileOf(system.folder)
        // The first start reads the files from the disk.
        await start(file)
        files.set(system, file)
        taken.set(system, [])
      } catch (cause) {
        absent.push({ system: system.name, why: String(cause).split("\n")[0] ?? "" })
      }
    }
    for (let round = 0; round < (pace.quick ? 3 : 9); round++) {
      for (const [system, file] of files) taken.get(system)?.push(await start(file))
    }
    const rows = [...taken].map(([system, values]): Row => {
      return { system: system.name, role: system.role, value: median(values) }
    })
    return { workload: name, title, unit: "ms", better: "lower", rows, absent }
  }
})

export const workloads: ReadonlyArray<Workload> = [
  workload("start", "Start to first answer over stdio", (folder) => built(`${folder}/server-stdio.ts`)),
  workload("start-bundled", "Start to first answer over stdio, bundled", bundled)
]
