/**
 * What a tool is: a name, and the schemas of what goes in and out.
 */
import type * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { compileLater } from "../protocol/CompileLater.ts"
import * as JsonCodec from "../protocol/JsonCodec.ts"
import * as JsonSchema from "../protocol/JsonSchema.ts"
import * as ParameterHeader from "../protocol/ParameterHeader.ts"
import type { Members } from "../protocol/JsonRpc.ts"
import type { McpError } from "../protocol/McpError.ts"
import type { CallToolResult, Icon, Meta, Tool as ToolDescription, ToolAnnotations } from "../protocol/index.ts"

/** The key in a result's `_meta` under which a declared failure travels, so that our client can give it back typed. */
export const failureKey = "io.github.mcp-effect/failure"

/** What a model may assume of a tool. Hints, not promises: a client distrusts them (TOOL-06). */
export interface Hints {
  /** It changes nothing. Default `false`. */
  readonly readOnly?: boolean | undefined
  /** It may destroy something. Default `true`. */
  readonly destructive?: boolean | undefined
  /** Calling it twice is calling it once. Default `false`. */
  readonly idempotent?: boolean | undefined
  /** It reaches beyond the server's own world. Default `true`. */
  readonly openWorld?: boolean | undefined
}

/** A schema that a tool may use: it encodes to JSON and needs no services. */
export type ToolSchema = Schema.Codec<unknown, unknown, never, never>

/** A tool: a value that both sides import. */
export interface Tool<
  Name extends string,
  Input extends Schema.Top,
  Output extends Schema.Top | undefined,
  Failure extends Schema.Top
> {
  /** The name that it is called by. */
  readonly name: Name
  /** The schema of its arguments. */
  readonly input: Input
  /** The schema of its structured output; `undefined` when it answers with content. */
  readonly output: Output
  /** The schema of the failures that it declares; `Schema.Never` when it declares none. */
  readonly failure: Failure
  /** The tool as `tools/list` shows it. */
  readonly description: ToolDescription
  /** Arguments that are mirrored in HTTP headers, by their `x-mcp-header` annotations. */
  readonly headers: ReadonlyArray<ParameterHeader.ParameterHeader>
  /** Decodes arguments; the failure says what is wrong with them. */
  readonly decodeInput: (value: unknown) => Result.Result<Input["Type"], string>
  // Methods, because they are what lets `Tool.Any` stand for every tool.
  encodeInput(value: Input["Type"]): Result.Result<unknown, string>
  /** Decodes structured output; the failure says what is wrong with it. */
  readonly decodeOutput: (value: unknown) => Result.Result<OutputOf<Output>, string>
  encodeOutput(value: OutputOf<Output>): Result.Result<unknown, string>
  /** Decodes a declared failure; the failure of this says what is wrong with it. */
  readonly decodeFailure: (value: unknown) => Result.Result<Failure["Type"], string>
  encodeFailure(value: unknown): Result.Result<unknown, string>
  /** For a tool of which JSON Schemas say more than its Effect schemas do. */
  readonly foreign?: ForeignChecks | undefined
}

/** Checks JSON against the JSON Schemas of a tool. Says what is wrong with it; `undefined` when nothing is. */
export interface ForeignChecks {
  /** Checks arguments. */
  readonly input: (value: unknown) => Effect.Effect<string | undefined, McpError>
  /** Checks structured output. */
  readonly output: (value: unknown) => Effect.Effect<string | undefined, McpError>
}

/** Any tool. */
export type Any = Tool<string, Schema.Top, Schema.Top | undefined, Schema.Top>

/** The type behind an output schema; a tool without one has none. */
export type OutputOf<Output> = Output extends Schema.Top ? Output["Type"] : never

/** What a call of a tool takes. */
export type Input<T extends Any> = T["input"]["Type"]

/** What a call of a tool gives: its output, or the whole result for a tool without an output schema. */
export type Output<T extends Any> = T["output"] extends Schema.Top ? T["output"]["Type"] : CallToolResult

/** How a call of a tool can fail, by its own declaration. */
export type Failure<T extends Any> = T["failure"]["Type"]

/** Options of {@link make}. */
export interface Options<Input extends Schema.Top, Output extends Schema.Top | undefined, Failure extends Schema.Top> {
  /** What it does, for the model. */
  readonly description?: string | undefined
  /** A name for people. */
  readonly title?: string | undefined
  /** The arguments: a schema of an object. Default: none. */
  readonly input?: Input | undefined
  /** The structured output. Without it a handler answers with content. */
  readonly output?: Output | undefined
  /** How it can fail in a way that the model should know. Becomes a result with `isError`. */
  readonly error?: Failure | undefined
  /** What a model may assume of it. */
  readonly hints?: Hints | undefined
  /** Pictures for user interfaces. Sent from 2025-11-25 on. */
  readonly icons?: ReadonlyArray<Icon> | undefined
  /** Its `_meta` in lists. */
  readonly meta?: Meta | undefined
}

/** The input of a tool that takes none. */
export type NoInput = Schema.Struct<{}>
const noInput: NoInput = Schema.Struct({})

/**
 * Describes a tool.
 *
 * A schema that cannot be shown as JSON Schema is a mistake in the program, so it throws here, when the program
 * starts, and says why.
 *
 * @example
 * ```ts
 * import { Schema } from "effect"
 * import { Tool } from "mcp-effect"
 *
 * const Add = Tool.make("add", {
 *   description: "Adds two numbers",
 *   input: Schema.Struct({ a: Schema.Number, b: Schema.Number }),
 *   output: Schema.Struct({ sum: Schema.Number }),
 *   hints: { readOnly: true }
 * })
 * ```
 */
export const make = <
  const Name extends string,
  Input extends ToolSchema & Schema.Top = NoInput,
  Output extends (ToolSchema & Schema.Top) | undefined = undefined,
  Failure extends ToolSchema & Schema.Top = Schema.Never
>(
  name: Name,
  options: Options<Input, Output, Failure> = {}
): Tool<Name, Input, Output, Failure> => {
  const input = options.input ?? (noInput as unknown as Input) // the default of the type parameter
  const output = options.output as Output
  const failure = options.error ?? (Schema.Never as unknown as Failure) // the default of the type parameter
  const inputCodec = codecOf(input)
  const outputCodec = output === undefined ? undefined : codecOf(output)
  const failureCodec = codecOf(failure)
  const description = describe(name, options, input, output)
  const headers = ParameterHeader.declared(description.inputSchema)
  if (Result.isFailure(headers)) throw new TypeError(`The input of tool "${name}" is not valid: ${headers.failure}`)
  return {
    name,
    input,
    output,
    failure,
    description,
    headers: headers.success,
    decodeInput: inputCodec.decode,
    encodeInput: inputCodec.encode,
    decodeOutput: (outputCodec?.decode ?? noOutput) as (value: unknown) => Result.Result<OutputOf<Output>, string>,
    encodeOutput: outputCodec?.encode ?? noOutput,
    decodeFailure: failureCodec.decode,
    encodeFailure: failureCodec.encode
  }
}

const noOutput = () => Result.fail("The tool has no output schema")

const codecOf = <S extends Schema.Top>(schema: S) => {
  const codec = JsonCodec.make(schema)
  const decode = compileLater(codec, () => Schema.decodeUnknownResult(codec, { errors: "all" }))
  const encode = compileLater(codec, () => Schema.encodeUnknownResult(codec, { errors: "all" }))
  return {
    decode: (value: unknown): Result.Result<S["Type"], string> =>
      Result.mapError(decode(value), (error) => error.message),
    encode: (value: unknown): Result.Result<unknown, string> => Result.mapError(encode(value), (error) => error.message)
  }
}

const describe = (
  name: string,
  options: Options<Schema.Top, Schema.Top | undefined, Schema.Top>,
  input: Schema.Top,
  output: Schema.Top | undefined
): ToolDescription => {
  const annotations = annotationsOf(options.hints)
  return {
    name,
    ...(options.title !== undefined && { title: options.title }),
    ...(options.description !== undefined && { description: options.description }),
    inputSchema: schemaOf(
      name,
      "input",
      JsonSchema.fromSchema(input, { root: "object" })
    ) as ToolDescription["inputSchema"],
    ...(output !== undefined && { outputSchema: schemaOf(name, "output", JsonSchema.fromSchema(output)) }),
    ...(annotations !== undefined && { annotations }),
    ...(options.icons !== undefined && { icons: options.icons }),
    ...(options.meta !== undefined && { _meta: options.meta })
  }
}

const schemaOf = (name: string, what: string, schema: Result.Result<Members, string>): Members => {
  if (Result.isSuccess(schema)) return schema.success
  throw new TypeError(`The ${what} of tool "${name}" can't be shown as JSON Schema: ${schema.failure}`)
}

const annotationsOf = (hints: Hints | undefined): ToolAnnotations | undefined =>
  hints && {
    ...(hints.readOnly !== undefined && { readOnlyHint: hints.readOnly }),
    ...(hints.destructive !== undefined && { destructiveHint: hints.destructive }),
    ...(hints.idempotent !== undefined && { idempotentHint: hints.idempotent }),
    ...(hints.openWorld !== undefined && { openWorldHint: hints.openWorld })
  }
