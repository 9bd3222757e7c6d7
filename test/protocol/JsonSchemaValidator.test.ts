/** Validation against schemas of peers: dialects, references, bounds. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import type { McpError } from "../../src/protocol/McpError.ts"
import { compileValidator, makeCache, type Options } from "../../src/protocol/JsonSchemaValidator.ts"

const reasonOf = (schema: unknown, options?: Options) =>
  compileValidator(schema, options).pipe(
    Effect.flip,
    Effect.map((error: McpError) => error.reason)
  )

const check = (schema: unknown, value: unknown) => Effect.map(compileValidator(schema), (validate) => validate(value))

const named = (type: string) => ({ $id: "https://example.com/a", properties: { x: { $id: "x", type } } })

describe("compileValidator", () => {
  it.effect("[JSCH-01] reads a schema without $schema as 2020-12", () =>
    Effect.gen(function* () {
      const pair = { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }], items: false }
      expect(yield* check(pair, ["a", 1])).toBeUndefined()
      expect(yield* check(pair, ["a", "b"])).toBe("/1 must be integer")
      expect(yield* check(pair, ["a", 1, 2])).toMatch(/must NOT have more than 2 items/)
    })
  )

  it.effect("[JSCH-02] [JSCH-05] reads draft-07 when the schema says so", () =>
    Effect.gen(function* () {
      for (const $schema of [
        "http://json-schema.org/draft-07/schema#",
        "http://json-schema.org/draft-07/schema",
        "https://json-schema.org/draft-07/schema#"
      ]) {
        const pair = { $schema, type: "array", items: [{ type: "string" }], additionalItems: false }
        expect(yield* check(pair, ["a"])).toBeUndefined()
        expect(yield* check(pair, ["a", "b"])).toMatch(/must NOT have more than 1 items/)
      }
      const modern = { $schema: "https://json-schema.org/draft/2020-12/schema#", const: 1 }
      expect(yield* check(modern, 2)).toBe("the value must be equal to constant")
    })
  )

  it.effect("[JSCH-03] names the dialect that it does not support", () =>
    Effect.gen(function* () {
      for (const $schema of ["http://json-schema.org/draft-04/schema#", "https://example.com/mine", "__proto__", 7]) {
        const reason = yield* reasonOf({ $schema, type: "object" })
        expect(reason._tag).toBe("Unsupported")
        expect(reason.message).toContain(String($schema).replace("#", ""))
      }
    })
  )

  it.effect("[JSCH-06] [JSCH-08] refuses a reference that leads out of the schema, without fetching it", () =>
    Effect.gen(function* () {
      for (const $ref of ["https://example.com/schema.json", "other.json", "#/$defs/none", "file:///etc/passwd"]) {
        const reason = yield* reasonOf({ type: "object", properties: { a: { $ref } } })
        expect(reason._tag).toBe("DecodeFailure")
        expect(reason.message).toContain("resolve")
      }
    })
  )

  it.effect("follows local references and names", () =>
    Effect.gen(function* () {
      const tree = {
        $ref: "#/$defs/Tree",
        $defs: { Tree: { type: "object", properties: { kids: { type: "array", items: { $ref: "#/$defs/Tree" } } } } }
      }
      expect(yield* check(tree, { kids: [{ kids: [] }] })).toBeUndefined()
      expect(yield* check(tree, { kids: [{ kids: 1 }] })).toBe("/kids/0/kids must be array")
      const anchored = { $ref: "#word", $defs: { word: { $anchor: "word", type: "string" } } }
      expect(yield* check(anchored, 1)).toBe("the value must be string")
      const cache = makeCache()
      const list = { properties: { next: { $ref: "#" }, value: { type: "string" } } }
      const numbers = { properties: { next: { $ref: "#" }, value: { type: "number" } } }
      const ofStrings = yield* compileValidator(list, { cache })
      const ofNumbers = yield* compileValidator(numbers, { cache })
      expect(ofStrings({ next: { next: { value: 1 } } })).toBe("/next/next/value must be string")
      expect(ofNumbers({ next: { next: { value: 1 } } })).toBeUndefined()
    })
  )

  it.effect("[JSCH-09] bounds size, depth and repetition", () =>
    Effect.gen(function* () {
      const wide = { properties: Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`p${index}`, {}])) }
      expect(yield* reasonOf(wide)).toMatchObject({ _tag: "LimitExceeded", message: /more than 5000 subschemas/ })
      let deep: object = {}
      for (let level = 0; level < 100; level++) deep = { not: deep }
      expect(yield* reasonOf(deep)).toMatchObject({ _tag: "LimitExceeded", message: /more than 64 levels/ })
      expect(yield* check({ properties: { a: { type: "string" } } }, {})).toBeUndefined()
      expect((yield* reasonOf({ properties: { a: { type: "string" } } }, { maxSubschemas: 2 }))._tag).toBe(
        "LimitExceeded"
      )
      expect((yield* reasonOf({ properties: { a: { type: "string" } } }, { maxDepth: 1 }))._tag).toBe("LimitExceeded")
    })
  )

  it.effect("[JSCH-09] refuses references that double at every step", () =>
    Effect.gen(function* () {
      const $defs: { [name: string]: object } = { d40: { type: "string" } }
      for (let level = 0; level < 40; level++) {
        const next = { $ref: `#/$defs/d${level + 1}` }
        $defs[`d${level}`] = { anyOf: [{ allOf: [next, { not: next }] }, next] }
      }
      expect(yield* reasonOf({ $ref: "#/$defs/d0", $defs })).toMatchObject({
        _tag: "LimitExceeded",
        message: /one value to more than 5000/
      })
    })
  )

  it.effect("[JSCH-09] refuses a schema that only refers to itself", () =>
    Effect.gen(function* () {
      for (const schema of [
        { $ref: "#" },
        { allOf: [{ $ref: "#/$defs/a" }], $defs: { a: { anyOf: [{ $ref: "#/$defs/b" }] }, b: { $ref: "#/$defs/a" } } },
        { $id: "https://example.com/a", not: { $ref: "https://example.com/a" } },
        { $anchor: "x", if: { $ref: "#x" } }
      ]) {
        expect(yield* reasonOf(schema)).toMatchObject({ _tag: "LimitExceeded", message: /refers to itself/ })
      }
    })
  )

  it.effect("[JSCH-09] compiles the largest schema it allows in reasonable time", () =>
    Effect.gen(function* () {
      const big = {
        properties: Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`p${n}`, { type: "null" }]))
      }
      const uses = Array.from({ length: 500 }, (_, n) => [`u${n}`, { $ref: "#/$defs/big" }])
      const started = performance.now()
      expect(yield* check({ properties: Object.fromEntries(uses), $defs: { big } }, { u7: { p9: 1 } })).toBe(
        "/u7/p9 must be null"
      )
      expect(performance.now() - started).toBeLessThan(5_000)
    })
  )

  it.effect("refuses a value that is too deep to check, and does not throw", () =>
    Effect.gen(function* () {
      let deep: object = {}
      for (let level = 0; level < 100_000; level++) deep = { a: deep }
      expect(yield* check({ properties: { a: { $ref: "#" } } }, deep)).toMatch(/can't be checked/)
    })
  )

  it.effect("refuses what is not a schema", () =>
    Effect.gen(function* () {
      for (const schema of [null, "x", 1, undefined, [], { type: "nothing" }, { properties: 1 }, { pattern: "(" }]) {
        expect((yield* reasonOf(schema))._tag).toBe("DecodeFailure")
      }
      expect(yield* check(true, 1)).toBeUndefined()
      expect(yield* check(false, 1)).toBe("no value is allowed")
    })
  )

  it.effect("takes format and unknown keywords for annotations, and patterns of either mode", () =>
    Effect.gen(function* () {
      expect(yield* check({ type: "string", format: "email", "x-mcp-header": "A", whatever: 1 }, "no")).toBeUndefined()
      expect(yield* check({ pattern: "^\\p{L}+$" }, "ü")).toBeUndefined()
      expect(yield* check({ pattern: "^a\\_b$" }, "a_b")).toBeUndefined()
    })
  )

  it.effect("names the property and the values in what it says", () =>
    Effect.gen(function* () {
      expect(yield* check({ additionalProperties: false }, { b: 1 })).toBe(
        'the value must NOT have additional properties ("b")'
      )
      expect(yield* check({ enum: ["a", 1] }, 2)).toBe('the value must be equal to one of the allowed values ("a", 1)')
    })
  )

  it.effect("keeps validators by identity, in the cache of the caller", () =>
    Effect.gen(function* () {
      const cache = makeCache()
      const schema = { type: "string" }
      const first = yield* compileValidator(schema, { cache })
      expect(yield* compileValidator(schema, { cache })).toBe(first)
      expect(yield* compileValidator({ type: "string" }, { cache })).not.toBe(first)
      expect(yield* compileValidator(schema, { cache: makeCache() })).not.toBe(first)
    })
  )

  it.effect("does not let names of one schema reach another", () =>
    Effect.gen(function* () {
      const cache = makeCache()
      yield* compileValidator(named("string"), { cache })
      const validate = yield* compileValidator(named("integer"), { cache })
      expect(validate({ x: "a" })).toBe("/x must be integer")
      const reason = yield* reasonOf({ $ref: "https://example.com/a" }, { cache })
      expect(reason._tag).toBe("DecodeFailure")
    })
  )
})
