/**
 * Where in a JSON Schema other schemas are: what a walk needs to tell a keyword from a property of the same name.
 *
 * @see https://json-schema.org/draft/2020-12/json-schema-core#section-10
 */
import * as Predicate from "effect/Predicate"

/** A JSON Schema that is not `true` or `false`. */
export interface Keywords {
  readonly [keyword: string]: unknown
}

/** Keywords whose value is a schema or a list of schemas; those of draft-07 are among them. */
const schemaKeywords = [
  "items",
  "prefixItems",
  "additionalItems",
  "contains",
  "additionalProperties",
  "unevaluatedItems",
  "unevaluatedProperties",
  "propertyNames",
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "if",
  "then",
  "else",
  "contentSchema"
]

/** Keywords whose value is a map of schemas, apart from `properties`. */
const mapKeywords = ["$defs", "definitions", "patternProperties", "dependentSchemas", "dependencies"]

const isKeywords = (value: unknown): value is Keywords => Predicate.isObject(value)

/** The schemas directly inside a schema, apart from those of `properties`. */
export const subschemas = (schema: Keywords): ReadonlyArray<Keywords> =>
  [
    ...schemaKeywords.flatMap((keyword) => schema[keyword]),
    ...mapKeywords.flatMap((keyword) => (isKeywords(schema[keyword]) ? Object.values(schema[keyword]) : []))
  ].filter(isKeywords)

/** The schemas of `properties`, by name. */
export const propertiesOf = (schema: Keywords): ReadonlyArray<readonly [name: string, schema: Keywords]> =>
  isKeywords(schema.properties)
    ? Object.entries(schema.properties).filter((entry): entry is [string, Keywords] => isKeywords(entry[1]))
    : []

/** The schema with every schema directly inside it replaced. */
export const mapSubschemas = (schema: Keywords, f: (schema: Keywords) => Keywords): Keywords => {
  const one = (value: unknown): unknown => (isKeywords(value) ? f(value) : value)
  const out: { [keyword: string]: unknown } = { ...schema }
  for (const keyword of schemaKeywords) {
    const value = schema[keyword]
    if (value !== undefined) out[keyword] = Array.isArray(value) ? value.map(one) : one(value)
  }
  for (const keyword of [...mapKeywords, "properties"]) {
    const value = schema[keyword]
    if (!isKeywords(value)) continue
    // Built from entries, because a property may be called `__proto__`.
    out[keyword] = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, one(member)]))
  }
  return out
}
