/**
 * Everything that a client reads from a server: lists, resources, prompts, suggestions, the server's own description.
 */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import { ErrorCode, type Members } from "../protocol/JsonRpc.ts"
import type { McpError } from "../protocol/McpError.ts"
import type {
  ClientRequests,
  CompleteRequestParams,
  CompleteResult,
  DiscoverResult,
  GetPromptResult,
  ListPromptsResult,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ListToolsResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  Tool
} from "../protocol/index.ts"
import type { Conversation, RequestOptions } from "./Conversation.ts"
import { list } from "./Listing.ts"
import type { ResultCache } from "./ResultCache.ts"
import type { Rounds } from "./Rounds.ts"
import type { Limits } from "./Settings.ts"
import type { ToolDirectory } from "./ToolDirectory.ts"

type ListMethod = "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list"

/** What the reading of one client shares. */
export interface Options {
  readonly conversation: Conversation
  readonly rounds: Rounds
  readonly cache: ResultCache
  readonly directory: ToolDirectory
  readonly limits: Limits
}

/** Reads from a server. */
export class Reading {
  readonly #options: Options
  readonly #relisting = Semaphore.makeUnsafe(1)

  constructor(options: Options) {
    this.#options = options
  }

  get listTools(): Stream.Stream<Tool, McpError> {
    const { conversation, directory, limits } = this.#options
    return list("tools/list", limits, (cursor) =>
      Effect.flatMap(this.#page<ListToolsResult>("tools/list", cursor), ({ nextCursor, tools }) =>
        Effect.map(directory.learn(tools, conversation.agreement.revision.era), (items) => ({ items, nextCursor }))
      )
    )
  }

  get listPrompts(): Stream.Stream<Prompt, McpError> {
    return list("prompts/list", this.#options.limits, (cursor) =>
      Effect.map(this.#page<ListPromptsResult>("prompts/list", cursor), ({ nextCursor, prompts }) => ({
        items: prompts,
        nextCursor
      }))
    )
  }

  get listResources(): Stream.Stream<Resource, McpError> {
    return list("resources/list", this.#options.limits, (cursor) =>
      Effect.map(this.#page<ListResourcesResult>("resources/list", cursor), ({ nextCursor, resources }) => ({
        items: resources,
        nextCursor
      }))
    )
  }

  get listResourceTemplates(): Stream.Stream<ResourceTemplate, McpError> {
    const method = "resources/templates/list"
    return list(method, this.#options.limits, (cursor) =>
      Effect.map(this.#page<ListResourceTemplatesResult>(method, cursor), ({ nextCursor, resourceTemplates }) => ({
        items: resourceTemplates,
        nextCursor
      }))
    )
  }

  /** Lists all tools, unless they have been since they last changed. */
  get knowTools(): Effect.Effect<void, McpError> {
    const { directory } = this.#options
    return this.#relisting.withPermit(
      Effect.suspend(() =>
        directory.isComplete ? Effect.void : Effect.tap(Stream.runDrain(this.listTools), () => directory.complete())
      )
    )
  }

  /** Lists all tools anew. */
  get relistTools(): Effect.Effect<void, McpError> {
    return Effect.suspend(() => {
      this.#options.cache.drop(["tools/list"])
      this.#options.directory.clear()
      return this.knowTools
    })
  }

  readonly readResource = (uri: string, options: RequestOptions = {}): Effect.Effect<ReadResourceResult, McpError> => {
    const { cache, rounds } = this.#options
    const params = { uri }
    const fetch = Effect.map(rounds.request("resources/read", params, options), ({ asked, result }) => ({
      result,
      keep: !asked
    }))
    // What else the caller tells the server may change what it answers.
    return options.meta === undefined
      ? cache.get("resources/read", params, fetch)
      : Effect.map(fetch, ({ result }) => result)
  }

  readonly getPrompt = (
    name: string,
    args?: { readonly [name: string]: string },
    options: RequestOptions = {}
  ): Effect.Effect<GetPromptResult, McpError> => {
    const params = args === undefined ? { name } : { name, arguments: args }
    return Effect.map(this.#options.rounds.request("prompts/get", params, options), ({ result }) => result)
  }

  readonly complete = (
    ref: CompleteRequestParams["ref"],
    argument: CompleteRequestParams["argument"],
    context?: { readonly [name: string]: string }
  ): Effect.Effect<CompleteResult["completion"], McpError> => {
    const params = context === undefined ? { ref, argument } : { ref, argument, context: { arguments: context } }
    return Effect.map(this.#options.conversation.request("completion/complete", params), ({ completion }) => completion)
  }

  get discover(): Effect.Effect<DiscoverResult, McpError> {
    return this.#cached<DiscoverResult>("server/discover", {})
  }

  /** Keeps what the conversation began with. */
  keepDiscovery(result: DiscoverResult): Effect.Effect<unknown> {
    return this.#options.cache.keep("server/discover", {}, result)
  }

  #page<A extends Members>(method: ListMethod, cursor: string | undefined): Effect.Effect<A, McpError> {
    if (cursor === undefined) return this.#cached<A>(method, {})
    // CACHE-12: a cursor that the server no longer knows makes all pages worthless.
    return Effect.tapError(this.#cached<A>(method, { cursor }), ({ reason }) =>
      Effect.sync(() => {
        if (reason._tag === "ProtocolFailure" && reason.code === ErrorCode.InvalidParams) {
          this.#options.cache.drop([method])
        }
      })
    )
  }

  #cached<A extends Members>(method: ListMethod | "server/discover", params: { cursor?: string }) {
    const { cache, conversation } = this.#options
    const fetch = Effect.map(
      conversation.request(method, params),
      (result: ClientRequests[typeof method]["result"]) => ({
        result: result as unknown as A, // each caller names the result of its method
        keep: true
      })
    )
    return cache.get(method, params, fetch)
  }
}
