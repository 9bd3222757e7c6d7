/**
 * What a client can do, whatever the era of the server it talks to.
 */
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type * as Tool from "../definition/Tool.ts"
import type { Members } from "../protocol/JsonRpc.ts"
import type { McpError } from "../protocol/McpError.ts"
import type {
  CallToolResult,
  CompleteRequestParams,
  CompleteResult,
  DiscoverResult,
  GetPromptResult,
  LoggingLevel,
  LoggingMessageNotificationParams,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  Tool as ToolDescription
} from "../protocol/index.ts"
import type * as Batch from "./Batch.ts"
import type { Change, ChangeFilter } from "./Changes.ts"
import type { RequestOptions } from "./Conversation.ts"
import type { ServerNotification } from "./Notifications.ts"
import type { Server } from "./Opening.ts"
import type { ToolEvent } from "./ToolEvents.ts"

/**
 * A client of one server. Interrupting any call cancels it at the server.
 *
 * Every call can fail with `Unsupported` before anything is sent, when the server's revision has no such method or a
 * legacy server did not declare the capability (LIFE-11).
 */
export interface Client {
  /** The server: revision, era, capabilities. As a `prior`, it spares the next client the probe. */
  readonly server: Server

  /**
   * Calls a tool by its type: the input is checked before it is sent, the output is decoded, and what the tool declares
   * to fail with comes as such. A failure that it did not declare is a `ToolFailure`.
   */
  readonly call: <T extends Tool.Any>(
    tool: T,
    input: Tool.Input<T>,
    options?: RequestOptions
  ) => Effect.Effect<Tool.Output<T>, Tool.Failure<T> | McpError>

  /**
   * `call` as a stream: progress and log messages as they come, the result last. `logLevel` is `info` here by default.
   * Servers up to 2025-11-25 send logs as `setLogLevel` says.
   */
  readonly stream: <T extends Tool.Any>(
    tool: T,
    input: Tool.Input<T>,
    options?: RequestOptions
  ) => Stream.Stream<ToolEvent<Tool.Output<T>>, Tool.Failure<T> | McpError>

  /**
   * Calls a tool that there is no type for. A structured result is checked against the output schema that the server has
   * listed; for this the tools are listed once when they have not been. A result with `isError` is a `ToolFailure`.
   */
  readonly callTool: (name: string, args?: Members, options?: RequestOptions) => Effect.Effect<CallToolResult, McpError>

  /**
   * Runs calls at the same time, and tells how each of them ended: one that fails does not disturb the others.
   * Interrupting it interrupts all.
   *
   * With a server of 2025-03-26, the requests that they make before any of them has to wait go out as one JSON-RPC batch
   * (BASE-14). Other revisions have no batches, and every request is sent by itself.
   *
   * @example
   * ```ts
   * import { Effect, Result } from "effect"
   * import { McpClient } from "mcp-effect"
   *
   * const program = Effect.gen(function* () {
   *   const client = yield* McpClient.McpClient
   *   const [sum, text] = yield* client.batch([client.callTool("add", { a: 1, b: 2 }), client.readResource("file:///a")])
   *   if (Result.isSuccess(sum)) yield* Effect.log(sum.success.content)
   *   if (Result.isFailure(text)) yield* Effect.log(text.failure.message)
   * })
   * ```
   */
  readonly batch: <const C extends Batch.Calls>(
    calls: C
  ) => Effect.Effect<Batch.Results<C>, never, Effect.Services<C[number]>>

  /** All tools, page by page. Those with an invalid `x-mcp-header` are left out, with a warning (HDR-11). */
  readonly listTools: Stream.Stream<ToolDescription, McpError>
  /** All resources, page by page. */
  readonly listResources: Stream.Stream<Resource, McpError>
  /** All resource templates, page by page. */
  readonly listResourceTemplates: Stream.Stream<ResourceTemplate, McpError>
  /** All prompts, page by page. */
  readonly listPrompts: Stream.Stream<Prompt, McpError>

  /** Reads a resource. */
  readonly readResource: (uri: string, options?: RequestOptions) => Effect.Effect<ReadResourceResult, McpError>

  /** Gets a prompt, filled in with arguments. */
  readonly getPrompt: (
    name: string,
    args?: { readonly [name: string]: string },
    options?: RequestOptions
  ) => Effect.Effect<GetPromptResult, McpError>

  /** Suggestions for an argument of a prompt or of a resource template; `context` holds the arguments chosen before. */
  readonly complete: (
    ref: CompleteRequestParams["ref"],
    argument: CompleteRequestParams["argument"],
    context?: { readonly [name: string]: string }
  ) => Effect.Effect<CompleteResult["completion"], McpError>

  /**
   * Changes as they happen, until the stream is no longer run; `resources/subscribe` in one era, `subscriptions/listen`
   * in the other. What the server does not tell of is logged; the stream fails with `Unsupported` when that is all.
   *
   * A subscription that was cut off is opened again, up to 6 times in a row; then there is one change for everything,
   * since something may have been missed.
   */
  readonly changes: (filter: ChangeFilter) => Stream.Stream<Change, McpError>
  /** `changes` for those who must know when it has begun: nothing is missed from when the effect has ended. */
  readonly subscribe: (filter: ChangeFilter) => Effect.Effect<Stream.Stream<Change, McpError>, McpError, Scope.Scope>

  /** Everything that the server tells by itself, from when the stream is run until the connection ends. */
  readonly notifications: Stream.Stream<ServerNotification>
  /** The server's log messages; see `setLogLevel`. */
  readonly logs: Stream.Stream<LoggingMessageNotificationParams>
  /**
   * Which log messages to send from now on. Up to 2025-11-25 the server is told at once, later with every request.
   * `undefined` asks for none, which an older server can't be told: it is `emergency` there.
   */
  readonly setLogLevel: (level: LoggingLevel | undefined) => Effect.Effect<void, McpError>

  /** Asks for a sign of life. Up to 2025-11-25. */
  readonly ping: Effect.Effect<void, McpError>
  /** Asks the server what it is. From 2026-07-28. */
  readonly discover: Effect.Effect<DiscoverResult, McpError>

  /** Waits until the connection has ended, and says why. */
  readonly ended: Effect.Effect<McpError>
}
