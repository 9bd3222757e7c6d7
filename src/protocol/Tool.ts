/**
 * Tools: functions that a server lets models call.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools
 */
import * as Schema from "effect/Schema"
import { cacheable } from "./Caching.ts"
import { ContentBlock } from "./Content.ts"
import { baseMetadata, icons } from "./Icon.ts"
import { inputResponseParams } from "./InputResponses.ts"
import { JsonObject } from "./Json.ts"
import { requestParams, resultMembers } from "./Message.ts"
import { Meta } from "./Meta.ts"
import { PaginatedRequestParams, paginatedResult } from "./Pagination.ts"

/** Hints on what a tool does (from 2025-03-26). Believe them only from servers you trust (TOOL-06). */
export const ToolAnnotations = Schema.Struct({
  title: Schema.optionalKey(Schema.String),
  /** It changes nothing. Default `false`. */
  readOnlyHint: Schema.optionalKey(Schema.Boolean),
  /** It may destroy things, if it is not read-only. Default `true`. */
  destructiveHint: Schema.optionalKey(Schema.Boolean),
  /** Calling it again with the same arguments changes nothing more. Default `false`. */
  idempotentHint: Schema.optionalKey(Schema.Boolean),
  /** It talks to the world outside. Default `true`. */
  openWorldHint: Schema.optionalKey(Schema.Boolean)
})

/** Hints on what a tool does. */
export type ToolAnnotations = typeof ToolAnnotations.Type

/** How a tool can be run: whether as a task. Only in 2025-11-25 (TOOL-08). */
export const ToolExecution = Schema.Struct({
  taskSupport: Schema.optionalKey(Schema.Literals(["forbidden", "optional", "required"]))
})

/** How a tool can be run. */
export type ToolExecution = typeof ToolExecution.Type

/** JSON Schema of a tool's arguments: always an object at the root, any other keyword beside (TOOL-09, TOOL-11). */
export const ToolInputSchema = Schema.StructWithRest(
  Schema.Struct({ type: Schema.Literal("object"), $schema: Schema.optionalKey(Schema.String) }),
  [JsonObject]
)

/** JSON Schema of a tool's arguments. */
export type ToolInputSchema = typeof ToolInputSchema.Type

/** JSON Schema of a tool's structured result: any schema from 2026-07-28, an object before (TOOL-12, TOOL-13). */
export const ToolOutputSchema = Schema.StructWithRest(Schema.Struct({ $schema: Schema.optionalKey(Schema.String) }), [
  JsonObject
])

/** JSON Schema of a tool's structured result. */
export type ToolOutputSchema = typeof ToolOutputSchema.Type

/** What a client is told about a tool (TOOL-04, TOOL-07). */
export const Tool = Schema.Struct({
  ...baseMetadata,
  ...icons,
  description: Schema.optionalKey(Schema.String),
  inputSchema: ToolInputSchema,
  outputSchema: Schema.optionalKey(ToolOutputSchema),
  annotations: Schema.optionalKey(ToolAnnotations),
  execution: Schema.optionalKey(ToolExecution),
  _meta: Schema.optionalKey(Meta)
})

/** What a client is told about a tool. */
export type Tool = typeof Tool.Type

/** Params of `tools/list`. */
export const ListToolsRequestParams = PaginatedRequestParams

/** Params of `tools/list`. */
export type ListToolsRequestParams = typeof ListToolsRequestParams.Type

/** Result of `tools/list`. */
export const ListToolsResult = Schema.Struct({
  ...resultMembers,
  ...paginatedResult,
  ...cacheable,
  tools: Schema.Array(Tool)
})

/** Result of `tools/list`. */
export type ListToolsResult = typeof ListToolsResult.Type

/** Params of `tools/call` (TOOL-14). Absent `arguments` are the same as `{}`. */
export const CallToolRequestParams = Schema.Struct({
  ...requestParams,
  ...inputResponseParams,
  name: Schema.String,
  arguments: Schema.optionalKey(JsonObject)
})

/** Params of `tools/call`. */
export type CallToolRequestParams = typeof CallToolRequestParams.Type

/**
 * Result of `tools/call` (TOOL-15). `structuredContent` may be any JSON, `null` too, so that presence of the member
 * counts (TOOL-18).
 */
export const CallToolResult = Schema.Struct({
  ...resultMembers,
  content: Schema.Array(ContentBlock),
  structuredContent: Schema.optionalKey(Schema.Unknown),
  /** The call failed, and `content` tells the model why. Default `false`. */
  isError: Schema.optionalKey(Schema.Boolean)
})

/** Result of `tools/call`. */
export type CallToolResult = typeof CallToolResult.Type
