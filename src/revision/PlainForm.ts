/**
 * Forms as 2025-06-18 has them: fields of one value each, titles of choices in a list beside them, and no defaults but
 * that of a yes or no (ELIC-14, ELIC-16, ELIC-17).
 */
import type { ElicitRequestParams, ElicitResult } from "../protocol/Elicitation.ts"
import type { ElicitationSchema, PrimitiveSchemaDefinition } from "../protocol/ElicitationSchema.ts"
import { mapMember, without } from "./Rewrite.ts"
import type { Refuse, Spell } from "./Spelling.ts"

const field: Spell<PrimitiveSchemaDefinition> = (definition) => {
  if (definition.type === "boolean") return definition
  if (!("oneOf" in definition)) return without(definition, ["default"])
  const enumNames = definition.oneOf.map(({ title }) => title)
  return {
    ...without(definition, ["default", "oneOf"]),
    enum: definition.oneOf.map((choice) => choice.const),
    enumNames
  }
}

const form: Spell<ElicitationSchema> = (schema) =>
  mapMember(without(schema, ["$schema"]), "properties", (properties) =>
    Object.fromEntries(Object.entries(properties).map(([name, definition]) => [name, field(definition)]))
  )

/** Spells a form. A page to visit stays as it is: {@link refuseElicitParams} does not let it get here. */
export const elicitParams: Spell<ElicitRequestParams> = (params) =>
  params.mode === "url" ? params : mapMember(without(params, ["mode"]), "requestedSchema", form)

/** Pages to visit and fields of several values came with 2025-11-25. */
export const refuseElicitParams: Refuse<ElicitRequestParams> = (params) => {
  if (params.mode === "url") return "Asking the user to visit a page is not in this revision of the protocol"
  const fields = Object.entries(params.requestedSchema.properties)
  const several = fields.find(([, definition]) => definition.type === "array")
  return several === undefined
    ? undefined
    : `The field ${JSON.stringify(several[0])} takes several values, which forms in this revision of the protocol can't`
}

/** An answer has one value in each field. */
export const refuseElicitResult: Refuse<ElicitResult> = ({ content = {} }) => {
  const several = Object.entries(content).find(([, value]) => Array.isArray(value))
  return several === undefined
    ? undefined
    : `The field ${JSON.stringify(several[0])} holds several values, which forms in this revision of the protocol can't`
}
