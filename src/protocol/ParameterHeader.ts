/**
 * `x-mcp-header`: tool parameters that are mirrored into `Mcp-Param-*` HTTP headers.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#custom-headers-from-tool-parameters
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as HeaderValue from "./HeaderValue.ts"
import { type Keywords, subschemas } from "./JsonSchemaKeywords.ts"

/** The JSON Schema keyword that names the header of a property. */
export const keyword = "x-mcp-header"

/** One mirrored parameter. */
export interface ParameterHeader {
  /** The whole header name, such as `Mcp-Param-Region`. */
  readonly header: string
  /** Where the value is in the arguments of the call. */
  readonly path: ReadonlyArray<string>
  readonly type: "string" | "integer" | "boolean"
}

/**
 * Marks the schema of a tool parameter to be mirrored as `Mcp-Param-{name}` (HDR-07). Only for strings, integers and
 * booleans, and not for secrets: every proxy on the way can read headers. {@link declared} checks the rules.
 *
 * @example
 * ```ts
 * import { Schema } from "effect"
 * import { ParameterHeader } from "mcp-effect"
 *
 * const Input = Schema.Struct({ region: Schema.String.pipe(ParameterHeader.annotate("Region")) })
 * ```
 */
export const annotate =
  (name: string) =>
  <S extends Schema.Top>(schema: S): S["Rebuild"] =>
    // Without its identifier the schema is written where it is used: an annotation behind a `$ref` is not valid (HDR-10).
    schema.annotate({ [keyword]: name, identifier: undefined })

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const maximumDepth = 128

/**
 * The mirrored parameters of a tool's `inputSchema`, in order. Fails, with the reason, when an annotation breaks a rule:
 * the tool is then not valid over HTTP (HDR-08 to HDR-11).
 */
export const declared = (inputSchema: unknown): Result.Result<ReadonlyArray<ParameterHeader>, string> => {
  const found: Array<ParameterHeader> = []
  const names = new Set<string>()

  /** `path` is `undefined` where no chain of `properties` leads. */
  const visit = (schema: unknown, path: ReadonlyArray<string> | undefined, depth: number): string | undefined => {
    if (!Predicate.isObject(schema)) return undefined
    if (depth > maximumDepth) return `The schema is nested more than ${maximumDepth} levels deep`
    const keywords = schema as Keywords
    if (Object.hasOwn(keywords, keyword)) {
      const problem = declare(keywords, path)
      if (problem !== undefined) return problem
    }
    for (const member of subschemas(keywords)) {
      const problem = visit(member, undefined, depth + 1)
      if (problem !== undefined) return problem
    }
    for (const [name, member] of Predicate.isObject(keywords.properties) ? Object.entries(keywords.properties) : []) {
      const problem = visit(member, path === undefined ? undefined : [...path, name], depth + 1)
      if (problem !== undefined) return problem
    }
    return undefined
  }

  const declare = (keywords: Keywords, path: ReadonlyArray<string> | undefined): string | undefined => {
    const name = keywords[keyword]
    const shown = `${keyword} ${JSON.stringify(name)}`
    if (typeof name !== "string" || !token.test(name)) return `${shown} is not a header name (RFC 9110 token)`
    if (path === undefined) return `${shown} is not on a property that "properties" alone lead to`
    if (path.length === 0) return `${shown} is on the root of the schema, not on a property`
    if (names.has(name.toLowerCase())) return `${shown} is there twice (case does not count)`
    const type = primitiveType(keywords)
    if (type === undefined) {
      return `${shown} on ${path.join(".")} needs a property of type string, integer or boolean`
    }
    names.add(name.toLowerCase())
    found.push({ header: `Mcp-Param-${name}`, path, type })
    return undefined
  }

  const problem = visit(inputSchema, [], 0)
  return problem === undefined ? Result.succeed(found) : Result.fail(problem)
}

/** The type of a property, where `null` beside it is fine: a `null` is not mirrored. */
const primitiveType = (keywords: Keywords): ParameterHeader["type"] | undefined => {
  const { type } = keywords
  const alternatives =
    type === undefined && Array.isArray(keywords.anyOf)
      ? keywords.anyOf.map((member: unknown) => (Predicate.isObject(member) ? (member as Keywords).type : undefined))
      : Array.isArray(type)
        ? type
        : [type]
  const [only, ...others] = alternatives.filter((alternative) => alternative !== "null")
  return others.length === 0 && (only === "string" || only === "integer" || only === "boolean") ? only : undefined
}

/**
 * The headers of a call, for a client (HDR-06, HDR-12, HDR-13). A value that is absent, `null` or not of a primitive
 * type has none.
 */
export const write = (headers: ReadonlyArray<ParameterHeader>, args: unknown): Record<string, string> => {
  const out: Record<string, string> = {}
  for (const { header, path } of headers) {
    const text = textOf(valueAt(args, path))
    if (text !== undefined) out[header] = HeaderValue.encode(text)
  }
  return out
}

/**
 * Whether the headers of a call say the same as its arguments, for a server (HDR-16 to HDR-18). The reason why not
 * belongs into a `HeaderMismatch` error with HTTP status 400. Arguments of a wrong type are left to the input schema,
 * unless a header claims to mirror them.
 */
export const check = (
  headers: ReadonlyArray<ParameterHeader>,
  args: unknown,
  getHeader: HeaderValue.HeaderLookup
): string | undefined => {
  for (const { header, path } of headers) {
    const problem = compare(header, valueAt(args, path), getHeader)
    if (problem !== undefined) return `Header mismatch: ${problem}`
  }
  return undefined
}

const decimal = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

const compare = (header: string, value: unknown, getHeader: HeaderValue.HeaderLookup): string | undefined => {
  const found = HeaderValue.single(getHeader, header)
  if (Result.isFailure(found)) return found.failure
  const text = textOf(value)
  if (found.success === undefined) {
    return text === undefined ? undefined : `${header} header is missing, but the arguments have its value`
  }
  const decoded = HeaderValue.decode(found.success)
  if (Result.isFailure(decoded)) return `${header} header is not valid, ${decoded.failure}`
  if (text === undefined) return `${header} header is there, but the arguments have no such value`
  if (typeof value === "number" && !Number.isSafeInteger(value)) {
    return `${header} mirrors a number outside the safe range of integers`
  }
  const same =
    typeof value === "number"
      ? decimal.test(decoded.success) && Number(decoded.success) === value
      : decoded.success === text.toWellFormed()
  return same ? undefined : `${header} header value '${decoded.success}' does not match the arguments`
}

const textOf = (value: unknown): string | undefined => {
  if (typeof value === "string") return value
  if (typeof value === "boolean") return String(value)
  // BigInt writes every digit, where String would write an exponent.
  return Number.isInteger(value) ? BigInt(value as number).toString() : undefined
}

/** The value at a path, through own members only; `undefined` when there is none or it is `null`. */
const valueAt = (args: unknown, path: ReadonlyArray<string>): unknown => {
  let value = args
  for (const name of path) {
    if (!Predicate.isObject(value) || !Object.hasOwn(value, name)) return undefined
    value = (value as Keywords)[name]
  }
  return value ?? undefined
}
