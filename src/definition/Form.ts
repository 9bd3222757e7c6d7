/**
 * Turns a schema into the flat form that an elicitation may ask for: an object of strings, numbers, booleans and
 * choices, and nothing else (ELIC-06, ELIC-15, ELIC-16).
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type { Members } from "../protocol/JsonRpc.ts"
import * as JsonSchema from "../protocol/JsonSchema.ts"

/** A form in the specification's restricted JSON Schema. */
export interface Form {
  readonly type: "object"
  readonly properties: { readonly [name: string]: Members }
  readonly required?: ReadonlyArray<string>
}

const keywords: { readonly [type: string]: ReadonlyArray<string> } = {
  string: ["minLength", "maxLength", "format", "enum", "oneOf", "enumNames", "default"],
  number: ["minimum", "maximum", "default"],
  integer: ["minimum", "maximum", "default"],
  boolean: ["default"],
  array: ["minItems", "maxItems", "default"]
}

const formats = new Set(["email", "uri", "date", "date-time"])

/** The form of a schema, or what in it a form can't ask for. */
export const fromSchema = (schema: Schema.Top): Result.Result<Form, string> => {
  const document = JsonSchema.fromSchema(schema, { root: "object" })
  if (Result.isFailure(document)) return Result.fail(document.failure)
  const properties: { [name: string]: Members } = {}
  const fields = (document.success.properties ?? {}) as { readonly [name: string]: Members }
  for (const [name, field] of Object.entries(fields)) {
    const primitive = primitiveOf(field)
    if (primitive === undefined) {
      return Result.fail(`"${name}" is neither a string, a number, a boolean nor a choice of strings`)
    }
    properties[name] = primitive
  }
  const required = document.success.required as ReadonlyArray<string> | undefined
  return Result.succeed({
    type: "object",
    properties,
    ...(required !== undefined && required.length > 0 && { required })
  })
}

const primitiveOf = (field: Members): Members | undefined => {
  const { allOf, anyOf, ...rest } = field
  const merged: Members = Object.assign({}, ...(Array.isArray(allOf) ? allOf : []), rest)
  if (Array.isArray(anyOf)) return choiceOf(merged, anyOf)
  const type = merged.type
  const allowed = typeof type === "string" ? keywords[type] : undefined
  if (allowed === undefined) return undefined
  const primitive: { [keyword: string]: unknown } = { type }
  for (const keyword of ["title", "description", ...allowed]) {
    if (merged[keyword] !== undefined) primitive[keyword] = merged[keyword]
  }
  if (type === "array") {
    const items = choicesOf(merged.items)
    if (items === undefined) return undefined
    primitive.items = items
  }
  if (primitive.format !== undefined && !formats.has(primitive.format as string)) delete primitive.format
  return primitive
}

/** A union is a form field when it is one of: a choice of titled constants, or a field that may be left out. */
const choiceOf = (outer: Members, members: ReadonlyArray<Members>): Members | undefined => {
  const present = members.filter((member) => member.type !== "null")
  const [only] = present
  if (present.length === 1 && only !== undefined) return primitiveOf({ ...only, ...outer })
  const constants = present.map(constantOf)
  if (!constants.every(Predicate.isNotUndefined)) return undefined
  const titled = constants.some((constant) => constant.title !== undefined)
  return primitiveOf({
    ...outer,
    type: "string",
    ...(titled
      ? { oneOf: constants.map(({ title, value }) => ({ const: value, title: title ?? value })) }
      : { enum: constants.map(({ value }) => value) })
  })
}

const constantOf = (member: Members): { readonly value: string; readonly title?: unknown } | undefined => {
  const value = member.const ?? (Array.isArray(member.enum) && member.enum.length === 1 ? member.enum[0] : undefined)
  return typeof value === "string" ? { value, ...(member.title !== undefined && { title: member.title }) } : undefined
}

/** What each element of a list is chosen from; titled choices are `anyOf` here, where a field of its own has `oneOf`. */
const choicesOf = (items: unknown): Members | undefined => {
  const choice = Predicate.isObject(items) ? primitiveOf(items as Members) : undefined
  if (choice?.oneOf !== undefined) return { anyOf: choice.oneOf }
  return choice?.enum === undefined ? undefined : { type: "string", enum: choice.enum }
}
