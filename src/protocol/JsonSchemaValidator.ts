/**
 * Validation of values against JSON Schemas that a peer sent: 2020-12, or draft-07 when `$schema` says so (JSCH-03,
 * JSCH-04). Such a schema is not trusted: its size and the work it can cause are bounded, and nothing is ever fetched.
 *
 * The validator behind it is loaded on first use.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#json-schema-usage
 */
import type { Ajv, ErrorObject, Options as AjvOptions } from "ajv"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { McpError } from "./McpError.ts"
import type { Keywords } from "./JsonSchemaKeywords.ts"
import * as JsonSchemaCost from "./JsonSchemaCost.ts"

/** Says what is wrong with a value: `undefined` when nothing is. The first problem only. Never throws. */
export type Validator = (value: unknown) => string | undefined

/** Compiled validators of one owner, by identity of the schema. Make one with {@link makeCache}. */
export interface Cache {
  readonly validators: WeakMap<object, Validator>
  readonly engines: Map<Dialect, Ajv>
}

/** How {@link compileValidator} works. */
export interface Options extends JsonSchemaCost.Limits {
  /** Where compiled validators are kept. Default: nowhere */
  readonly cache?: Cache | undefined
}

type Dialect = "2020-12" | "draft-07"

const dialects: { readonly [uri: string]: Dialect } = {
  "https://json-schema.org/draft/2020-12/schema": "2020-12",
  "http://json-schema.org/draft/2020-12/schema": "2020-12",
  "http://json-schema.org/draft-07/schema": "draft-07",
  "https://json-schema.org/draft-07/schema": "draft-07"
}

/** A cache that lives as long as its owner, such as a client. A schema that is no longer used is forgotten. */
export const makeCache = (): Cache => ({ validators: new WeakMap(), engines: new Map() })

/**
 * Compiles a JSON Schema. `format` is an annotation and is not checked.
 *
 * Fails with `Unsupported` for a dialect other than 2020-12 and draft-07, and where code can't be generated; with
 * `LimitExceeded` for a schema that is too large or would cost too much (JSCH-09); with `DecodeFailure` for a schema that
 * is not valid or has a `$ref` that leads out of it (JSCH-06, JSCH-08).
 */
export const compileValidator = Effect.fnUntraced(function* (
  schema: unknown,
  options: Options = {}
): Effect.fn.Return<Validator, McpError> {
  if (typeof schema === "boolean") return () => (schema ? undefined : "no value is allowed")
  if (!Predicate.isObject(schema)) {
    return yield* McpError.decode("A JSON Schema has to be an object or a boolean")
  }
  const known = options.cache?.validators.get(schema)
  if (known !== undefined) return known
  const keywords = schema as Keywords
  const dialect = yield* dialectOf(keywords)
  const survey = JsonSchemaCost.survey(keywords, options)
  if (Result.isFailure(survey)) return yield* McpError.limit("json-schema", survey.failure)
  // Names given by `$id` and anchors are kept by the engine, so a schema that has any must not share it.
  const cache = survey.success.named ? undefined : options.cache
  const engine = cache?.engines.get(dialect) ?? (yield* makeEngine(dialect))
  cache?.engines.set(dialect, engine)
  const validator = yield* compile(engine, keywords)
  options.cache?.validators.set(schema, validator)
  return validator
})

const dialectOf = (schema: Keywords): Effect.Effect<Dialect, McpError> => {
  if (schema.$schema === undefined) return Effect.succeed("2020-12")
  const uri = String(schema.$schema).replace(/#$/, "")
  const dialect = Object.hasOwn(dialects, uri) ? dialects[uri] : undefined
  return dialect === undefined
    ? Effect.fail(McpError.unsupported(`JSON Schema dialect ${uri} is not supported: only 2020-12 and draft-07 are`))
    : Effect.succeed(dialect)
}

const regularExpression = (pattern: string, flags: string): RegExp => {
  try {
    return new RegExp(pattern, flags)
  } catch {
    // Many published patterns have escapes that only the non-Unicode mode takes.
    return new RegExp(pattern)
  }
}

const makeEngine = (dialect: Dialect): Effect.Effect<Ajv, McpError> => {
  const options: AjvOptions = {
    strict: false,
    validateFormats: false,
    logger: false,
    // Writing every referenced schema where it is used could multiply a schema by itself.
    inlineRefs: 20,
    code: { regExp: Object.assign(regularExpression, { code: "RegExp" }) }
  }
  return Effect.tryPromise({
    try: async () =>
      dialect === "2020-12"
        ? new (await import("ajv/dist/2020.js")).Ajv2020(options)
        : new (await import("ajv")).Ajv(options),
    catch: (cause) => McpError.unsupported(`JSON Schemas can't be validated here: ${messageOf(cause)}`)
  })
}

const compile = (engine: Ajv, schema: Keywords): Effect.Effect<Validator, McpError> =>
  Effect.try({
    try: () => {
      // The dialect is chosen already, and its URI comes in spellings that the engine does not know.
      const { $schema: _, ...bare } = schema
      try {
        const validate = engine.compile(bare)
        return (value: unknown) => {
          try {
            return validate(value) ? undefined : describe(validate.errors?.[0])
          } catch (cause) {
            // A value that is nested deeper than the stack reaches, under a schema that follows it all the way.
            return `the value can't be checked: ${messageOf(cause)}`
          }
        }
      } finally {
        // The engine would keep every schema for ever.
        engine.removeSchema(bare)
      }
    },
    catch: (cause) =>
      cause instanceof EvalError
        ? McpError.unsupported(`JSON Schemas can't be validated where code can't be generated: ${cause.message}`)
        : McpError.decode(`The JSON Schema can't be used: ${messageOf(cause)}`)
  })

const describe = (problem: ErrorObject | undefined): string => {
  if (problem === undefined) return "the value does not match its schema"
  const { allowedValues, additionalProperty, unevaluatedProperty } = problem.params as Keywords
  const named = additionalProperty ?? unevaluatedProperty
  return [
    problem.instancePath === "" ? "the value" : problem.instancePath,
    problem.message ?? `does not match "${problem.keyword}"`,
    ...(named === undefined ? [] : [`(${JSON.stringify(named)})`]),
    ...(Array.isArray(allowedValues) ? [`(${allowedValues.map((one) => JSON.stringify(one)).join(", ")})`] : [])
  ].join(" ")
}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
