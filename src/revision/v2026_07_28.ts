/**
 * Revision 2026-07-28, the first without sessions: every request stands for itself, every result says its type.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28
 */
import * as Result from "effect/Result"
import { CancelledNotificationParams } from "../protocol/Cancellation.ts"
import type { ClientCapabilities } from "../protocol/Capabilities.ts"
import { CompleteRequestParams, CompleteResult } from "../protocol/Completion.ts"
import { ElicitRequestParams, ElicitResult } from "../protocol/Elicitation.ts"
import { type InputRequest, InputRequiredResult, isInputRequired } from "../protocol/InputRequired.ts"
import { ErrorCode, type Members } from "../protocol/JsonRpc.ts"
import { DiscoverRequestParams, DiscoverResult } from "../protocol/Lifecycle.ts"
import { LoggingMessageNotificationParams } from "../protocol/Logging.ts"
import { NotificationParams } from "../protocol/Message.ts"
import { ProgressNotificationParams } from "../protocol/Progress.ts"
import {
  GetPromptRequestParams,
  GetPromptResult,
  ListPromptsRequestParams,
  ListPromptsResult
} from "../protocol/Prompt.ts"
import {
  ListResourcesRequestParams,
  ListResourcesResult,
  ListResourceTemplatesRequestParams,
  ListResourceTemplatesResult,
  ReadResourceRequestParams,
  ReadResourceResult,
  ResourceUpdatedNotificationParams
} from "../protocol/Resource.ts"
import { ListRootsRequestParams, ListRootsResult } from "../protocol/Roots.ts"
import { CreateMessageRequestParams, CreateMessageResult } from "../protocol/Sampling.ts"
import {
  SubscriptionsAcknowledgedNotificationParams,
  SubscriptionsListenRequestParams,
  SubscriptionsListenResult
} from "../protocol/Subscriptions.ts"
import {
  CallToolRequestParams,
  CallToolResult,
  ListToolsRequestParams,
  ListToolsResult,
  type Tool
} from "../protocol/Tool.ts"
import { type Codec, codec, type WireSchema, reader } from "./Codec.ts"
import { type Revision, table } from "./Revision.ts"
import { mapItems, mapMember, without } from "./Rewrite.ts"

type Spell<A> = (value: A) => A

const same = <A>(value: A): A => value

const withoutTasks = <A extends object>(capabilities: A): A => without(capabilities, ["tasks"])

const clientCapabilities: Spell<ClientCapabilities> = (capabilities) =>
  mapMember(withoutTasks(capabilities), "roots", (roots) => without(roots, ["listChanged"]))

const tool: Spell<Tool> = (value) => without(value, ["execution"])

/** Says that a result is complete; every result says its type (BASE-22). */
const complete = <A extends Members>(value: A): Members =>
  value.resultType === undefined ? { ...value, resultType: "complete" } : value

/** Also says for how long, and for whom; who said nothing gets the answer that is always right (CACHE-01). */
const completeCacheable = <A extends Members>(value: A): Members => ({
  ...value,
  resultType: "complete",
  ttlMs: value.ttlMs ?? 0,
  cacheScope: value.cacheScope ?? "private"
})

/** A result that must be complete: absent `resultType` says so too (BASE-23), any other is invalid (BASE-24). */
const completeResult = <A extends Members>(
  schema: WireSchema<A>,
  encode: (value: A) => Members = complete
): Codec<A> => {
  const read = reader(schema)
  return {
    decode: (wire) =>
      wire?.resultType === undefined || wire.resultType === "complete"
        ? read(wire ?? {})
        : Result.fail('resultType: Expected "complete"'),
    encode
  }
}

const cacheableResult = <A extends Members>(schema: WireSchema<A>, spell: Spell<A> = same): Codec<A> =>
  completeResult(schema, (value) => completeCacheable(spell(value)))

/** A list that may come in pages; `null` as a cursor is read, never written. */
const listResult = <A extends Members>(schema: WireSchema<A>, spell: Spell<A> = same): Codec<A> =>
  cacheableResult(schema, (value) => spell(value.nextCursor === null ? without(value, ["nextCursor"]) : value))

const createMessageParams = codec(CreateMessageRequestParams, (value) =>
  mapMember(without(value, ["_meta"]), "tools", mapItems(tool))
)
const elicitParams = codec(ElicitRequestParams, (value) => without(value, ["_meta", "elicitationId"]))
const listRootsParams = codec(ListRootsRequestParams)

const encodeInputRequest = (request: InputRequest): Members => {
  switch (request.method) {
    case "elicitation/create":
      return { method: request.method, params: elicitParams.encode(request.params) }
    case "sampling/createMessage":
      return { method: request.method, params: createMessageParams.encode(request.params) }
    case "roots/list":
      return request
  }
}

const encodeInputRequired = (result: InputRequiredResult): Members => {
  if (result.inputRequests === undefined) return result
  const requests = Object.entries(result.inputRequests)
  return {
    ...result,
    inputRequests: Object.fromEntries(requests.map(([key, request]) => [key, encodeInputRequest(request)]))
  }
}

const readInputRequired = reader(InputRequiredResult)

/** A result of the three methods that may ask for input first (MRTR-01, MRTR-02). */
const retryableResult = <A extends Members>(
  schema: WireSchema<A>,
  encode: (value: A) => Members = complete
): Codec<A | InputRequiredResult> => {
  const read = reader(schema)
  return {
    decode: (wire = {}) => {
      if (wire.resultType === undefined || wire.resultType === "complete") return read(wire)
      if (wire.resultType === "input_required") return readInputRequired(wire)
      return Result.fail('resultType: Expected "complete" or "input_required"')
    },
    encode: (value) => (isInputRequired(value) ? encodeInputRequired(value) : encode(value))
  }
}

/** What a client answers inside `inputResponses`: a bare object and no result, so without `resultType`. */
const bareResult = <A extends Members>(schema: WireSchema<A>, dropped: ReadonlyArray<string>): Codec<A> => {
  const read = reader(schema)
  return {
    decode: (wire) => read(without(wire ?? {}, ["resultType"])),
    encode: (value) => without(value, dropped)
  }
}

const plain = { params: codec(NotificationParams) }
const cancelled = { params: codec(CancelledNotificationParams) }

/** Revision 2026-07-28. */
export const v2026_07_28: Revision = {
  version: "2026-07-28",
  era: "modern",
  batches: false,
  versionHeader: true,
  primingEvents: false,
  invalidArguments: "result",
  clientRequests: table({
    "server/discover": {
      params: codec(DiscoverRequestParams),
      result: cacheableResult(DiscoverResult, (value) => mapMember(value, "capabilities", withoutTasks))
    },
    "tools/list": {
      params: codec(ListToolsRequestParams),
      result: listResult(ListToolsResult, (value) => mapMember(value, "tools", mapItems(tool)))
    },
    "tools/call": { params: codec(CallToolRequestParams), result: retryableResult(CallToolResult) },
    "prompts/list": { params: codec(ListPromptsRequestParams), result: listResult(ListPromptsResult) },
    "prompts/get": { params: codec(GetPromptRequestParams), result: retryableResult(GetPromptResult) },
    "resources/list": { params: codec(ListResourcesRequestParams), result: listResult(ListResourcesResult) },
    "resources/templates/list": {
      params: codec(ListResourceTemplatesRequestParams),
      result: listResult(ListResourceTemplatesResult)
    },
    "resources/read": {
      params: codec(ReadResourceRequestParams),
      result: retryableResult(ReadResourceResult, completeCacheable)
    },
    "subscriptions/listen": {
      params: codec(SubscriptionsListenRequestParams),
      result: completeResult(SubscriptionsListenResult)
    },
    "completion/complete": { params: codec(CompleteRequestParams), result: completeResult(CompleteResult) }
  }),
  serverRequests: table({
    "roots/list": { params: listRootsParams, result: bareResult(ListRootsResult, ["resultType", "_meta"]) },
    "sampling/createMessage": {
      params: createMessageParams,
      result: bareResult(CreateMessageResult, ["resultType"])
    },
    "elicitation/create": { params: elicitParams, result: bareResult(ElicitResult, ["resultType", "_meta"]) }
  }),
  clientNotifications: table({ "notifications/cancelled": cancelled }),
  serverNotifications: table({
    "notifications/cancelled": cancelled,
    "notifications/progress": { params: codec(ProgressNotificationParams) },
    "notifications/message": { params: codec(LoggingMessageNotificationParams) },
    "notifications/tools/list_changed": plain,
    "notifications/prompts/list_changed": plain,
    "notifications/resources/list_changed": plain,
    "notifications/resources/updated": { params: codec(ResourceUpdatedNotificationParams) },
    "notifications/subscriptions/acknowledged": { params: codec(SubscriptionsAcknowledgedNotificationParams) }
  }),
  encodeClientCapabilities: clientCapabilities,
  errorCode: { resourceNotFound: ErrorCode.InvalidParams }
}
