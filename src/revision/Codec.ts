/**
 * Between the canonical model and the JSON of one revision.
 *
 * The canonical model is JSON itself, so reading is a check and nothing more: what passes is handed on as it came, the
 * same object, unknown members and all. Writing changes only what the revision spells differently.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { compileLater } from "../protocol/CompileLater.ts"
import type { Members } from "../protocol/JsonRpc.ts"

/**
 * Reads and writes the params or the result of one method. Written with method syntax on purpose: it makes a codec of
 * one method usable as `Codec<unknown>`, as code that dispatches by the method's name needs.
 */
export interface Codec<A> {
  /** Checks what came. Absent params read as `{}` (BASE-29). The failure names the member and what is wrong with it. */
  decode(wire: Members | undefined): Result.Result<A, string>
  /** Spells a value for the wire. It is not checked; it is the same object when nothing has to change. */
  encode(value: A): Members
  /**
   * Says, as a sentence, why this revision has no way to say a value: who wants to send it asks before `encode`, and
   * fails instead. `undefined` where it can be said; absent where everything can.
   */
  refuse?(value: A): string | undefined
}

/** A check of unknown values against a schema. */
export type Reader<A> = (value: unknown) => Result.Result<A, string>

/** A schema whose type is its JSON. */
export type WireSchema<A> = Schema.Codec<A, unknown>

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1()

const formatPath = (path: ReadonlyArray<unknown>): string =>
  path.reduce<string>((text, segment) => {
    const key = typeof segment === "object" && segment !== null && "key" in segment ? segment.key : segment
    if (typeof key === "number") return `${text}[${key}]`
    const name = String(key)
    if (!/^[\w$]+$/.test(name)) return `${text}[${JSON.stringify(name)}]`
    return text === "" ? name : `${text}.${name}`
  }, "")

/** One line on the first problem: the member, then what is wrong. No values of the peer are in it. */
const describeIssue = (issue: SchemaIssue.Issue): string => {
  const [first] = formatIssue(issue).issues
  if (first === undefined) return "Not of the expected shape"
  const path = formatPath(first.path ?? [])
  return path === "" ? first.message : `${path}: ${first.message}`
}

/** Makes a check of a schema. */
export const reader = <A>(schema: WireSchema<A>): Reader<A> => {
  const is = compileLater(schema, (): ((value: unknown) => boolean) => Schema.is(schema))
  return (value) => {
    if (is(value)) return Result.succeed(value as A) // as was just checked
    // Saying why is slow, and only the rare failure pays for it.
    const failure = Schema.decodeUnknownResult(schema)(value, { errors: "first" })
    return Result.fail(Result.isFailure(failure) ? describeIssue(failure.failure.issue) : "Not of the expected shape")
  }
}

const nothing: Members = {}

/**
 * Makes a codec from a schema, from how the revision spells the value where that is not as it is, and from what the
 * revision can't spell.
 */
export const codec = <A extends Members>(
  schema: WireSchema<A>,
  encode?: (value: A) => Members,
  refuse?: (value: A) => string | undefined
): Codec<A> => {
  const read = reader(schema)
  return {
    decode: (wire) => read(wire ?? nothing),
    encode: encode ?? ((value) => value),
    ...(refuse !== undefined && { refuse })
  }
}
