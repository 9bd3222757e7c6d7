/**
 * Prompts: messages that a server prepares and a user chooses.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/prompts
 */
import * as Schema from "effect/Schema"
import { Role } from "./Annotations.ts"
import { cacheable } from "./Caching.ts"
import { ContentBlock, text } from "./Content.ts"
import { baseMetadata, icons } from "./Icon.ts"
import { inputResponseParams } from "./InputResponses.ts"
import { requestParams, resultMembers } from "./Message.ts"
import { Meta } from "./Meta.ts"
import { PaginatedRequestParams, paginatedResult } from "./Pagination.ts"

/** One argument of a prompt; its value is always a string. */
export const PromptArgument = Schema.Struct({
  ...baseMetadata,
  description: Schema.optionalKey(Schema.String),
  /** Default `false`. */
  required: Schema.optionalKey(Schema.Boolean)
})

/** One argument of a prompt. */
export type PromptArgument = typeof PromptArgument.Type

/** What a client is told about a prompt (PROMPT-03). */
export const Prompt = Schema.Struct({
  ...baseMetadata,
  ...icons,
  description: Schema.optionalKey(Schema.String),
  arguments: Schema.optionalKey(Schema.Array(PromptArgument)),
  _meta: Schema.optionalKey(Meta)
})

/** What a client is told about a prompt. */
export type Prompt = typeof Prompt.Type

const message =
  (role: Role) =>
  (content: ContentBlock | string): PromptMessage => ({
    role,
    content: typeof content === "string" ? text(content) : content
  })

/**
 * One message of a prompt: who speaks, and one block of content (PROMPT-04).
 *
 * `PromptMessage.user(…)` and `PromptMessage.assistant(…)` build one from content or from plain text.
 */
export const PromptMessage = Object.assign(Schema.Struct({ role: Role, content: ContentBlock }), {
  /** Builds a message of the user. */
  user: message("user"),
  /** Builds a message of the model. */
  assistant: message("assistant")
})

/** One message of a prompt. */
export type PromptMessage = { readonly role: Role; readonly content: ContentBlock }

/** Params of `prompts/list`. */
export const ListPromptsRequestParams = PaginatedRequestParams

/** Params of `prompts/list`. */
export type ListPromptsRequestParams = typeof ListPromptsRequestParams.Type

/** Result of `prompts/list`. */
export const ListPromptsResult = Schema.Struct({
  ...resultMembers,
  ...paginatedResult,
  ...cacheable,
  prompts: Schema.Array(Prompt)
})

/** Result of `prompts/list`. */
export type ListPromptsResult = typeof ListPromptsResult.Type

/** Params of `prompts/get`. */
export const GetPromptRequestParams = Schema.Struct({
  ...requestParams,
  ...inputResponseParams,
  name: Schema.String,
  arguments: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
})

/** Params of `prompts/get`. */
export type GetPromptRequestParams = typeof GetPromptRequestParams.Type

/** Result of `prompts/get`. */
export const GetPromptResult = Schema.Struct({
  ...resultMembers,
  description: Schema.optionalKey(Schema.String),
  messages: Schema.Array(PromptMessage)
})

/** Result of `prompts/get`. */
export type GetPromptResult = typeof GetPromptResult.Type
