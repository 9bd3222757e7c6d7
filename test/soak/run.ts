/**
 * Soaks a server: for as long as it is told, a thousand clients connect, call, cancel, vanish, reconnect and misbehave, over
 * HTTP and stdio, in both eras. Everything stays on this machine.
 *
 *     npm run soak -- --minutes 10 [--clients 1000] [--seed 1]
 *
 * Prints what was done, what was wrong, and what the processes hold before and after. Exits with 1 unless nothing was
 * wrong, nothing was lost, nothing was unhandled, and everything is back where it was.
 */
import { type ChildProcess, fork, spawn } from "node:child_process"
import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { nodeFlags } from "../examples/Programs.ts"
import type { Census } from "./Census.ts"
import { type Report, sum } from "./Tally.ts"
import { type Json, modern, Wire } from "./Wire.ts"
import type { Answer, Order } from "./Worker.ts"

const { values: options } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    clients: { type: "string", default: "1000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) }
  }
})
const seconds = Number(options.minutes) * 60
const clients = Number(options.clients)
const seed = Number(options.seed)
const warmUp = Math.min(60, Math.max(20, seconds / 4))

const flags = ["--expose-gc", "--disable-warning=ExperimentalWarning", ...nodeFlags]
const path = (name: string) => fileURLToPath(new URL(`./${name}`, import.meta.url))

const children = new Set<ChildProcess>()
const deaths: Array<string> = []
let isEnding = false

const watch = (name: string, child: ChildProcess): void => {
  children.add(child)
  child.once("exit", (code, signal) => {
    children.delete(child)
    if (!isEnding) deaths.push(`${name} has ended with ${String(code ?? signal)}`)
  })
}

process.once("exit", () => {
  for (const child of children) child.kill("SIGKILL")
})

const server = spawn(process.execPath, [...flags, path("server.ts"), "http"], { stdio: ["ignore", "pipe", "inherit"] })
watch("The server", server)
const [printed] = (await once(server.stdout, "data")) as [Buffer]
const port = Number(String(printed))

/** What the server holds, once it has had the time to let go of what nobody uses. */
const measure = async (): Promise<Census> => {
  const wire = new Wire(port, modern)
  const ask = async () => {
    const message = wire.call("measure", {})
    const result = (await wire.ask(message)).at(-1)?.result as Json | undefined
    return result?.structuredContent as Census
  }
  // Sessions that were left without a word last as long as their idle time.
  for (let waited = 0; waited < 90 && (await ask()).counts.HttpSession !== 0; waited += 2) await sleep(2_000)
  // Idle connections are hung up on after 5 seconds.
  await sleep(7_000)
  await ask()
  const census = await ask()
  wire.close()
  return census
}

interface Worker {
  readonly name: string
  readonly share: number
  readonly process: ChildProcess
}

const start = (name: string, file: string, share: number): Worker => {
  const process = fork(path(file), [String(port)], { execArgv: flags })
  watch(name, process)
  return { name, share, process }
}

const workers = [
  start("raw HTTP 1", "wireWorker.ts", 0.435),
  start("raw HTTP 2", "wireWorker.ts", 0.435),
  start("our HTTP client", "clientWorker.ts", 0.1),
  start("stdio", "pipeWorker.ts", 0.03)
]

interface Phase {
  readonly report: Report
  readonly http: Census
  readonly stdio: Census
  readonly client: Census
}

const run = async (duration: number, phase: number): Promise<Phase> => {
  const answers = await Promise.all(
    workers.map(async ({ name, process, share }, index) => {
      const order: Order = {
        seconds: duration,
        clients: Math.max(1, Math.round(clients * share)),
        seed: seed + phase * 104_729 + index * 1_299_709
      }
      const ended = once(process, "exit").then(() => [undefined])
      process.send(order)
      const [answer] = (await Promise.race([once(process, "message"), ended])) as [Answer | undefined]
      if (answer === undefined) throw new Error(`${name} is gone`)
      return answer
    })
  )
  return {
    report: sum(answers.map(({ report }) => report)),
    http: await measure(),
    client: answers[2]?.extra as Census,
    stdio: answers[3]?.extra as Census
  }
}

const megabytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(2)} MB`

const total = (counts: { readonly [kind: string]: number }) =>
  Object.values(counts).reduce((before, count) => before + count, 0)

const table = (counts: { readonly [kind: string]: number }) => {
  for (const [kind, count] of Object.entries(counts).toSorted(([one], [other]) => one.localeCompare(other))) {
    console.log(`  ${kind.padEnd(52)} ${String(count).padStart(9)}`)
  }
}

const failures: Array<string> = []

/** Prints what a process holds before and after, and notes what is not as it was. */
const compare = (name: string, before: Census, after: Census): void => {
  const growth = after.heap / before.heap - 1
  console.log(`\n${name.padEnd(54)} ${"before".padStart(9)} ${"after".padStart(9)}`)
  const percent = `${growth >= 0 ? "+" : ""}${(growth * 100).toFixed(1)} %`
  console.log(
    `  ${"heap".padEnd(52)} ${megabytes(before.heap).padStart(9)} ${megabytes(after.heap).padStart(9)}  ${percent}`
  )
  if (growth > 0.05) failures.push(`${name}: the heap has grown by ${percent}`)
  for (const [kind, count] of Object.entries(after.counts)) {
    const earlier = before.counts[kind] ?? 0
    console.log(`  ${kind.padEnd(52)} ${String(earlier).padStart(9)} ${String(count).padStart(9)}`)
    if (count > earlier) failures.push(`${name}: ${count - earlier} more of ${kind}`)
  }
  if (after.unhandled > 0) failures.push(`${name}: ${after.unhandled} errors that nobody handled`)
}

console.log(`${clients} clients for ${options.minutes} minutes, after ${warmUp} seconds of warm-up; seed ${seed}`)
try {
  const before = await run(warmUp, 0)
  console.log(`Warmed up with ${total(before.report.calls)} calls and ${total(before.report.faults)} faults`)
  const after = await run(seconds, 1)
  const report = sum([before.report, after.report])
  console.log(`\nCalls answered as they should be: ${total(report.calls)}`)
  table(report.calls)
  console.log(`\nFaults injected: ${total(report.faults)}`)
  table(report.faults)
  compare("HTTP server", before.http, after.http)
  compare("stdio server", before.stdio, after.stdio)
  compare("our HTTP client", before.client, after.client)
  const unhandled = report.unhandled + after.http.unhandled + after.stdio.unhandled
  console.log(`\nWrong answers: ${report.wrong}\nLost answers: ${report.lost}\nUnhandled errors: ${unhandled}`)
  for (const example of report.examples) console.log(`  ${example}`)
  if (report.wrong > 0) failures.push(`${report.wrong} wrong answers`)
  if (report.lost > 0) failures.push(`${report.lost} lost answers`)
  if (report.unhandled > 0) failures.push(`${report.unhandled} unhandled errors among the clients`)
} catch (cause) {
  failures.push(cause instanceof Error ? (cause.stack ?? cause.message) : String(cause))
}
failures.push(...deaths)
isEnding = true
console.log(failures.length === 0 ? "\nAll is well." : `\nNot well:\n${failures.map((line) => `  ${line}`).join("\n")}`)
process.exit(failures.length === 0 ? 0 : 1)
