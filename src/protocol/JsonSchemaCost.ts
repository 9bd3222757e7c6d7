/**
 * Bounds on what a foreign JSON Schema may cost (JSCH-09), found before anything is compiled.
 *
 * Size and depth bound the compilation. The third bound is on evaluation: how many schemas one value may be put to when
 * every `$ref`, `allOf`, `anyOf`, … is followed. A few lines of references can make that exponential.
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { Keywords } from "./JsonSchemaKeywords.ts"

/** Limits on a schema. */
export interface Limits {
  /** Most schemas inside a schema, and most schemas that one value may be put to. Default: 5,000 */
  readonly maxSubschemas?: number | undefined
  /** Deepest nesting of objects and arrays. Default: 64 */
  readonly maxDepth?: number | undefined
}

/** What was found on the way. */
export interface Survey {
  /** Whether the schema gives itself or a part of it a name, with `$id` or an anchor. */
  readonly named: boolean
}

/** Keywords that put the same value to another schema. */
const inPlace = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"]
const references = ["$ref", "$dynamicRef", "$recursiveRef"]
const names = ["$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor"]

/** Fails with the limit that the schema breaks. */
export const survey = (schema: Keywords, limits: Limits): Result.Result<Survey, string> => {
  const maxSubschemas = limits.maxSubschemas ?? 5_000
  const maxDepth = limits.maxDepth ?? 64
  const anchors = new Map<string, Keywords>()
  const objects: Array<Keywords> = []
  let named = false

  const visit = (value: unknown, depth: number): string | undefined => {
    if (typeof value !== "object" || value === null) return undefined
    if (depth > maxDepth) return `The JSON Schema is nested more than ${maxDepth} levels deep`
    if (!Array.isArray(value)) {
      const keywords = value as Keywords
      if (objects.push(keywords) > maxSubschemas) return `The JSON Schema has more than ${maxSubschemas} subschemas`
      for (const name of names) {
        const given = keywords[name]
        if (given === undefined || Predicate.isObject(given)) continue
        named = true
        if (typeof given === "string") anchors.set(name === "$id" ? given : `#${given}`, keywords)
      }
    }
    for (const member of Object.values(value)) {
      const problem = visit(member, depth + 1)
      if (problem !== undefined) return problem
    }
    return undefined
  }

  // Whatever looks like a schema is counted, even in `default`, because a `$ref` may point anywhere.
  const problem = visit(schema, 0)
  if (problem !== undefined) return Result.fail(problem)
  const costs = new Map<Keywords, number>()
  for (const object of objects) {
    const cost = costOf(object, schema, anchors, costs)
    if (cost === Number.POSITIVE_INFINITY) {
      return Result.fail("The JSON Schema refers to itself without looking at a part of the value")
    }
    if (cost > maxSubschemas) {
      return Result.fail(`The JSON Schema puts one value to more than ${maxSubschemas} subschemas`)
    }
  }
  return Result.succeed({ named })
}

/** How many schemas a value is put to; infinite for a schema that comes back to itself with the same value. */
const costOf = (
  schema: Keywords,
  root: Keywords,
  anchors: ReadonlyMap<string, Keywords>,
  costs: Map<Keywords, number>
): number => {
  const known = costs.get(schema)
  if (known !== undefined) return known
  costs.set(schema, Number.POSITIVE_INFINITY)
  let cost = 1
  for (const keyword of inPlace) {
    const value = schema[keyword]
    const map = keyword === "dependentSchemas" || keyword === "dependencies"
    const members = Array.isArray(value) ? value : map && Predicate.isObject(value) ? Object.values(value) : [value]
    for (const member of members) {
      if (Predicate.isObject(member)) cost += costOf(member as Keywords, root, anchors, costs)
    }
  }
  for (const keyword of references) {
    const reference = schema[keyword]
    const target = typeof reference === "string" ? resolve(reference, root, anchors) : undefined
    if (target !== undefined) cost += costOf(target, root, anchors, costs)
  }
  costs.set(schema, cost)
  return cost
}

/** Where a reference leads inside the schema; one that leads out is refused when the schema is compiled. */
const resolve = (reference: string, root: Keywords, anchors: ReadonlyMap<string, Keywords>): Keywords | undefined => {
  const anchored = anchors.get(reference)
  if (anchored !== undefined) return anchored
  const hash = reference.indexOf("#")
  const base = hash <= 0 ? root : anchors.get(reference.slice(0, hash))
  if (base === undefined || hash === -1) return undefined
  let current: unknown = base
  for (const token of reference
    .slice(hash + 1)
    .split("/")
    .slice(1)) {
    if (typeof current !== "object" || current === null) return undefined
    const key = unescape(token)
    current = Object.hasOwn(current, key) ? (current as Keywords)[key] : undefined
  }
  return Predicate.isObject(current) ? (current as Keywords) : undefined
}

const unescape = (token: string): string => {
  let decoded = token
  try {
    decoded = decodeURIComponent(token)
  } catch {
    // A malformed reference is refused when the schema is compiled.
  }
  return decoded.replace(/~1/g, "/").replace(/~0/g, "~")
}
