/**
 * Calling tools: those that we have a type for, and those that we know from their listing, if at all.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Tool from "../definition/Tool.ts"
import { ErrorCode, type Members } from "../protocol/JsonRpc.ts"
import { McpError, ToolFailure } from "../protocol/McpError.ts"
import * as ParameterHeader from "../protocol/ParameterHeader.ts"
import type { CallToolResult } from "../protocol/index.ts"
import type { Conversation, RequestOptions } from "./Conversation.ts"
import type { Reading } from "./Reading.ts"
import type { Outcome, Rounds } from "./Rounds.ts"
import type { ToolDirectory } from "./ToolDirectory.ts"

type Headers = ReadonlyArray<ParameterHeader.ParameterHeader>

/** Calls tools. */
export class ToolCalls {
  readonly #conversation: Conversation
  readonly #rounds: Rounds
  readonly #directory: ToolDirectory
  readonly #reading: Reading

  constructor(conversation: Conversation, rounds: Rounds, directory: ToolDirectory, reading: Reading) {
    this.#conversation = conversation
    this.#rounds = rounds
    this.#directory = directory
    this.#reading = reading
  }

  /** Calls a tool by its type. */
  readonly call = <T extends Tool.Any>(
    tool: T,
    input: Tool.Input<T>,
    options: RequestOptions = noOptions
  ): Effect.Effect<Tool.Output<T>, Tool.Failure<T> | McpError> =>
    Effect.suspend(() => {
      const encoded = tool.encodeInput(input)
      return Result.isFailure(encoded)
        ? Effect.fail(McpError.invalidParams(`Invalid arguments of "${tool.name}": ${encoded.failure}`))
        : this.#send(tool.name, encoded.success as Members, options, tool.headers, (result) => outputOf(tool, result))
    })

  /** Calls a tool by its name. */
  readonly callTool = (
    name: string,
    args?: Members,
    options: RequestOptions = noOptions
  ): Effect.Effect<CallToolResult, McpError> =>
    Effect.suspend(() => this.#send(name, args, options, undefined, (result) => this.#check(name, result)))

  #check(name: string, result: CallToolResult): Effect.Effect<CallToolResult, McpError> {
    if (result.isError === true) return Effect.fail(toolFailure(name, result))
    if (!("structuredContent" in result) || this.#directory.find(name) !== undefined) {
      return this.#checkKnown(name, result)
    }
    // A server whose tools can't be listed can be called all the same; its results then go unchecked.
    const known = Effect.ignore(this.#reading.knowTools)
    return Effect.flatMap(known, () => this.#checkKnown(name, result))
  }

  #checkKnown(name: string, result: CallToolResult): Effect.Effect<CallToolResult, McpError> {
    const known = this.#directory.find(name)
    if (known === undefined) return Effect.succeed(result)
    const structured = "structuredContent" in result ? { value: result.structuredContent } : undefined
    return Effect.as(this.#directory.check(known.tool, structured), result)
  }

  #send<A, E>(
    name: string,
    args: Members | undefined,
    options: RequestOptions,
    own: Headers | undefined,
    onResult: (result: CallToolResult) => Effect.Effect<A, E | McpError>
  ): Effect.Effect<A, E | McpError> {
    const known = this.#directory.find(name)
    if (known !== undefined && Result.isFailure(known.headers)) {
      return Effect.fail(McpError.unsupported(`The tool "${name}" can't be called: ${known.headers.failure}`))
    }
    return Effect.matchEffect(this.#attempt(name, args, options, own ?? this.#listedHeaders(name)), {
      onSuccess: ({ result }) => onResult(result),
      onFailure: (error) => {
        if (!isHeaderMismatch(error)) return Effect.fail(error)
        // HDR-19: the server mirrors other arguments than this client knew of.
        return Effect.matchEffect(this.#reading.relistTools, {
          onFailure: () => Effect.fail(error),
          onSuccess: () =>
            Effect.flatMap(this.#attempt(name, args, options, this.#listedHeaders(name) ?? own), ({ result }) =>
              onResult(result)
            )
        })
      }
    })
  }

  #listedHeaders(name: string): Headers | undefined {
    const headers = this.#directory.find(name)?.headers
    return headers !== undefined && Result.isSuccess(headers) ? headers.success : undefined
  }

  #attempt(
    name: string,
    args: Members | undefined,
    options: RequestOptions,
    headers: Headers | undefined
  ): Effect.Effect<Outcome<CallToolResult>, McpError> {
    const mirrored =
      headers === undefined || headers.length === 0 || this.#conversation.agreement.revision.era === "legacy"
        ? options
        : { ...options, headers: ParameterHeader.write(headers, args) }
    const params = args === undefined ? { name } : { name, arguments: args }
    return this.#rounds.request("tools/call", params, mirrored)
  }
}

const noOptions: RequestOptions = {}

const outputOf = <T extends Tool.Any>(
  tool: T,
  result: CallToolResult
): Effect.Effect<Tool.Output<T>, Tool.Failure<T> | McpError> => {
  if (result.isError === true) return declaredFailure(tool, result)
  if (tool.output === undefined) return Effect.succeed(result as Tool.Output<T>) // what a tool without an output gives
  const output = tool.decodeOutput(structuredOrText(result))
  return Result.isSuccess(output)
    ? Effect.succeed(output.success as Tool.Output<T>)
    : Effect.fail(McpError.decode(`The result of "${tool.name}" does not have its declared shape: ${output.failure}`))
}

const isHeaderMismatch = ({ reason }: McpError): boolean =>
  reason._tag === "ProtocolFailure" && reason.code === ErrorCode.HeaderMismatch

const firstText = ({ content }: CallToolResult): string | undefined => {
  for (const block of content) if (block.type === "text" && "text" in block) return String(block.text)
  return undefined
}

const toolFailure = (tool: string, result: CallToolResult): McpError =>
  new McpError({
    reason: new ToolFailure({ tool, message: firstText(result) ?? `The tool "${tool}" failed`, result })
  })

/** What the tool declares, when our server has sent it along; the text of it otherwise. */
const declaredFailure = <T extends Tool.Any>(
  tool: T,
  result: CallToolResult
): Effect.Effect<never, Tool.Failure<T> | McpError> => {
  const meta = result._meta
  if (meta !== undefined && Tool.failureKey in meta) {
    const failure = tool.decodeFailure(meta[Tool.failureKey])
    if (Result.isSuccess(failure)) return Effect.fail(failure.success as Tool.Failure<T>)
  }
  return Effect.fail(toolFailure(tool.name, result))
}

/** Older revisions have no structured results, or no arrays in them; the text says the same (TOOL-20). */
const structuredOrText = (result: CallToolResult): unknown => {
  if ("structuredContent" in result) return result.structuredContent
  const text = firstText(result)
  if (!Predicate.isString(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
