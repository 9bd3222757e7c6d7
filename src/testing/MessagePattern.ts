/**
 * Comparing a message with what a test expects of it.
 */
import * as Predicate from "effect/Predicate"
import type { Incoming } from "../protocol/JsonRpc.ts"

/** What a message must look like: members that it must have, at any depth, or a function that says so. */
export type Pattern = { readonly [member: string]: unknown } | ((message: Incoming) => boolean)

/**
 * What about a message is not as expected; `undefined` when nothing is. Objects may have more members than the pattern,
 * lists may not; a member that the pattern has as `undefined` must be absent.
 */
export const mismatch = (pattern: Pattern, message: Incoming): string | undefined =>
  typeof pattern === "function"
    ? pattern(message)
      ? undefined
      : "the predicate says no"
    : difference("", pattern, message)

const difference = (path: string, expected: unknown, actual: unknown): string | undefined => {
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return unlike(path, expected, actual)
    if (expected.length !== actual.length) {
      return `${at(path)} has ${actual.length} elements, not ${expected.length}`
    }
    return first(expected.keys(), (index) => difference(`${path}[${index}]`, expected[index], actual[index]))
  }
  if (Predicate.isObject(expected)) {
    if (!Predicate.isObject(actual)) return unlike(path, expected, actual)
    const members = expected as { readonly [member: string]: unknown }
    return first(Object.keys(members), (name) =>
      difference(
        path === "" ? name : `${path}.${name}`,
        members[name],
        (actual as { readonly [member: string]: unknown })[name]
      )
    )
  }
  return Object.is(expected, actual) ? undefined : unlike(path, expected, actual)
}

const first = <A>(values: Iterable<A>, find: (value: A) => string | undefined): string | undefined => {
  for (const value of values) {
    const found = find(value)
    if (found !== undefined) return found
  }
  return undefined
}

const at = (path: string): string => (path === "" ? "the message" : path)

const unlike = (path: string, expected: unknown, actual: unknown): string =>
  `${at(path)} is ${JSON.stringify(actual) ?? "absent"}, not ${JSON.stringify(expected) ?? "absent"}`
