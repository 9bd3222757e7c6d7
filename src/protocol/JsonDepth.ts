/**
 * How deeply JSON nests. V8 reads any depth, but most code that works on what it has read recurses: writing it, comparing
 * it, checking it against a schema. A few kilobytes of brackets would overflow the stack there, in places that nobody
 * guards. So depth is limited where text becomes a value, and nowhere else.
 */
import * as Predicate from "effect/Predicate"

/** Levels of arrays and objects that one message may have when nothing else is said. */
export const defaultMaximumDepth = 128

/** Whether JSON text that was read as `value` nests deeper than so many levels. */
export const isDeeper = (text: string, value: unknown, maximum: number): boolean =>
  // Every level takes two characters, so most messages need no look.
  text.length > 2 * maximum && Predicate.isObjectOrArray(value) && nestsDeeper(value, maximum)

// The recursion ends at the limit; plain loops, because every larger message passes here.
const nestsDeeper = (value: object, left: number): boolean => {
  if (left === 0) return true
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const element: unknown = value[index]
      if (typeof element === "object" && element !== null && nestsDeeper(element, left - 1)) return true
    }
    return false
  }
  for (const name in value) {
    const member: unknown = (value as { readonly [name: string]: unknown })[name]
    if (typeof member === "object" && member !== null && nestsDeeper(member, left - 1)) return true
  }
  return false
}
