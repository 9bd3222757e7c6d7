/**
 * Tools: things that a model can do. A tool is a value with a name and the schemas of what goes in and out; a server
 * handles it, a client calls it, and both get their types from it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools
 */
import { Effect, Result, Schema, type Scope, Stream } from "effect"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"
import * as JsonCodec from "../protocol/JsonCodec.ts"
import * as JsonSchema from "../protocol/JsonSchema.ts"
import * as ParameterHeader from "../protocol/ParameterHeader.ts"
import type { Members } from "../protocol/JsonRpc.ts"
import { McpError } from "../protocol/McpError.ts"
import type {
  CallToolResult,
  ContentBlock,
  Icon,
  Meta,
  Tool as ToolDescription,
  ToolAnnotations
} from "../protocol/index.ts"
import type { CallContext } from "./CallContext.ts"
import * as Progress from "./Progress.ts"

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
  readonly name: Name
  readonly input: Input
  readonly output: Output
  readonly failure: Failure
  /** The tool as `tools/list` shows it. */
  readonly description: ToolDescription
  /** Decodes arguments; the failure says what is wrong with them. */
  /** Arguments that are mirrored in HTTP headers, by their `x-mcp-header` annotations. */
  readonly headers: ReadonlyArray<ParameterHeader.ParameterHeader>
  readonly decodeInput: (value: unknown) => Result.Result<Input["Type"], string>
  readonly encodeInput: (value: Input["Type"]) => Result.Result<unknown, string>
  readonly decodeOutput: (value: unknown) => Result.Result<OutputOf<Output>, string>
  readonly encodeOutput: (value: OutputOf<Output>) => Result.Result<unknown, string>
  readonly decodeFailure: (value: unknown) => Result.Result<Failure["Type"], string>
  readonly encodeFailure: (value: unknown) => Result.Result<unknown, string>
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

/** A structured output together with content of one's own, in place of the JSON text that it gets otherwise. */
export class WithContent<out A> {
  readonly output: A
  readonly content: ReadonlyArray<ContentBlock>
  readonly meta: Meta | undefined
  constructor(output: A, content: ReadonlyArray<ContentBlock>, meta?: Meta) {
    this.output = output
    this.content = content
    this.meta = meta
  }
}

/** Gives a structured output content of one's own, for models that read content rather than structure. */
export const withContent = <A>(output: A, content: ReadonlyArray<ContentBlock>, meta?: Meta): WithContent<A> =>
  new WithContent(output, content, meta)

/** What a handler gives: the declared output, or content in any of its short forms. */
export type HandlerOutput<T extends Any> = T["output"] extends Schema.Top
  ? T["output"]["Type"] | WithContent<T["output"]["Type"]>
  : string | void | ContentBlock | ReadonlyArray<ContentBlock> | CallToolResult

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
  readonly hints?: Hints | undefined
  readonly icons?: ReadonlyArray<Icon> | undefined
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
  // Services are excluded by the types of `make`.
  const codec = JsonCodec.make(schema) as unknown as Schema.Codec<S["Type"], unknown>
  SchemaJITCompiler.enable(codec.ast)
  const decode = Schema.decodeUnknownResult(codec, { errors: "all" })
  const encode = Schema.encodeUnknownResult(codec, { errors: "all" })
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

/** A tool with its handler: what a server offers. `R` is what the handler needs. */
export interface Handled<out R> {
  /** Its name. */
  readonly key: string
  readonly description: ToolDescription
  readonly headers: ReadonlyArray<ParameterHeader.ParameterHeader>
  /** Runs the handler on arguments as they came off the wire. */
  readonly call: (args: unknown) => Effect.Effect<CallToolResult, McpError, R | CallContext | Scope.Scope>
}

/** What a handler may return: an Effect, or a Stream of progress that ends in the result. */
export type Handling<A, E, R> = Effect.Effect<A, E, R> | Stream.Stream<A | Progress.Update, E, R>

type KeyOf<A> = A extends unknown ? keyof A : never

/** Nothing, or a sentence saying what is wrong with a handler. */
type Check<T extends Any, A> = T["output"] extends Schema.Top
  ? A extends ReadonlyArray<unknown> | WithContent<unknown> | Progress.Update
    ? unknown
    : A extends object
      ? Exclude<KeyOf<A>, KeyOf<T["output"]["Type"]>> extends infer Extra
        ? [Extra] extends [never]
          ? unknown
          : { readonly error: `The output schema has no property "${Extra & string}"` }
        : never
      : unknown
  : unknown

/**
 * Gives a tool its handler.
 *
 * The handler fails only in the ways that the tool declares, or with an `McpError`, which becomes a JSON-RPC error.
 * A declared failure becomes a result with `isError`. A defect is logged on this side and told to the peer without
 * its text.
 *
 * @example
 * ```ts
 * import { Effect, Schema } from "effect"
 * import { Tool } from "mcp-effect"
 *
 * const Shout = Tool.make("shout", { input: Schema.Struct({ text: Schema.String }) })
 * const shout = Tool.handle(Shout, ({ text }) => Effect.succeed(text.toUpperCase()))
 * ```
 */
export const handle = <T extends Any, A extends HandlerOutput<T>, E extends Failure<T> | McpError = never, R = never>(
  tool: T,
  handler: ((input: Input<T>) => Handling<A, E, R>) & Check<T, A>
): Handled<Exclude<R, CallContext | Scope.Scope>> => {
  const run = handler as (input: Input<T>) => Handling<A, E, Exclude<R, CallContext | Scope.Scope>>
  return {
    key: tool.name,
    description: tool.description,
    headers: tool.headers,
    call: (args) => {
      const input = tool.decodeInput(args === undefined ? {} : args)
      if (Result.isFailure(input)) return Effect.succeed(failed(`Invalid arguments: ${input.failure}`))
      const handling = run(input.success)
      return Effect.matchEffect(Stream.isStream(handling) ? lastOf(handling) : (handling as Effect.Effect<A, E>), {
        onSuccess: (output) => resultOf(tool, output),
        onFailure: (error) => (error instanceof McpError ? Effect.fail(error) : failureOf(tool, error))
      })
    }
  }
}

const lastOf = <A, E, R>(stream: Stream.Stream<A | Progress.Update, E, R>): Effect.Effect<A, E, R | CallContext> => {
  let last: { readonly value: A } | undefined
  const run = Stream.runForEach(stream, (element) => {
    if (element instanceof Progress.Update) return Progress.report(element.report)
    last = { value: element }
    return Effect.void
  })
  return Effect.flatMap(run, () =>
    last === undefined
      ? Effect.die(new Error("The handler's stream ended without a result"))
      : Effect.succeed(last.value)
  )
}

const failed = (text: string): CallToolResult => ({ content: [{ type: "text", text }], isError: true })

const resultOf = (tool: Any, output: unknown): Effect.Effect<CallToolResult> => {
  if (tool.output === undefined) return Effect.succeed(contentOf(output))
  const custom = output instanceof WithContent ? output : undefined
  const encoded = tool.encodeOutput((custom === undefined ? output : custom.output) as never)
  if (Result.isFailure(encoded)) {
    return Effect.die(new Error(`The output of "${tool.name}" does not have its declared shape: ${encoded.failure}`))
  }
  const structuredContent = encoded.success
  return Effect.succeed({
    // TOOL-20: models that can't read structure read this.
    content: custom?.content ?? [{ type: "text", text: JSON.stringify(structuredContent) }],
    structuredContent,
    ...(custom?.meta !== undefined && { _meta: custom.meta })
  } as CallToolResult)
}

const contentOf = (output: unknown): CallToolResult => {
  if (output === undefined) return { content: [] }
  if (typeof output === "string") return { content: [{ type: "text", text: output }] }
  if (Array.isArray(output)) return { content: output }
  return "content" in (output as object) && !("type" in (output as object))
    ? (output as CallToolResult)
    : { content: [output as ContentBlock] }
}

const failureOf = (tool: Any, error: unknown): Effect.Effect<CallToolResult> => {
  const encoded = tool.encodeFailure(error)
  if (Result.isFailure(encoded)) return Effect.die(error)
  const text = error instanceof Error && error.message !== "" ? error.message : JSON.stringify(encoded.success)
  return Effect.succeed({ ...failed(text), _meta: { [failureKey]: encoded.success } } as CallToolResult)
}
