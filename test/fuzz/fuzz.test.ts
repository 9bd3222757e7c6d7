/**
 * A short run of every property; a failure prints the command that repeats it.
 */
import { describe, expect, it } from "@effect/vitest"
import { properties } from "./properties.ts"

/** Always the same, so that a test fails for a change and not for the day; `npm run fuzz` looks further. */
const seed = 20260728

describe("whatever comes in", () => {
  for (const { check, name } of properties) {
    it(name, { timeout: 20_000 }, async () => {
      const details = await check({
        seed,
        numRuns: 300,
        interruptAfterTimeLimit: 350,
        markInterruptAsFailure: false
      })
      const again = `npm run fuzz -- --only ${JSON.stringify(name)} --seed ${details.seed} --path ${details.path}`
      expect(details.failed, `${details.report}\nagain: ${again}`).toBe(false)
      expect(details.runs).toBeGreaterThan(0)
    })
  }
})
