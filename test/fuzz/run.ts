/**
 * Fuzzes everything that reads what others send, and prints what did not hold.
 *
 *     npm run fuzz                                     30,000 runs, spread over all properties
 *     npm run fuzz -- --runs 100000 --only stream      100,000 of those with a name that has this in it
 *     npm run fuzz -- --only stream --seed 42 --path 17:3    again what failed
 *
 * Exits with 1 when a property does not hold.
 */
import { parseArgs } from "node:util"
import { properties } from "./properties.ts"

const { values: options } = parseArgs({
  options: {
    runs: { type: "string", default: "30000" },
    only: { type: "string", default: "" },
    seed: { type: "string" },
    path: { type: "string" }
  }
})

const seed = options.seed === undefined ? Date.now() & 0x7fffffff : Number(options.seed)
const chosen = properties.filter(({ name }) => name.includes(options.only))
const runs = Math.ceil(Number(options.runs) / chosen.length)
const rejections: Array<unknown> = []
process.on("unhandledRejection", (reason) => rejections.push(reason))

let failed = 0
console.log(`seed ${seed}, ${runs} runs of each of ${chosen.length} properties`)
for (const { check, name } of chosen) {
  const started = performance.now()
  const details = await check({ seed, numRuns: runs, ...(options.path !== undefined && { path: options.path }) })
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  if (!details.failed && rejections.length === 0) {
    console.log(`ok      ${name}: ${details.runs} runs in ${seconds} s`)
    continue
  }
  failed++
  console.log(`FAILED  ${name}: after ${details.runs} runs in ${seconds} s`)
  if (details.failed) console.log(details.report)
  for (const reason of rejections.splice(0)) console.log("unhandled rejection:", reason)
  console.log(`again: npm run fuzz -- --only ${JSON.stringify(name)} --seed ${details.seed} --path ${details.path}`)
}
console.log(failed === 0 ? "no counterexample" : `${failed} properties do not hold`)
process.exit(failed === 0 ? 0 : 1)
