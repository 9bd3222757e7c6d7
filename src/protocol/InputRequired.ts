/**
 * Multi round-trip requests (from 2026-07-28): a server that needs something from the client says so in its result,
 * and the client sends the request again with the answers.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import * as Schema from "effect/Schema"
import { ElicitRequest, ElicitResult } from "./Elicitation.ts"
import { ResultMeta } from "./Meta.ts"
import { ListRootsRequest, ListRootsResult } from "./Roots.ts"
import { CreateMessageRequest, CreateMessageResult } from "./Sampling.ts"

/** A question to the client: a bare `{method, params}` (MRTR-04). */
export const InputRequest = Schema.Union([ElicitRequest, CreateMessageRequest, ListRootsRequest]).annotate({
  expected: "a request for elicitation, sampling or roots"
})

/** A question to the client. */
export type InputRequest = typeof InputRequest.Type

/** Questions by key; the server chooses the keys. */
export const InputRequests = Schema.Record(Schema.String, InputRequest)

/** Questions by key. */
export type InputRequests = typeof InputRequests.Type

/** An answer of the client. Without the question it can't be told which kind it is; see `InputResponses`. */
export const InputResponse = Schema.Union([CreateMessageResult, ListRootsResult, ElicitResult])

/** An answer of the client. */
export type InputResponse = typeof InputResponse.Type

/** Whether there is something to do for the client; an empty map of questions counts as none (MRTR-03, A17). */
const asksSomething = (result: { readonly inputRequests?: object; readonly requestState?: string }) =>
  result.requestState !== undefined || Object.keys(result.inputRequests ?? {}).length > 0

/** The result that asks. It has at least one of `inputRequests` and `requestState`, and no cache hints (MRTR-20). */
export const InputRequiredResult = Schema.Struct({
  _meta: Schema.optionalKey(ResultMeta),
  resultType: Schema.Literal("input_required"),
  inputRequests: Schema.optionalKey(InputRequests),
  /** Opaque to the client, which echoes it; hostile until checked when it comes back (MRTR-12). */
  requestState: Schema.optionalKey(Schema.String)
}).check(Schema.makeFilter(asksSomething, { expected: "inputRequests or requestState" }))

/** The result that asks. */
export type InputRequiredResult = typeof InputRequiredResult.Type

/** Whether a result asks for input instead of answering. */
export const isInputRequired = (result: { readonly resultType?: string }): result is InputRequiredResult =>
  result.resultType === "input_required"
