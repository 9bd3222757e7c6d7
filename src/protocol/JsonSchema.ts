/**
 * From an Effect schema to the JSON Schema (2020-12) that MCP publishes as `inputSchema` or `outputSchema`.
 *
 * It describes the encoded side of {@link JsonCodec.make}, so what is published is what is decoded.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#json-schema-usage
 */
import type * as JsonSchema from "effect/JsonSchema"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as JsonCodec from "./JsonCodec.ts"
import { type Keywords, mapSubschemas, propertiesOf, subschemas } from "./JsonSchemaKeywords.ts"

/** How {@link fromSchema} writes a schema. */
export interface Options {
  /**
   * `"object"` for what has to describe an object, such as the arguments of a tool: the root says `type: "object"`, or
   * the schema is refused. `"any"` takes every schema. Default: `"any"`
   */
  readonly root?: "object" | "any" | undefined
  /**
   * What the schema says about properties that it does not name: `"ignore"` leaves objects open, as decoding does by
   * default; `"error"` writes `additionalProperties: false`. Default: `"ignore"`
   */
  readonly onExcessProperty?: "ignore" | "error" | undefined
  /**
   * Writes schemas with an identifier where they are used, for peers that drop `$defs`. Recursive ones stay in `$defs`.
   * Default: `false`
   */
  readonly inline?: boolean | undefined
}

/** The schema of the arguments of a tool that takes none. */
export const emptyObject: Keywords = { type: "object", properties: {}, additionalProperties: false }

/**
 * The JSON Schema of the encoded side of a schema.
 *
 * - The root is never a bare `$ref`; every `$ref` is local and resolves through the `$defs` of the same schema.
 * - A union of objects has `type: "object"` beside its `anyOf`, whatever the options.
 * - A property that may be absent is not `required`; one that may be `null` says so. `Schema.optional` is the former.
 * - With `root: "object"`, a struct without fields is {@link emptyObject}.
 * - Annotations whose key starts with `x-` are written as keywords.
 *
 * Fails, with the reason, when the schema has no JSON form or the root can't be what the options ask for.
 */
export const fromSchema = (schema: Schema.Constraint, options?: Options): Result.Result<Keywords, string> => {
  let document: JsonSchema.Document<"draft-2020-12">
  try {
    document = Schema.toJsonSchemaDocument(JsonCodec.make(schema), {
      includeAnnotationKey: (key) => key.startsWith("x-"),
      onExcessProperty: options?.onExcessProperty ?? "ignore",
      // Recursive schemas get a reference whatever the policy says.
      ...(options?.inline === true && { referencePolicy: () => undefined })
    })
  } catch (error) {
    return Result.fail(error instanceof Error ? error.message : String(error))
  }
  const definitions: Definitions = new Map(Object.entries(document.definitions))
  const root = inlineRoot(document.schema, definitions)
  if (options?.root === "object" && isEmptyStruct(root)) {
    return Result.succeed({ ...tidy(root), ...emptyObject })
  }
  const [merged, tidied] = mergeDefinitions(
    tidy(root),
    new Map([...definitions].map(([name, definition]) => [name, tidy(definition)]))
  )
  const described = withObjectType(merged, tidied)
  if (options?.root === "object" && described.type !== "object") {
    // `{}`, which allows everything, allows every object.
    if (Object.keys(described).some((keyword) => !isAnnotation(keyword))) {
      return Result.fail(`The root has to be an object, but it is ${summary(described)}`)
    }
    return Result.succeed({ type: "object", ...described })
  }
  return Result.succeed(withDefinitions(described, tidied))
}

/** Whether the root says that every value is an object, which revisions before 2026-07-28 ask of an output schema. */
export const isObjectRooted = (schema: Keywords): boolean => schema.type === "object"

type Definitions = ReadonlyMap<string, Keywords>

/** The name of the definition that a schema refers to. Names are JSON Pointer tokens in a URI fragment. */
const referenceOf = (schema: Keywords): string | undefined => {
  const { $ref } = schema
  if (typeof $ref !== "string" || !$ref.startsWith("#/$defs/")) return undefined
  return decodeURIComponent($ref.slice("#/$defs/".length)).replace(/~1/g, "/").replace(/~0/g, "~")
}

const referenceTo = (name: string): string =>
  `#/$defs/${encodeURIComponent(name.replace(/~/g, "~0").replace(/\//g, "~1"))}`

const definitionOf = (schema: Keywords, definitions: Definitions): Keywords | undefined => {
  const name = referenceOf(schema)
  return name === undefined ? undefined : definitions.get(name)
}

/** A root that only points elsewhere is replaced by what it points to. */
const inlineRoot = (root: Keywords, definitions: Definitions): Keywords => {
  const seen = new Set<Keywords>()
  let current = root
  while (Object.keys(current).length === 1 && !seen.has(current)) {
    seen.add(current)
    const target = definitionOf(current, definitions)
    if (target === undefined) break
    current = target
  }
  return current
}

/** How Effect writes a struct without fields: it takes whatever is not `null`. */
const isEmptyStruct = (schema: Keywords): boolean =>
  Predicate.isObject(schema.not) &&
  (schema.not as Keywords).type === "null" &&
  Object.keys(schema).every((keyword) => keyword === "not" || isAnnotation(keyword))

const annotationKeywords = new Set(["title", "description", "default", "examples", "readOnly", "writeOnly"])
const isAnnotation = (keyword: string) => annotationKeywords.has(keyword) || keyword.startsWith("x-")

/** Keywords that mean the same in an `allOf` member as beside it. */
const movable = new Set([
  "type",
  "format",
  "pattern",
  "multipleOf",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "uniqueItems",
  "minProperties",
  "maxProperties"
])

/** The same schema in fewer words: a keyword that says nothing is left out, `allOf` is merged where that changes nothing. */
const tidy = (schema: Keywords): Keywords => {
  if (isEmptyStruct(schema)) {
    const { not: _, ...annotations } = schema
    return { type: "object", ...annotations }
  }
  const { additionalProperties, allOf, ...rest } = mapSubschemas(schema, tidy)
  const out: { [keyword: string]: unknown } = rest
  // What every integer of a JavaScript peer keeps to need not be said.
  if (out.minimum === Number.MIN_SAFE_INTEGER) delete out.minimum
  if (out.maximum === Number.MAX_SAFE_INTEGER) delete out.maximum
  if (additionalProperties !== undefined && additionalProperties !== true) {
    out.additionalProperties = additionalProperties
  }
  if (!Array.isArray(allOf)) return allOf === undefined ? out : { ...out, allOf }
  const kept = (allOf as ReadonlyArray<unknown>).filter((member) => {
    // Of two descriptions the later is the outer one: that of the property, not of its type.
    const merges =
      Predicate.isObject(member) &&
      out.$ref === undefined &&
      Object.keys(member).every((keyword) => isAnnotation(keyword) || (movable.has(keyword) && !(keyword in out)))
    if (merges) Object.assign(out, member)
    return !merges
  })
  return kept.length === 0 ? out : { ...out, allOf: kept }
}

const withObjectType = (schema: Keywords, definitions: Definitions): Keywords =>
  schema.type === undefined && isObject(schema, definitions, new Set()) ? { type: "object", ...schema } : schema

/** Whether every value of a schema is an object. */
const isObject = (schema: unknown, definitions: Definitions, seen: ReadonlySet<unknown>): boolean => {
  if (!Predicate.isObject(schema) || seen.has(schema)) return false
  const keywords = schema as Keywords
  if (keywords.type !== undefined) return keywords.type === "object"
  const next = new Set(seen).add(schema)
  const recur = (member: unknown) => isObject(member, definitions, next)
  const { allOf, anyOf, oneOf } = keywords
  return (
    recur(definitionOf(keywords, definitions)) ||
    (Array.isArray(allOf) && allOf.some(recur)) ||
    [anyOf, oneOf].some((members) => Array.isArray(members) && members.length > 0 && members.every(recur))
  )
}

/** Definitions that say the same become one: a schema used both as required and as optional comes out twice. */
const mergeDefinitions = (root: Keywords, definitions: Definitions): readonly [Keywords, Definitions] => {
  const kept = new Map<string, Keywords>()
  const byText = new Map<string, string>()
  const renamed = new Map<string, string>()
  for (const [name, definition] of definitions) {
    const text = JSON.stringify(definition)
    const same = byText.get(text)
    if (same !== undefined) {
      renamed.set(name, same)
      continue
    }
    byText.set(text, name)
    kept.set(name, definition)
  }
  if (renamed.size === 0) return [root, definitions]
  const rename = (schema: Keywords): Keywords => {
    const out = mapSubschemas(schema, rename)
    const target = renamed.get(referenceOf(out) ?? "")
    return target === undefined ? out : { ...out, $ref: referenceTo(target) }
  }
  return mergeDefinitions(rename(root), new Map([...kept].map(([name, definition]) => [name, rename(definition)])))
}

/** Adds the definitions that the schema leads to, and no others. */
const withDefinitions = (schema: Keywords, definitions: Definitions): Keywords => {
  const used = new Map<string, Keywords>()
  const visit = (current: Keywords): void => {
    const key = referenceOf(current)
    const target = definitionOf(current, definitions)
    if (key !== undefined && target !== undefined && !used.has(key)) {
      used.set(key, target)
      visit(target)
    }
    subschemas(current).forEach(visit)
    for (const [, property] of propertiesOf(current)) visit(property)
  }
  visit(schema)
  return used.size === 0 ? schema : { ...schema, $defs: Object.fromEntries(used) }
}

const summary = (schema: Keywords): string => {
  const text = JSON.stringify(schema)
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
