/**
 * `completion/complete`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion
 */
import * as Effect from "effect/Effect"
import type { CallContext } from "../../definition/CallContext.ts"
import type { Completer } from "../../definition/Completion.ts"
import { type CompleteRequestParams, type CompleteResult, maximumCompletionValues } from "../../protocol/index.ts"
import { McpError } from "../../protocol/McpError.ts"
import type { McpServer } from "../McpServer.ts"

const none: CompleteResult = { completion: { values: [], total: 0, hasMore: false } }

export const complete =
  <R>(server: McpServer<R>) =>
  (params: CompleteRequestParams): Effect.Effect<CompleteResult, McpError, R | CallContext> =>
    Effect.flatMap(completersOf(server, params.ref), (completers) => {
      const { name, value } = params.argument
      const completer = Object.hasOwn(completers, name) ? completers[name] : undefined
      if (completer === undefined) return Effect.succeed(none)
      return Effect.map(completer(value, { arguments: params.context?.arguments ?? {} }), (values) => ({
        completion: {
          values: values.slice(0, maximumCompletionValues),
          total: values.length,
          hasMore: values.length > maximumCompletionValues
        }
      }))
    })

const completersOf = <R>(
  server: McpServer<R>,
  ref: CompleteRequestParams["ref"]
): Effect.Effect<{ readonly [name: string]: Completer<R> | undefined }, McpError, R | CallContext> => {
  if (ref.type === "ref/prompt") {
    const found = server.prompts?.find(ref.name) ?? Effect.undefined
    return Effect.flatMap(found, (prompt) =>
      prompt === undefined
        ? Effect.fail(McpError.invalidParams(`Unknown prompt: ${ref.name}`))
        : Effect.succeed(prompt.complete)
    )
  }
  const found = server.resources?.find(ref.uri) ?? Effect.undefined
  return Effect.flatMap(found, (resource) => {
    if (resource === undefined)
      return Effect.fail(McpError.invalidParams(`Unknown resource: ${ref.uri}`, { uri: ref.uri }))
    return Effect.succeed(resource._tag === "ResourceTemplate" ? resource.complete : {})
  })
}
