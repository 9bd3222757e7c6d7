/**
 * `tools/list` and `tools/call`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { CallContext } from "../../definition/CallContext.ts"
import type * as Tool from "../../definition/Tool.ts"
import { ErrorCode } from "../../protocol/JsonRpc.ts"
import { McpError } from "../../protocol/McpError.ts"
import * as ParameterHeader from "../../protocol/ParameterHeader.ts"
import type {
  CallToolRequestParams,
  CallToolResult,
  ListToolsRequestParams,
  ListToolsResult
} from "../../protocol/index.ts"
import type { Catalog } from "../Catalog.ts"
import type { ServerRuntime } from "../ServerRuntime.ts"
import { listPage } from "./listPage.ts"

export const listTools =
  <R>(runtime: ServerRuntime<R>, catalog: Catalog<Tool.Handled<R>, R>) =>
  (params: ListToolsRequestParams): Effect.Effect<ListToolsResult, McpError, R | CallContext> =>
    listPage(runtime.server, "tools", catalog.list, params.cursor, (entries) => ({
      tools: entries.map((tool) => tool.description)
    }))

export const callTool =
  <R>(catalog: Catalog<Tool.Handled<R>, R>) =>
  (params: CallToolRequestParams): Effect.Effect<CallToolResult, McpError, R | CallContext | Scope.Scope> =>
    Effect.flatMapEager(catalog.find(params.name), (tool) => {
      if (tool === undefined) return Effect.fail(McpError.invalidParams(`Unknown tool: ${params.name}`))
      const args = params.arguments
      if (tool.headers.length === 0) return tool.call(args)
      return Effect.flatMap(checkHeaders(tool, args), () => tool.call(args))
    })

/** Mirrored arguments must say the same as the body: gateways decide by them (HDR-05, HDR-18). */
const checkHeaders = (
  tool: Tool.Handled<unknown>,
  args: CallToolRequestParams["arguments"]
): Effect.Effect<void, McpError, CallContext> =>
  Effect.flatMap(CallContext, ({ headers, revision }) => {
    if (headers === undefined || revision.era === "legacy") return Effect.void
    const problem = ParameterHeader.check(tool.headers, args, (name) => headers[name.toLowerCase()])
    return problem === undefined ? Effect.void : Effect.fail(McpError.protocol(ErrorCode.HeaderMismatch, problem))
  })
