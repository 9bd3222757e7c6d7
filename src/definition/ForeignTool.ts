/**
 * Tools whose schemas are JSON Schemas already: written by hand, generated, or received from another server. They are
 * shown to clients as they are, and arguments are checked against them before the handler sees any.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#json-schema-usage
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as JsonSchemaValidator from "../protocol/JsonSchemaValidator.ts"
import type { Members } from "../protocol/JsonRpc.ts"
import type { McpError } from "../protocol/McpError.ts"
import * as ParameterHeader from "../protocol/ParameterHeader.ts"
import type { Tool as ToolDescription } from "../protocol/index.ts"
import { make, type Options, type Tool } from "./ToolDefinition.ts"

/** The arguments of a foreign tool: an object, of which nothing is known to the compiler. */
export type ForeignInput = Schema.$Record<Schema.String, Schema.Unknown>

/** Options of {@link fromJsonSchema}. */
export interface ForeignOptions<O extends Members | undefined> extends Omit<
  Options<ForeignInput, undefined, Schema.Never>,
  "input" | "output" | "error"
> {
  /** JSON Schema of the arguments, 2020-12 or draft-07: an object at the root. */
  readonly inputSchema: ToolDescription["inputSchema"]
  /** JSON Schema of the structured output. Without it a handler answers with content. */
  readonly outputSchema?: O | undefined
}

/**
 * Describes a tool by JSON Schemas, which clients see unchanged. Its handler gets the arguments as JSON, and only such
 * as match `inputSchema`; an output that does not match `outputSchema` is a defect.
 *
 * The schemas are compiled when the tool is called for the first time. One that can't be is a defect of that call: it
 * is not valid, is written in another dialect, refers to something outside of itself, or would cost too much.
 *
 * @example
 * ```ts
 * import { Effect } from "effect"
 * import { Tool } from "mcp-effect"
 *
 * const Greet = Tool.fromJsonSchema("greet", {
 *   inputSchema: { type: "object", properties: { name: { type: "string", minLength: 1 } }, required: ["name"] }
 * })
 * const greet = Tool.handle(Greet, ({ name }) => Effect.succeed(`Hello ${String(name)}`))
 * ```
 */
export const fromJsonSchema = <const Name extends string, O extends Members | undefined = undefined>(
  name: Name,
  options: ForeignOptions<O>
): Tool<Name, ForeignInput, O extends Members ? Schema.Unknown : undefined, Schema.Never> => {
  const { inputSchema, outputSchema, ...details } = options
  const headers = ParameterHeader.declared(inputSchema)
  if (Result.isFailure(headers)) throw new TypeError(`The input of tool "${name}" is not valid: ${headers.failure}`)
  const output = (outputSchema === undefined ? undefined : Schema.Unknown) as O extends Members
    ? Schema.Unknown
    : undefined // which of the two it is, the compiler can't follow
  const tool = make(name, { ...details, input: Schema.Record(Schema.String, Schema.Unknown), output })
  return {
    ...tool,
    headers: headers.success,
    description: { ...tool.description, inputSchema, ...(outputSchema !== undefined && { outputSchema }) },
    foreign: { input: checkAgainst(inputSchema), output: checkAgainst(outputSchema ?? true) }
  }
}

/** Compiles on first use, and once. */
const checkAgainst = (schema: Members | true): ((value: unknown) => Effect.Effect<string | undefined, McpError>) => {
  let validator: JsonSchemaValidator.Validator | undefined
  const compile = Effect.tap(JsonSchemaValidator.compileValidator(schema), (compiled) =>
    Effect.sync(() => {
      validator = compiled
    })
  )
  return (value) =>
    validator === undefined ? Effect.map(compile, (compiled) => compiled(value)) : Effect.sync(() => validator?.(value))
}
