/**
 * The part of JSON Schema that a form may use: one flat object of strings, numbers, booleans and choices.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
 */
import * as Schema from "effect/Schema"

const described = {
  title: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String)
}
const strings = Schema.Array(Schema.String)
const optionalString = Schema.optionalKey(Schema.String)
const optionalInteger = Schema.optionalKey(Schema.Int)
const optionalNumber = Schema.optionalKey(Schema.Number)
const titledChoices = Schema.Array(Schema.Struct({ const: Schema.String, title: Schema.String }))

/** A line of text (ELIC-15). */
export const StringSchema = Schema.Struct({
  ...described,
  type: Schema.Literal("string"),
  minLength: optionalInteger,
  maxLength: optionalInteger,
  format: Schema.optionalKey(Schema.Literals(["email", "uri", "date", "date-time"])),
  default: optionalString
})

/** A line of text. */
export type StringSchema = typeof StringSchema.Type

/** A number. */
export const NumberSchema = Schema.Struct({
  ...described,
  type: Schema.Literals(["number", "integer"]),
  minimum: optionalNumber,
  maximum: optionalNumber,
  default: optionalNumber
})

/** A number. */
export type NumberSchema = typeof NumberSchema.Type

/** Yes or no. */
export const BooleanSchema = Schema.Struct({
  ...described,
  type: Schema.Literal("boolean"),
  default: Schema.optionalKey(Schema.Boolean)
})

/** Yes or no. */
export type BooleanSchema = typeof BooleanSchema.Type

/** One of several values. */
export const UntitledSingleSelectEnumSchema = Schema.Struct({
  ...described,
  type: Schema.Literal("string"),
  enum: strings,
  default: optionalString
})

/** One of several values. */
export type UntitledSingleSelectEnumSchema = typeof UntitledSingleSelectEnumSchema.Type

/** One of several values, each with a title (from 2025-11-25). */
export const TitledSingleSelectEnumSchema = Schema.Struct({
  ...described,
  type: Schema.Literal("string"),
  oneOf: titledChoices,
  default: optionalString
})

/** One of several values, each with a title. */
export type TitledSingleSelectEnumSchema = typeof TitledSingleSelectEnumSchema.Type

const multiSelect = {
  ...described,
  type: Schema.Literal("array"),
  minItems: optionalInteger,
  maxItems: optionalInteger,
  default: Schema.optionalKey(strings)
}

/** Some of several values (from 2025-11-25). */
export const UntitledMultiSelectEnumSchema = Schema.Struct({
  ...multiSelect,
  items: Schema.Struct({ type: Schema.Literal("string"), enum: strings })
})

/** Some of several values. */
export type UntitledMultiSelectEnumSchema = typeof UntitledMultiSelectEnumSchema.Type

/** Some of several values, each with a title (from 2025-11-25). */
export const TitledMultiSelectEnumSchema = Schema.Struct({
  ...multiSelect,
  items: Schema.Struct({ anyOf: titledChoices })
})

/** Some of several values, each with a title. */
export type TitledMultiSelectEnumSchema = typeof TitledMultiSelectEnumSchema.Type

/** One of several values; titles are in a list beside. The only way up to 2025-06-18 (ELIC-17). */
export const LegacyTitledEnumSchema = Schema.Struct({
  ...described,
  type: Schema.Literal("string"),
  enum: strings,
  enumNames: Schema.optionalKey(strings),
  default: optionalString
})

/** One of several values; titles are in a list beside. */
export type LegacyTitledEnumSchema = typeof LegacyTitledEnumSchema.Type

/** A choice of any kind (ELIC-16). */
export const EnumSchema = Schema.Union([
  LegacyTitledEnumSchema,
  UntitledSingleSelectEnumSchema,
  TitledSingleSelectEnumSchema,
  UntitledMultiSelectEnumSchema,
  TitledMultiSelectEnumSchema
])

/** A choice of any kind. */
export type EnumSchema = typeof EnumSchema.Type

/** One field of a form. */
export const PrimitiveSchemaDefinition = Schema.Union([
  LegacyTitledEnumSchema,
  UntitledSingleSelectEnumSchema,
  TitledSingleSelectEnumSchema,
  StringSchema,
  NumberSchema,
  BooleanSchema,
  UntitledMultiSelectEnumSchema,
  TitledMultiSelectEnumSchema
])

/** One field of a form. */
export type PrimitiveSchemaDefinition = typeof PrimitiveSchemaDefinition.Type

/** A form: one flat object (ELIC-06). */
export const ElicitationSchema = Schema.Struct({
  $schema: optionalString,
  type: Schema.Literal("object"),
  properties: Schema.Record(Schema.String, PrimitiveSchemaDefinition),
  required: Schema.optionalKey(strings)
})

/** A form. */
export type ElicitationSchema = typeof ElicitationSchema.Type
