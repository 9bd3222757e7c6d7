/**
 * URI templates (RFC 6570, all four levels): parsing, expansion, and the way back from a URI to its variables.
 *
 * A template with known text is typed: `Variables<"file:///{+path}/{name}">` is `"path" | "name"`.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6570
 */
import * as Result from "effect/Result"
import { type Token, compile, matchTokens } from "./UriTemplateMatcher.ts"

/** The character after `{` that picks how an expression expands; `""` is simple expansion (RFC 6570, section 2.2). */
export type Operator = "" | "+" | "#" | "." | "/" | ";" | "?" | "&"

/** One variable of an expression, with its modifier (RFC 6570, section 2.4). */
export interface VariableSpecification {
  readonly name: string
  /** Written `name*`: every member of a list or map stands on its own. */
  readonly explode: boolean
  /** Written `name:3`: only this many characters (code points) of the value are used. */
  readonly prefix: number | undefined
}

/** A piece of a template: text that stands for itself, or an expression between braces. */
export type Part =
  | { readonly _tag: "Literal"; readonly text: string }
  | {
      readonly _tag: "Expression"
      readonly operator: Operator
      readonly variables: ReadonlyArray<VariableSpecification>
    }

/** A parsed template. Make one with {@link parse}. */
export interface UriTemplate {
  /** The text it was parsed from. */
  readonly template: string
  readonly parts: ReadonlyArray<Part>
  /** Names of the variables in order of appearance, each once. */
  readonly variables: ReadonlyArray<string>
  /** The parts as the matcher reads them. */
  readonly tokens: ReadonlyArray<Token>
}

/** What can be put in the place of a variable. `undefined`, `null` and empty lists and maps expand to nothing. */
export type Value =
  | string
  | number
  | boolean
  | null
  | undefined
  | ReadonlyArray<string | number | boolean | null | undefined>
  | { readonly [key: string]: string | number | boolean | null | undefined }

/** Values by variable name. */
export interface Values {
  readonly [name: string]: Value
}

/** What {@link match} read from a URI, percent-decoded. Exploded variables are lists; absent variables are left out. */
export interface Match {
  readonly [name: string]: string | ReadonlyArray<string>
}

/** Why a URI could not be read at all. It is the caller's mistake, to be answered with `-32602`. */
export interface MatchFailure {
  /** `malformed`: broken percent-encoding. `too-long`: more than `maxLength` characters. */
  readonly reason: "malformed" | "too-long"
  readonly message: string
}

type OperatorCharacter = Exclude<Operator, "">

type Expressions<Template extends string> = Template extends `${string}{${infer Expression}}${infer Rest}`
  ? Expression | Expressions<Rest>
  : never

type Split<List extends string> = List extends `${infer Head},${infer Tail}` ? Head | Split<Tail> : List

type Specifications<Expression extends string> = Expression extends `${OperatorCharacter}${infer List}`
  ? Split<List>
  : Split<Expression>

// Only the first variable of `{a,b}` and `{+a,b}` can't be missing from a URI that matches.
type Required<Expression extends string> = Expression extends `${Exclude<OperatorCharacter, "+">}${string}`
  ? never
  : Expression extends `+${infer List}`
    ? First<List>
    : First<Expression>

type First<List extends string> = List extends `${infer Head},${string}` ? Head : List

type Name<Specification extends string> = Specification extends `${infer Bare}*`
  ? Bare
  : Specification extends `${infer Bare}:${string}`
    ? Bare
    : Specification

type MatchedValue<Specification extends string> = Specification extends `${string}*` ? ReadonlyArray<string> : string

/** The names of the variables of a template, from its text. Plain `string` when the text is not known to the compiler. */
export type Variables<Template extends string> = string extends Template
  ? string
  : Name<Specifications<Expressions<Template>>>

/** What {@link match} finds for a template, from its text: which variables are there, and which are lists. */
export type MatchOf<Template extends string> = string extends Template
  ? Match
  : {
      readonly [Specification in Required<Expressions<Template>> as Name<Specification>]: MatchedValue<Specification>
    } & {
      readonly [
        Specification in Exclude<
          Specifications<Expressions<Template>>,
          Required<Expressions<Template>>
        > as Name<Specification>
      ]?: MatchedValue<Specification>
    }

const maximumExpressions = 256
const operatorCharacters = new Set(["+", "#", ".", "/", ";", "?", "&"])
const reservedOperators = new Set(["=", ",", "!", "@", "|"])
// oxlint-disable-next-line no-control-regex
const forbiddenLiteral = /[\u0000-\u0020\u007f"<>\\^`|}]|%(?![0-9A-Fa-f]{2})/
const variableName = /^(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*$/
const prefixLength = /^[1-9][0-9]{0,3}$/

/**
 * Parses a template. The error of a malformed one says what is wrong and at which character, counted from 0.
 * At most 256 expressions.
 */
export const parse = (template: string): Result.Result<UriTemplate, string> => {
  const parts: Array<Part> = []
  let position = 0
  while (position < template.length) {
    const open = template.indexOf("{", position)
    const text = template.slice(position, open === -1 ? template.length : open)
    const bad = forbiddenLiteral.exec(text)
    if (bad !== null) {
      return Result.fail(
        `Character ${JSON.stringify(bad[0])} is not allowed at ${position + bad.index} of "${template}"`
      )
    }
    if (text !== "") parts.push({ _tag: "Literal", text })
    if (open === -1) break
    const close = template.indexOf("}", open)
    if (close === -1) return Result.fail(`The expression at ${open} of "${template}" is never closed`)
    const expression = parseExpression(template.slice(open + 1, close))
    if (Result.isFailure(expression)) {
      return Result.fail(`${expression.failure} in the expression at ${open} of "${template}"`)
    }
    parts.push(expression.success)
    position = close + 1
  }
  const expressions = parts.filter((part) => part._tag === "Expression")
  if (expressions.length > maximumExpressions) {
    return Result.fail(`A template has at most ${maximumExpressions} expressions, this one has ${expressions.length}`)
  }
  const names = new Set(expressions.flatMap((part) => part.variables.map((variable) => variable.name)))
  return Result.succeed({ template, parts, variables: [...names], tokens: compile(parts) })
}

const parseExpression = (source: string): Result.Result<Part & { readonly _tag: "Expression" }, string> => {
  const first = source.charAt(0)
  if (reservedOperators.has(first)) return Result.fail(`Operator "${first}" is reserved`)
  const operator = operatorCharacters.has(first) ? (first as OperatorCharacter) : ""
  const variables: Array<VariableSpecification> = []
  for (const specification of source.slice(operator.length).split(",")) {
    const explode = specification.endsWith("*")
    const bare = explode ? specification.slice(0, -1) : specification
    const colon = bare.indexOf(":")
    const name = colon === -1 ? bare : bare.slice(0, colon)
    if (!variableName.test(name)) return Result.fail(`"${specification}" does not name a variable`)
    if (colon === -1) {
      variables.push({ name, explode, prefix: undefined })
      continue
    }
    const prefix = bare.slice(colon + 1)
    if (explode) return Result.fail(`"${specification}" can't have both a length and "*"`)
    if (!prefixLength.test(prefix)) return Result.fail(`"${specification}" needs a length from 1 to 9999`)
    variables.push({ name, explode, prefix: Number(prefix) })
  }
  return Result.succeed({ _tag: "Expression", operator, variables })
}

/** The names of the variables of a template, in order of appearance, each once. */
export const variables = (template: UriTemplate): ReadonlyArray<string> => template.variables

/**
 * Reads the variables out of a URI.
 *
 * Succeeds with `undefined` when the URI is simply not one of this template. Values come back percent-decoded; `+` stays
 * `+`. `{path}` never takes a raw `/`, `?` or `#`; `{+path}` does, leaving `?` and `#` to a later `{?…}` or `{#…}`.
 * Where a URI can be read in more than one way, earlier variables take as much as they can.
 * The first variable of `{…}` and `{+…}` takes at least one character; variables of the other operators may be absent.
 * Parameters of `{?…}` and `{&…}` may come in any order. Literal text is compared after normalising percent-encoding
 * (RFC 3986, section 6.2.2). Time and memory are linear in the length of the URI.
 *
 * @param options.maxLength longest URI that is looked at, in characters. Default: 65,536
 */
export const match = (
  template: UriTemplate,
  uri: string,
  options?: { readonly maxLength?: number | undefined }
): Result.Result<Match | undefined, MatchFailure> => {
  const maxLength = options?.maxLength ?? 65_536
  if (uri.length > maxLength) {
    return Result.fail({ reason: "too-long", message: `The URI has more than ${maxLength} characters` })
  }
  return Result.mapError(matchTokens(template.tokens, uri), (reason): MatchFailure => ({
    reason,
    message: "The URI has malformed percent-encoding"
  }))
}

export { expand } from "./UriTemplateExpansion.ts"
