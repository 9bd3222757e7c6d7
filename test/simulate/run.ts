/**
 * Plays many simulated lives of a client and a server, and prints the seeds of those in which something went wrong.
 *
 *     npm run simulate                        1,000 seeds
 *     npm run simulate -- --seeds 10000       more of them
 *     npm run simulate -- --from 4711 --seeds 1    one of them again
 *
 * Exits with 1 when an invariant was violated.
 */
import { Effect } from "effect"
import { parseArgs } from "node:util"
import { type Outcome, planOf, play } from "./scenario.ts"

const { values: options } = parseArgs({
  options: { seeds: { type: "string", default: "1000" }, from: { type: "string", default: "0" } }
})

const first = Number(options.from)
const seeds = Number(options.seeds)
const started = performance.now()
const total = { opened: 0, succeeded: 0, failed: 0, interrupted: 0 }
const bad: Array<Outcome> = []
for (let seed = first; seed < first + seeds; seed++) {
  const outcome = await Effect.runPromise(play(planOf(seed)))
  if (outcome.opened) total.opened++
  total.succeeded += outcome.succeeded
  total.failed += outcome.failed
  total.interrupted += outcome.interrupted
  if (outcome.violations.length === 0) continue
  bad.push(outcome)
  if (bad.length > 20) continue
  const { faults, revision, transport } = outcome.plan
  console.log(`seed ${seed} (${transport}, ${revision}, ${JSON.stringify(faults)})`)
  for (const violation of outcome.violations.slice(0, 10)) console.log(`  ${violation.slice(0, 1000)}`)
  console.log(`  again: npm run simulate -- --from ${seed} --seeds 1`)
}
const seconds = ((performance.now() - started) / 1000).toFixed(1)
console.log(
  `${seeds} seeds from ${first} in ${seconds} s: ${total.opened} clients opened; calls: ${total.succeeded} succeeded, ` +
    `${total.failed} failed, ${total.interrupted} interrupted`
)
console.log(bad.length === 0 ? "no violated invariant" : `invariants violated in ${bad.length} seeds`)
process.exit(bad.length === 0 ? 0 : 1)
