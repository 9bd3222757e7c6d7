/**
 * Matching of URIs against templates, in time linear in the URI.
 *
 * A template is compiled to a row of tokens. For each token, from the last to the first, one sweep over the URI marks
 * the positions from which the rest of the row can reach the end. Then one walk forwards reads the values. There is no
 * regular expression that could backtrack, so no URI takes longer than its length.
 */
import * as Result from "effect/Result"
import type { Part, VariableSpecification } from "./UriTemplate.ts"

/** One step of matching. */
export type Token = LiteralToken | ValueToken | ParametersToken

/** Text that must stand there, in normalised percent-encoding. */
interface LiteralToken {
  readonly _tag: "Literal"
  readonly text: string
}

/** A run of characters, after a prefix that belongs to the operator. */
interface Run {
  readonly prefix: string
  /** Characters that end the run. */
  readonly stops: string
  readonly optional: boolean
  /** Fewest characters after the prefix. */
  readonly minimum: 0 | 1
  /** Whether it takes as few characters as it can, so that labels go to the variables in order. */
  readonly lazy: boolean
}

/** The value of one variable. */
interface ValueToken extends Run {
  readonly _tag: "Value"
  readonly variable: VariableSpecification
  /** What stands between the members of an exploded variable. */
  readonly separator: string
}

/** The `name=value` pairs of `{;…}`, `{?…}` and `{&…}`; expressions that follow each other share one token. */
interface ParametersToken extends Run {
  readonly _tag: "Parameters"
  readonly variables: ReadonlyArray<VariableSpecification>
  readonly separator: string
}

/** Compiles parts to tokens. */
export const compile = (parts: ReadonlyArray<Part>): ReadonlyArray<Token> => {
  const tokens: Array<Token> = []
  for (const [index, part] of parts.entries()) {
    if (part._tag === "Literal") {
      tokens.push({ _tag: "Literal", text: normalise(part.text) })
      continue
    }
    const { operator, variables } = part
    if (operator === ";" || operator === "?" || operator === "&") {
      const separator = operator === ";" ? ";" : "&"
      const previous = tokens.at(-1)
      if (previous?._tag === "Parameters" && previous.separator === separator && operator !== "?") {
        tokens[tokens.length - 1] = { ...previous, variables: [...previous.variables, ...variables] }
      } else {
        const stops = operator === ";" ? "/?#" : "#"
        const run: Run = { prefix: operator, stops, optional: true, minimum: 1, lazy: false }
        tokens.push({ _tag: "Parameters", ...run, variables, separator })
      }
      continue
    }
    const path = operator === "." || operator === "/"
    const separator = path ? operator : ","
    const reserved = operator === "+" || operator === "#"
    const later = parts.slice(index + 1)
    for (const [position, variable] of variables.entries()) {
      const prefix = position > 0 ? separator : operator === "" || operator === "+" ? "" : operator
      const stops =
        (reserved ? stopsBefore(later) : operator === "/" && variable.explode ? "?#" : "/?#") +
        (variables.length > 1 && !path && !variable.explode ? "," : "")
      tokens.push({
        _tag: "Value",
        prefix,
        stops,
        optional: prefix !== "",
        minimum: prefix === "" ? 1 : 0,
        lazy: operator === ".",
        variable,
        separator
      })
    }
  }
  return tokens
}

/** `{+path}` leaves the query and the fragment alone when the template has its own expression for them. */
const stopsBefore = (parts: ReadonlyArray<Part>): string =>
  ["?", "#"].filter((stop) => parts.some((part) => part._tag === "Expression" && part.operator === stop)).join("")

/** Matches a whole URI: the values, `undefined` when it is not one of this template, or why it can't be read. */
export const matchTokens = (
  tokens: ReadonlyArray<Token>,
  uri: string
): Result.Result<Match | undefined, "malformed"> => {
  if (!uri.isWellFormed()) return Result.fail("malformed")
  const text = normalise(uri)
  const head = tokens[0]
  const last = tokens.at(-1)
  if (head?._tag === "Literal" && !text.startsWith(head.text)) return Result.succeed(undefined)
  if (last?._tag === "Literal" && !text.endsWith(last.text)) return Result.succeed(undefined)
  const rows = sweep(tokens, text)
  return rows[0]?.any[0] === 1 ? readValues(tokens, text, rows) : Result.succeed(undefined)
}

type Match = { readonly [name: string]: string | ReadonlyArray<string> }

/** Where a token can start so that it and all later ones match exactly the rest of the text: 1 at those positions. */
interface Row {
  readonly any: Uint8Array
  /** The same, without the positions where it only matches by being absent. */
  readonly present: Uint8Array
}

const sweep = (tokens: ReadonlyArray<Token>, text: string): ReadonlyArray<Row> => {
  const size = text.length + 1
  const end = new Uint8Array(size)
  end[text.length] = 1
  const rows: Array<Row> = [{ any: end, present: end }]
  for (const token of tokens.toReversed()) {
    const next = (rows.at(-1) as Row).any
    const present = new Uint8Array(size)
    if (token._tag === "Literal") {
      const length = token.text.length
      for (let position = text.length - length; position >= 0; position--) {
        if (next[position + length] === 1 && text.startsWith(token.text, position)) present[position] = 1
      }
    } else {
      sweepRun(token, text, next, present)
    }
    const optional = token._tag !== "Literal" && token.optional
    rows.push({ any: optional ? present.map((mark, position) => mark | (next[position] ?? 0)) : present, present })
  }
  return rows.toReversed()
}

const sweepRun = (run: Run, text: string, next: Uint8Array, present: Uint8Array): void => {
  const stops = new Set(run.stops)
  const length = run.prefix.length
  // Whether a run of one character or more can start at the position after this one.
  let reaches = false
  for (let position = text.length; position >= 0; position--) {
    const stopped = position === text.length || stops.has(text.charAt(position))
    reaches = !stopped && (reaches || next[position + 1] === 1)
    const ends = reaches || (run.minimum === 0 && next[position] === 1)
    if (ends && position >= length && text.startsWith(run.prefix, position - length)) present[position - length] = 1
  }
}

const readValues = (
  tokens: ReadonlyArray<Token>,
  text: string,
  rows: ReadonlyArray<Row>
): Result.Result<Match | undefined, "malformed"> => {
  const found = new Map<string, string | ReadonlyArray<string>>()
  let position = 0
  for (const [index, token] of tokens.entries()) {
    if (token._tag === "Literal") {
      position += token.text.length
      continue
    }
    const next = rows[index + 1] as Row
    // An optional neighbour goes first: `{name}{.extension}` reads both from "a.txt".
    const end = endOfRun(token, text, position, next.present) ?? endOfRun(token, text, position, next.any)
    if (end === undefined) continue
    const raw = text.slice(position + token.prefix.length, end)
    position = end
    const pairs = token._tag === "Value" ? readValue(token, raw) : readParameters(token, raw)
    if (pairs === "malformed") return Result.fail(pairs)
    if (pairs === undefined) return Result.succeed(undefined)
    for (const [name, value] of pairs) {
      const known = found.get(name)
      if (known !== undefined && !agree(known, value)) return Result.succeed(undefined)
      if (known === undefined || known.length < value.length) found.set(name, value)
    }
  }
  return Result.succeed(Object.fromEntries(found))
}

/** Where a run ends that starts with its prefix at `start`; `undefined` when the run is absent. */
const endOfRun = (run: Run, text: string, start: number, next: Uint8Array): number | undefined => {
  if (!text.startsWith(run.prefix, start)) return undefined
  const stops = new Set(run.stops)
  const begin = start + run.prefix.length
  let end: number | undefined
  for (let position = begin; position <= text.length; position++) {
    if (next[position] === 1 && position >= begin + run.minimum) {
      end = position
      if (run.lazy) break
    }
    if (stops.has(text.charAt(position))) break
  }
  return end
}

type Pairs = ReadonlyArray<readonly [name: string, value: string | ReadonlyArray<string>]>

const readValue = (token: ValueToken, raw: string): Pairs | "malformed" | undefined => {
  const { explode, name, prefix } = token.variable
  const values = (explode ? raw.split(token.separator) : [raw]).map(decode)
  if (values.some((value) => value === undefined)) return "malformed"
  const decoded = values as ReadonlyArray<string>
  if (explode) return [[name, decoded]]
  const value = decoded[0] as string
  return prefix !== undefined && [...value].length > prefix ? undefined : [[name, value]]
}

const readParameters = (token: ParametersToken, raw: string): Pairs | "malformed" | undefined => {
  const lists = new Map<string, Array<string>>()
  for (const pair of raw.split(token.separator)) {
    const equals = pair.indexOf("=")
    const name = equals === -1 ? pair : pair.slice(0, equals)
    const variable = token.variables.find((candidate) => candidate.name === name)
    if (variable === undefined) return undefined
    const value = decode(equals === -1 ? "" : pair.slice(equals + 1))
    if (value === undefined) return "malformed"
    if (variable.prefix !== undefined && [...value].length > variable.prefix) return undefined
    const list = lists.get(name)
    if (list === undefined) lists.set(name, [value])
    else if (variable.explode) list.push(value)
    else return undefined
  }
  return token.variables.flatMap(({ explode, name }) => {
    const list = lists.get(name)
    return list === undefined ? [] : [[name, explode ? list : (list[0] as string)] as const]
  })
}

/** A variable that stands twice has one value, of which `{name:3}` may show only the beginning. */
const agree = (one: string | ReadonlyArray<string>, other: string | ReadonlyArray<string>): boolean =>
  typeof one === "string" && typeof other === "string"
    ? one.startsWith(other) || other.startsWith(one)
    : JSON.stringify(one) === JSON.stringify(other)

const decode = (raw: string): string | undefined => {
  if (!raw.includes("%")) return raw
  try {
    return decodeURIComponent(raw)
  } catch {
    return undefined
  }
}

/**
 * Percent-encoding in one spelling: upper-case digits, unreserved characters bare, everything that is not ASCII encoded.
 * Broken triplets stay, to be found when their value is decoded.
 */
const normalise = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[^\0-\u007f]+/g, encodeURIComponent)
    .replace(/%[0-9A-Fa-f]{2}/g, (triplet) => {
      const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16))
      return /[A-Za-z0-9\-._~]/.test(character) ? character : triplet.toUpperCase()
    })
