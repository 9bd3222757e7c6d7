import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import { compileLater } from "../../src/protocol/CompileLater.ts"

describe("compileLater", () => {
  it("makes the function on first use, and once more when it has been used often", () => {
    const Named = Schema.Struct({ name: Schema.String })
    let made = 0
    const is = compileLater(Named, () => {
      made++
      return Schema.is(Named)
    })
    expect(made).toBe(0)
    for (let use = 1; use <= 300; use++) {
      expect(is({ name: "a" })).toBe(true)
      expect(is({ name: use })).toBe(false)
    }
    expect(made).toBe(2)
  })
})
