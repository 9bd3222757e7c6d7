/**
 * `prompts/list` and `prompts/get`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/prompts
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { CallContext } from "../../definition/CallContext.ts"
import type * as Prompt from "../../definition/Prompt.ts"
import { McpError } from "../../protocol/McpError.ts"
import type {
  GetPromptRequestParams,
  GetPromptResult,
  ListPromptsRequestParams,
  ListPromptsResult
} from "../../protocol/index.ts"
import type { Catalog } from "../Catalog.ts"
import type { ServerRuntime } from "../ServerRuntime.ts"
import { listPage } from "./listPage.ts"

export const listPrompts =
  <R>(runtime: ServerRuntime<R>, catalog: Catalog<Prompt.Handled<R>, R>) =>
  (params: ListPromptsRequestParams): Effect.Effect<ListPromptsResult, McpError, R | CallContext> =>
    listPage(runtime.server, "prompts", catalog.list, params.cursor, (entries) => ({
      prompts: entries.map((prompt) => prompt.description)
    }))

export const getPrompt =
  <R>(catalog: Catalog<Prompt.Handled<R>, R>) =>
  (params: GetPromptRequestParams): Effect.Effect<GetPromptResult, McpError, R | CallContext | Scope.Scope> =>
    Effect.flatMapEager(catalog.find(params.name), (prompt) =>
      prompt === undefined
        ? Effect.fail(McpError.invalidParams(`Unknown prompt: ${params.name}`))
        : prompt.get(params.arguments)
    )
