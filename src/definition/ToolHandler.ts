/**
 * What a server does when a tool is called: from the arguments as they came to the result as it leaves.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as ParameterHeader from "../protocol/ParameterHeader.ts"
import { McpError } from "../protocol/McpError.ts"
import type { CallToolResult, ContentBlock, Meta, Tool as ToolDescription } from "../protocol/index.ts"
import { CallContext } from "./CallContext.ts"
import * as Progress from "./Progress.ts"
import { type Any, type Failure, failureKey, type Input } from "./ToolDefinition.ts"

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

/**
 * Gives a structured output content of one's own, for models that read content rather than structure.
 *
 * @example
 * ```ts
 * import { Effect, Schema } from "effect"
 * import { Content, Tool } from "mcp-effect"
 *
 * const Sum = Tool.make("sum", {
 *   input: Schema.Struct({ numbers: Schema.Array(Schema.Number) }),
 *   output: Schema.Struct({ sum: Schema.Number })
 * })
 *
 * const handled = Tool.handle(Sum, ({ numbers }) => {
 *   const sum = numbers.reduce((total, number) => total + number, 0)
 *   return Effect.succeed(Tool.withContent({ sum }, [Content.text(`They add up to ${sum}`)]))
 * })
 * ```
 */
export const withContent = <A>(output: A, content: ReadonlyArray<ContentBlock>, meta?: Meta): WithContent<A> =>
  new WithContent(output, content, meta)

/** What a handler gives: the declared output, or content in any of its short forms. */
export type HandlerOutput<T extends Any> = T["output"] extends Schema.Top
  ? T["output"]["Type"] | WithContent<T["output"]["Type"]>
  : string | void | ContentBlock | ReadonlyArray<ContentBlock> | CallToolResult

/** A tool with its handler: what a server offers. `R` is what the handler needs. */
export interface Handled<out R> {
  /** Its name. */
  readonly key: string
  /** The tool as `tools/list` shows it. */
  readonly description: ToolDescription
  /** Arguments that are mirrored in HTTP headers (2026-07-28). */
  readonly headers: ReadonlyArray<ParameterHeader.ParameterHeader>
  /**
   * Runs the handler on arguments as they came off the wire. The handler is called in this call, so that a result which
   * is there at once needs no fiber.
   */
  readonly call: (args: unknown) => Effect.Effect<CallToolResult, McpError, R | CallContext | Scope.Scope>
}

/** What a handler may return: an Effect, or a Stream of progress that ends in the result. */
export type Handling<A, E, R> = Effect.Effect<A, E, R> | Stream.Stream<A | Progress.Update, E, R>

type KeyOf<A> = A extends unknown ? keyof A : never

/** Nothing, or a sentence saying what is wrong with a handler. */
type Check<T extends Any, A> = [A] extends [never]
  ? unknown
  : T["output"] extends Schema.Top
    ? unknown extends T["output"]["Type"]
      ? unknown
      : A extends ReadonlyArray<unknown> | WithContent<unknown> | Progress.Update
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
      if (Result.isFailure(input)) return invalid(input.failure)
      const call = () => {
        const handling = run(input.success)
        return Effect.matchCauseEffectEager(
          Stream.isStream(handling) ? lastOf(handling) : (handling as Effect.Effect<A, E>),
          {
            onSuccess: (output) => resultOf(tool, output),
            onFailure: (cause) => afterFailure(tool, cause)
          }
        )
      }
      if (tool.foreign === undefined) return call()
      return Effect.matchEffect(tool.foreign.input(input.success), {
        onSuccess: (problem) => (problem === undefined ? call() : invalid(problem)),
        onFailure: (error) => unexpected(tool, Cause.die(error))
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

/** A model can mend its arguments, so it is told by a result; older revisions have a protocol error for it (TOOL-27). */
const invalid = (problem: string): Effect.Effect<CallToolResult, McpError, CallContext> =>
  Effect.flatMap(CallContext, ({ revision }) => {
    const message = `Invalid arguments: ${problem}`
    return revision.invalidArguments === "error"
      ? Effect.fail(McpError.invalidParams(message))
      : Effect.succeed(failed(message))
  })

const resultOf = (tool: Any, output: unknown): Effect.Effect<CallToolResult> => {
  if (tool.output === undefined) return Effect.succeed(contentOf(output))
  const custom = output instanceof WithContent ? output : undefined
  const encoded = tool.encodeOutput((custom === undefined ? output : custom.output) as never)
  if (Result.isFailure(encoded)) return unexpected(tool, misshapen(encoded.failure))
  const structuredContent = encoded.success
  const result = {
    // TOOL-20: models that can't read structure read this.
    content: custom?.content ?? [{ type: "text", text: JSON.stringify(structuredContent) }],
    structuredContent,
    ...(custom?.meta !== undefined && { _meta: custom.meta })
  } as CallToolResult
  if (tool.foreign === undefined) return Effect.succeed(result)
  return Effect.matchEffect(tool.foreign.output(structuredContent), {
    onSuccess: (problem) => (problem === undefined ? Effect.succeed(result) : unexpected(tool, misshapen(problem))),
    onFailure: (error) => unexpected(tool, Cause.die(error))
  })
}

const misshapen = (problem: string) => Cause.die(new Error(`The output does not have its declared shape: ${problem}`))

/** What went wrong on this side stays here: the model learns that the tool failed, the operator why (TOOL-26). */
const unexpected = (tool: Any, cause: Cause.Cause<unknown>): Effect.Effect<CallToolResult> =>
  Effect.as(
    Effect.logError(`The handler of tool "${tool.name}" failed unexpectedly`, cause),
    failed(`The tool "${tool.name}" failed unexpectedly`)
  )

const contentOf = (output: unknown): CallToolResult => {
  if (output === undefined) return { content: [] }
  if (typeof output === "string") return { content: [{ type: "text", text: output }] }
  if (Array.isArray(output)) return { content: output }
  return "content" in (output as object) && !("type" in (output as object))
    ? (output as CallToolResult)
    : { content: [output as ContentBlock] }
}

const afterFailure = (tool: Any, cause: Cause.Cause<unknown>): Effect.Effect<CallToolResult, McpError> => {
  if (Cause.hasDies(cause)) return unexpected(tool, cause)
  const failure = Cause.findErrorOption(cause)
  // An interruption is for whoever interrupted: a cancellation, or a question that ends the round.
  if (Option.isNone(failure)) return Effect.failCause(cause as Cause.Cause<never>)
  const error = failure.value
  if (error instanceof McpError) return Effect.fail(error)
  const encoded = tool.encodeFailure(error)
  if (Result.isFailure(encoded)) return unexpected(tool, cause)
  const text = error instanceof Error && error.message !== "" ? error.message : JSON.stringify(encoded.success)
  return Effect.succeed({ ...failed(text), _meta: { [failureKey]: encoded.success } } as CallToolResult)
}
