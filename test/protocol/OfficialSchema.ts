/**
 * The official JSON Schema of every revision, as the judge of what our own sides put on the wire.
 *
 * The schemas live beside the repository, in `../shared/spec`. Where they are absent, {@link available} is `false` and
 * the tests that need them are skipped.
 */
import { type Ajv, Ajv as AjvDraft07, type ErrorObject, type ValidateFunction } from "ajv"
import { Ajv2020 } from "ajv/dist/2020.js"
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

/** A JSON object of unknown contents. */
export interface Json {
  readonly [member: string]: unknown
}

/** Where the specification lies as data. */
export const specification = fileURLToPath(new URL("../../../shared/spec/", import.meta.url))

/** Whether it is there. */
export const available = existsSync(`${specification}schema`)

if (!available) console.warn(`Tests against the official schemas are skipped: ${specification} does not exist`)

/** Who sent a message. */
export type Direction = "client" | "server"

/** A revision that has an official schema. */
export type Version = "2024-11-05" | "2025-03-26" | "2025-06-18" | "2025-11-25" | "2026-07-28"

interface Definition extends Json {
  readonly $ref?: string
  readonly anyOf?: ReadonlyArray<Definition>
  readonly properties?: { readonly [name: string]: Definition }
  readonly const?: unknown
  readonly required?: ReadonlyArray<string>
}

interface Official {
  readonly ajv: Ajv
  readonly definitions: { readonly [name: string]: Definition }
  readonly definitionsKey: string
  readonly validators: Map<string, ValidateFunction>
}

/**
 * The generator of the official schemas wrote `integer` for `number`, and lost `null`, where a type is a union of
 * scalars (answers in a form, values in settings). schema.ts, which is normative, has numbers and null.
 */
const repair = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(repair)
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value).map(([key, member]): [string, unknown] => [key, repair(member)])
  const repaired = Object.fromEntries(entries)
  if (JSON.stringify(repaired.type) === '["string","integer","boolean"]') {
    return { ...repaired, type: ["string", "number", "boolean", "null"] }
  }
  return repaired
}

const officials = new Map<string, Official>()

const official = (version: Version): Official => {
  const known = officials.get(version)
  if (known !== undefined) return known
  const schema = repair(JSON.parse(readFileSync(`${specification}schema/${version}.json`, "utf8"))) as Json
  const options = { strict: false, validateFormats: false, allErrors: false }
  const ajv = "$defs" in schema ? new Ajv2020(options) : new AjvDraft07(options)
  ajv.addSchema(schema, version)
  const definitionsKey = "$defs" in schema ? "$defs" : "definitions"
  const loaded: Official = {
    ajv,
    definitions: schema[definitionsKey] as Official["definitions"],
    definitionsKey,
    validators: new Map()
  }
  officials.set(version, loaded)
  return loaded
}

/** Whether the schema of a revision defines a type. */
export const hasType = (version: Version, typeName: string): boolean => typeName in official(version).definitions

const describe = (error: ErrorObject): string =>
  `${error.instancePath === "" ? "/" : error.instancePath} ${error.message}`

/** Checks a value against a named type of a revision. No errors: an empty list. */
export const validate = (version: Version, typeName: string, value: unknown): ReadonlyArray<string> => {
  const { ajv, definitionsKey, validators } = official(version)
  if (!hasType(version, typeName)) return [`${version} has no type ${typeName}`]
  let validator = validators.get(typeName)
  if (validator === undefined) {
    validator = ajv.compile({ $ref: `${version}#/${definitionsKey}/${typeName}` })
    validators.set(typeName, validator)
  }
  // What JSON does not carry, such as members that are undefined, is not on the wire either.
  const wire: unknown = JSON.parse(JSON.stringify(value))
  return validator(wire) ? [] : (validator.errors ?? []).map((error) => `${typeName}: ${describe(error)}`)
}

const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf("/") + 1)

/** The types of a union such as `ClientRequest`; one that has a single member is written out in the schema. */
const members = (version: Version, union: string): ReadonlyArray<string> => {
  const { definitions } = official(version)
  const definition = definitions[union]
  if (definition === undefined) return []
  if (definition.anyOf !== undefined) return definition.anyOf.map((member) => nameOf(member.$ref ?? ""))
  if (definition.$ref !== undefined) return [nameOf(definition.$ref)]
  return [union]
}

const typeOfMethod = (version: Version, union: string, method: string): string | undefined =>
  members(version, union).find((name) => official(version).definitions[name]?.properties?.method?.const === method)

const errorTypes: { readonly [code: number]: string } = {
  [-32020]: "HeaderMismatchError",
  [-32021]: "MissingRequiredClientCapabilityError",
  [-32022]: "UnsupportedProtocolVersionError",
  [-32042]: "URLElicitationRequiredError"
}

const validateAnswer = (version: Version, from: Direction, message: Json, method: string | undefined) => {
  if (version === "2026-07-28" && from === "client") return ["A client sends no answers in 2026-07-28"]
  if ("error" in message) {
    const type = errorTypes[(message.error as { readonly code: number }).code]
    const envelope = hasType(version, "JSONRPCErrorResponse") ? "JSONRPCErrorResponse" : "JSONRPCError"
    return validate(version, type !== undefined && hasType(version, type) ? type : envelope, message)
  }
  const envelope = hasType(version, "JSONRPCResultResponse") ? "JSONRPCResultResponse" : "JSONRPCResponse"
  const errors = validate(version, envelope, message)
  if (errors.length > 0 || method === undefined) return errors
  return validateResult(version, from === "client" ? "server" : "client", method, message.result)
}

/** Checks the result of a method that `asker` called. */
export const validateResult = (
  version: Version,
  asker: Direction,
  method: string,
  result: unknown
): ReadonlyArray<string> => {
  const request = typeOfMethod(version, asker === "client" ? "ClientRequest" : "ServerRequest", method)
  if (request === undefined) return [`${version} has no request ${method} of the ${asker}`]
  const resultType = (result as Json).resultType
  if (version === "2026-07-28" && resultType !== "complete") {
    const mayAsk = ["tools/call", "prompts/get", "resources/read"].includes(method)
    if (resultType !== "input_required" || !mayAsk) return [`${method} has no result of type ${String(resultType)}`]
    return validate(version, "InputRequiredResult", result)
  }
  const type = request.replace(/Request$/, "Result")
  return validate(version, hasType(version, type) ? type : "EmptyResult", result)
}

/**
 * Checks one message against the revision, and that this side may send it at all. An answer is checked more closely
 * when `method` says what it answers.
 */
export const validateMessage = (
  version: Version,
  from: Direction,
  message: unknown,
  method?: string
): ReadonlyArray<string> => {
  if (Array.isArray(message)) {
    if (version !== "2025-03-26") return [`${version} has no batches`]
    return message.flatMap((item) => validateMessage(version, from, item, method))
  }
  const json = message as Json
  if (typeof json.method !== "string") return validateAnswer(version, from, json, method)
  const kind = "id" in json ? "Request" : "Notification"
  const union = `${from === "client" ? "Client" : "Server"}${kind}`
  const type = typeOfMethod(version, union, json.method)
  if (type === undefined) return [`${version} has no ${union} ${json.method}`]
  // The older schemas do not repeat the envelope in the types of the messages.
  return [...validate(version, `JSONRPC${kind}`, json), ...validate(version, type, json)]
}

/** One message of a capture. */
export interface Captured {
  readonly from: Direction
  readonly message: unknown
}

const askedBy = (asker: Direction, id: unknown) => `${asker} ${JSON.stringify(id)}`

/** Checks a whole capture in order, so that answers are checked by the request they answer. */
export const validateTraffic = (version: Version, traffic: ReadonlyArray<Captured>): ReadonlyArray<string> => {
  const methods = new Map<string, string>()
  return traffic.flatMap(({ from, message }, index) => {
    const json = message as Json
    if (typeof json.method === "string" && "id" in json) methods.set(askedBy(from, json.id), json.method)
    const answered = methods.get(askedBy(from === "client" ? "server" : "client", json.id))
    return validateMessage(version, from, message, answered).map((error) => `message ${index}: ${error}`)
  })
}
