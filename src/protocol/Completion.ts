/**
 * Completion: values a server suggests for the argument of a prompt or a resource template.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion
 */
import * as Schema from "effect/Schema"
import { baseMetadata } from "./Icon.ts"
import { requestParams, resultMembers } from "./Message.ts"

/** Names a prompt. */
export const PromptReference = Schema.Struct({ ...baseMetadata, type: Schema.Literal("ref/prompt") })

/** Names a prompt. */
export type PromptReference = typeof PromptReference.Type

/** Names a resource or a template; `uri` may be the template itself. */
export const ResourceTemplateReference = Schema.Struct({ type: Schema.Literal("ref/resource"), uri: Schema.String })

/** Names a resource or a template. */
export type ResourceTemplateReference = typeof ResourceTemplateReference.Type

/** Params of `completion/complete` (COMP-02). */
export const CompleteRequestParams = Schema.Struct({
  ...requestParams,
  ref: Schema.Union([PromptReference, ResourceTemplateReference]),
  argument: Schema.Struct({ name: Schema.String, value: Schema.String }),
  /** Arguments that are chosen already (from 2025-06-18). */
  context: Schema.optionalKey(
    Schema.Struct({ arguments: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)) })
  )
})

/** Params of `completion/complete`. */
export type CompleteRequestParams = typeof CompleteRequestParams.Type

/** The most values one completion may carry (COMP-04). */
export const maximumCompletionValues = 100

/** Result of `completion/complete`: values, best first. A server must not send more than 100; a client reads them all. */
export const CompleteResult = Schema.Struct({
  ...resultMembers,
  completion: Schema.Struct({
    values: Schema.Array(Schema.String),
    total: Schema.optionalKey(Schema.Int),
    hasMore: Schema.optionalKey(Schema.Boolean)
  })
})

/** Result of `completion/complete`. */
export type CompleteResult = typeof CompleteResult.Type
