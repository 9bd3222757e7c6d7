/**
 * Prompts: messages prepared for a person to start from.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/prompts
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as JsonSchema from "../protocol/JsonSchema.ts"
import { McpError } from "../protocol/McpError.ts"
import type {
  GetPromptResult,
  Icon,
  Meta,
  Prompt as PromptDescription,
  PromptArgument,
  PromptMessage
} from "../protocol/index.ts"
import type { CallContext } from "./CallContext.ts"
import { checkNames, type Completer, type Completers, type CompletersNeeds } from "./Completion.ts"

/** The arguments of a prompt: an object whose members are strings on the wire. */
export type Arguments = Schema.Codec<unknown, { readonly [name: string]: string | undefined }, never, never>

/** Options of {@link make}. */
export interface Options<A extends Schema.Top, C extends Completers = {}> {
  /** A name for people. Sent from 2025-06-18 on. */
  readonly title?: string | undefined
  /** What it is for. */
  readonly description?: string | undefined
  /** The arguments; descriptions and titles come from annotations. Default: none. */
  readonly arguments?: A | undefined
  /** Suggestions for the arguments. */
  readonly complete?: (C & Completers) | undefined
  /** Pictures for user interfaces. Sent from 2025-11-25 on. */
  readonly icons?: ReadonlyArray<Icon> | undefined
  /** Its `_meta` in lists. */
  readonly meta?: Meta | undefined
}

/** A prompt with its handler: what a server offers. */
export interface Handled<out R> {
  /** Its name. */
  readonly key: string
  /** The prompt as `prompts/list` shows it. */
  readonly description: PromptDescription
  /** Runs the handler on arguments as they came off the wire. */
  readonly get: (args: unknown) => Effect.Effect<GetPromptResult, McpError, R | CallContext | Scope.Scope>
  /** Suggestions, by argument. */
  readonly complete: { readonly [argument: string]: Completer<R> | undefined }
  /** The names of all arguments. */
  readonly argumentNames: ReadonlyArray<string>
}

type NoArguments = Schema.Struct<{}>

/**
 * Offers a prompt.
 *
 * @example
 * ```ts
 * import { Effect, Schema } from "effect"
 * import { Prompt, PromptMessage } from "mcp-effect"
 *
 * const review = Prompt.make(
 *   "review",
 *   { arguments: Schema.Struct({ code: Schema.String }) },
 *   ({ code }) => Effect.succeed([PromptMessage.user(`Review this:\n${code}`)])
 * )
 * ```
 */
export const make = <
  A extends Arguments & Schema.Top = NoArguments,
  E extends McpError = never,
  R = never,
  C extends Completers = {}
>(
  name: string,
  options: Options<A, C>,
  handler: (args: A["Type"]) => Effect.Effect<ReadonlyArray<PromptMessage> | GetPromptResult, E, R>
): Handled<Exclude<R, CallContext | Scope.Scope> | CompletersNeeds<C>> => {
  type Needs = Exclude<R, CallContext | Scope.Scope> | CompletersNeeds<C>
  const schema = options.arguments ?? (Schema.Struct({}) as unknown as A) // the default of the type parameter
  const described = argumentsOf(name, schema)
  const argumentNames = described.map((argument) => argument.name)
  checkNames(`Prompt "${name}"`, options.complete ?? {}, argumentNames)
  const decode = Schema.decodeUnknownResult(schema as unknown as Schema.Codec<A["Type"]>, { errors: "all" })
  return {
    key: name,
    description: {
      name,
      ...(options.title !== undefined && { title: options.title }),
      ...(options.description !== undefined && { description: options.description }),
      ...(described.length > 0 && { arguments: described }),
      ...(options.icons !== undefined && { icons: options.icons }),
      ...(options.meta !== undefined && { _meta: options.meta })
    },
    get: (args) => {
      const decoded = decode(args === undefined ? {} : args)
      if (Result.isFailure(decoded)) {
        return Effect.fail(McpError.invalidParams(`Invalid arguments for prompt "${name}": ${decoded.failure.message}`))
      }
      const messages = handler(decoded.success) as Effect.Effect<
        ReadonlyArray<PromptMessage> | GetPromptResult,
        E,
        Needs
      >
      return Effect.mapEager(messages, (output) =>
        "messages" in output
          ? output
          : { messages: output, ...(options.description !== undefined && { description: options.description }) }
      )
    },
    complete: (options.complete ?? {}) as { readonly [argument: string]: Completer<Needs> | undefined },
    argumentNames
  }
}

const argumentsOf = (name: string, schema: Schema.Top): Array<PromptArgument> => {
  const document = JsonSchema.fromSchema(schema, { root: "object" })
  if (Result.isFailure(document)) {
    throw new TypeError(`The arguments of prompt "${name}" can't be described: ${document.failure}`)
  }
  const properties = (document.success.properties ?? {}) as { readonly [name: string]: Partial<PromptArgument> }
  const required = (document.success.required ?? []) as ReadonlyArray<string>
  return Object.entries(properties).map(([argument, property]) => ({
    name: argument,
    ...(property.title !== undefined && { title: property.title }),
    ...(property.description !== undefined && { description: property.description }),
    ...(required.includes(argument) && { required: true })
  }))
}
