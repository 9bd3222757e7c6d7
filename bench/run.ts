/**
 * Runs mcp-effect and its peers side by side.
 *
 *     npm run bench                             everything, in less than eight minutes
 *     npm run bench -- http                     the workloads whose names begin with "http"
 *     npm run bench -- memory-legacy --peer sdk2    against one peer
 *     npm run bench -- --quick                  the workloads that the targets are about, in short
 *     npm run bench -- http-64 --profile        writes and sums up a CPU profile of mcp-effect (or of `--profile=NAME`)
 *     npm run bench -- --list                   the workloads
 *     npm run bench -- --no-build               with `dist` as it is
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import * as Os from "node:os"
import { parseArgs } from "node:util"
import { inBench } from "./harness/Child.ts"
import { bestPeer, limitOf, ratio, type Result } from "./harness/Result.ts"
import { legend, systems } from "./harness/Systems.ts"
import type { Context, Pace } from "./harness/Workload.ts"
import * as profile from "./report/profile.ts"
import { chart } from "./report/svg.ts"
import { verdicts } from "./report/targets.ts"
import { judgement, table } from "./report/text.ts"
import * as calls from "./workloads/calls.ts"
import * as clients from "./workloads/clients.ts"
import * as sessions from "./workloads/sessions.ts"
import * as start from "./workloads/start.ts"
import * as weight from "./workloads/weight.ts"

const all = [...calls.workloads, ...clients.workloads, ...sessions.workloads, ...start.workloads, ...weight.workloads]

const readCommand = () => {
  // `--profile` alone means this package.
  const args = process.argv.slice(2).map((arg) => (arg === "--profile" ? "--profile=mcp-effect" : arg))
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    allowNegative: true,
    options: {
      peer: { type: "string", multiple: true },
      quick: { type: "boolean", default: false },
      profile: { type: "string", multiple: true },
      list: { type: "boolean", default: false },
      build: { type: "boolean", default: true },
      rounds: { type: "string" }
    }
  })
  return { positionals, ...values }
}

const command = readCommand()

const npm = (args: ReadonlyArray<string>): void => {
  const { status } = spawnSync("npm", args, { cwd: inBench(".."), stdio: ["ignore", "inherit", "inherit"] })
  if (status !== 0) {
    console.error(`npm ${args.join(" ")} has failed`)
    process.exit(1)
  }
}

const selected = all.filter(
  ({ name, quick }) =>
    (command.positionals.length === 0 || command.positionals.some((prefix) => name.startsWith(prefix))) &&
    (!command.quick || quick || command.positionals.length > 0)
)

if (command.list) {
  for (const { name, title } of all) console.log(`${name.padEnd(24)}${title}`)
  process.exit(0)
}
if (selected.length === 0) {
  console.error("No such workload; --list shows them all")
  process.exit(1)
}
const unknown = command.peer?.find((name) => !systems.some(({ folder }) => folder === name))
if (unknown !== undefined) {
  console.error(`No such peer: ${unknown}. There are ${Object.keys(legend).join(", ")}`)
  process.exit(1)
}

if (!existsSync(inBench("node_modules"))) npm(["ci", "--prefix", "bench", "--no-audit", "--no-fund"])
if (command.build) npm(["run", "build", "--silent"])

const pace: Pace = command.quick
  ? { quick: true, warmUp: 150, round: 100, rounds: 3 }
  : { quick: false, warmUp: 1000, round: 150, rounds: 5 }

const context: Context = {
  systems: systems.filter(({ folder, role }) => role !== "peer" || (command.peer?.includes(folder) ?? true)),
  pace: command.rounds === undefined ? pace : { ...pace, rounds: Number(command.rounds) },
  profiled: command.profile ?? [],
  onProfile: (workload, system, path) => {
    console.log(`CPU of ${system} in ${workload}: ${path}\n${profile.summary(path)}\n`)
  }
}

const versionOf = (name: string): string | undefined => {
  for (const folder of [inBench("node_modules"), inBench("../node_modules")]) {
    const path = `${folder}/${name}/package.json`
    if (existsSync(path)) return (JSON.parse(readFileSync(path, "utf8")) as { readonly version: string }).version
  }
  return undefined
}

const machine = {
  node: process.version,
  cpu: Os.cpus()[0]?.model ?? "unknown",
  cores: Os.availableParallelism(),
  versions: Object.fromEntries(
    ["@modelcontextprotocol/sdk", "@modelcontextprotocol/server", "effect", "tmcp", "fastmcp"].map((name) => [
      name,
      versionOf(name)
    ])
  )
}

console.log(`Node ${machine.node} on ${machine.cores} cores of ${machine.cpu}`)
console.log("Ratios are of medians: to the limit, and to the fastest peer; more is better in both.\n")
if (context.profiled.length > 0) console.log("Being profiled makes slow: look at the profiles, not at the ratios.\n")

// A part of the whole is kept apart, so that it does not take the place of a full run.
const isWhole = selected.length === all.length && command.peer === undefined && command.profile === undefined
const folder = inBench(isWhole ? "results" : "results/part")
mkdirSync(folder, { recursive: true })
const began = performance.now()
const results = new Map<string, Result>()
for (const workload of selected) {
  const result = await workload.run(context)
  results.set(workload.name, result)
  console.log(table(result))
  if (result.rows.length > 0) writeFileSync(`${folder}/${workload.name}.svg`, chart(result))
}

const judged = verdicts(results)
if (judged.length > 0) console.log(judgement(judged))

const withRatios = (result: Result) => ({
  ...result,
  rows: result.rows.map((row) => {
    const limit = limitOf(result, row.system)
    const peer = bestPeer(result)
    return {
      ...row,
      ofLimit: limit && ratio(result, row, limit),
      ofFastestPeer: peer && ratio(result, row, peer)
    }
  })
})

const report = { machine, legend, results: [...results.values()].map(withRatios), targets: judged }
writeFileSync(`${folder}/results.json`, JSON.stringify(report, undefined, 2) + "\n")
console.log(`${Math.round((performance.now() - began) / 1000)} s; results.json and charts are in ${folder}`)
