/**
 * What the revisions of the initialize era share (2024-11-05 to 2025-11-25): their tables of messages, in which each
 * revision says how it spells the parts that differ.
 */
import { CancelledNotificationParams } from "../protocol/Cancellation.ts"
import { CompleteRequestParams, CompleteResult } from "../protocol/Completion.ts"
import { ElicitationCompleteNotificationParams, ElicitRequestParams, ElicitResult } from "../protocol/Elicitation.ts"
import type { InputRequiredResult } from "../protocol/InputRequired.ts"
import { ErrorCode, type Members } from "../protocol/JsonRpc.ts"
import { InitializeRequestParams, InitializeResult } from "../protocol/Lifecycle.ts"
import { LoggingMessageNotificationParams, SetLevelRequestParams } from "../protocol/Logging.ts"
import { EmptyResult, NotificationParams, RequestParams } from "../protocol/Message.ts"
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
  ResourceUpdatedNotificationParams,
  SubscribeRequestParams,
  UnsubscribeRequestParams
} from "../protocol/Resource.ts"
import { ListRootsRequestParams, ListRootsResult } from "../protocol/Roots.ts"
import { CreateMessageRequestParams, CreateMessageResult } from "../protocol/Sampling.ts"
import {
  CallToolRequestParams,
  CallToolResult,
  ListToolsRequestParams,
  ListToolsResult,
  type Tool
} from "../protocol/Tool.ts"
import { type Codec, codec, type WireSchema, reader } from "./Codec.ts"
import { type RequestCodec, type Revision, type RevisionRules, table } from "./Revision.ts"
import { isJsonObject, mapItems, mapMember, without } from "./Rewrite.ts"
import type { Refuse, Spell, Spelling } from "./Spelling.ts"

const same = <A>(value: A): A => value

interface ModernMembers {
  readonly resultType?: unknown
  readonly ttlMs?: unknown
  readonly cacheScope?: unknown
}

/** Without the members of a result that came with 2026-07-28. Every result that is read or written comes by here. */
const withoutModern = <A extends object>(value: A & ModernMembers): A => {
  if (!("resultType" in value || "ttlMs" in value || "cacheScope" in value)) return value
  const { cacheScope: _cacheScope, resultType: _resultType, ttlMs: _ttlMs, ...rest } = value
  return rest as unknown as A // only optional members are gone
}

/** Members of params that came with 2026-07-28. */
const retryMembers = ["inputResponses", "requestState"]

/**
 * A result of this era. The members that 2026-07-28 gives a meaning have none here: they are not written, and are taken
 * off what is read, so that nobody above takes them for more than an unknown member (section 2.10, rules 1 and 2).
 */
const legacyResult = <A extends Members>(
  schema: WireSchema<A>,
  spell: Spell<A> = same,
  refuse?: Refuse<A>
): Codec<A> => {
  const read = reader(schema)
  return {
    decode: (wire) => read(withoutModern(wire ?? {})),
    encode: (value) => spell(withoutModern(value)),
    ...(refuse !== undefined && { refuse })
  }
}

/**
 * The result of one of the three requests that can ask for input in 2026-07-28. A legacy peer never sees that answer:
 * the session turns it into requests of the server (section 2.10, rule 5), so only the complete result is spelled.
 */
const completeResult = <A extends Members>(schema: WireSchema<A>, spell?: Spell<A>): Codec<A | InputRequiredResult> =>
  legacyResult(schema, spell)

/** Params of one of those three requests: answers and state mean nothing to a legacy peer. */
const retryableParams = <A extends Members>(schema: WireSchema<A>): Codec<A> =>
  codec(schema, (value) => without(value, retryMembers))

/** A list that may come in pages; `null` as a cursor is read, never written. */
const listResult = <K extends string, Item, A extends Members & { readonly [Key in K]: ReadonlyArray<Item> }>(
  schema: WireSchema<A>,
  member: K,
  spell: Spell<Item> | undefined
): Codec<A> =>
  legacyResult(schema, (value) => {
    const list = value.nextCursor === null ? without(value, ["nextCursor"]) : value
    return spell === undefined ? list : { ...list, [member]: mapItems(spell)(list[member]) }
  })

const request = <Params, A>(params: Codec<Params>, result: Codec<A>): RequestCodec<{ params: Params; result: A }> => ({
  params,
  result
})

const notification = <A extends Members>(schema: WireSchema<A>, spell?: Spell<A>) => ({ params: codec(schema, spell) })

/** An output schema must be an object at its root, or goes unsaid (section 2.10, rule 4; TOOL-12). */
export const objectOutputSchema: Spell<Tool> = (tool) =>
  tool.outputSchema === undefined || tool.outputSchema.type === "object" ? tool : without(tool, ["outputSchema"])

/** Structured content must be an object, or goes unsaid; the text blocks say the same (section 2.10, rule 4; TOOL-17). */
export const objectStructuredContent = <A extends { readonly structuredContent?: unknown }>(result: A): A =>
  "structuredContent" in result && !isJsonObject(result.structuredContent)
    ? without(result, ["structuredContent"])
    : result

/** Builds the revision `version` of the initialize era, with every message the era ever had but those that are absent. */
export const initializeEra = (version: string, spelling: Spelling, rules: RevisionRules): Revision => {
  const { absent = [], contentBlock, resourceContents, root } = spelling

  const callToolResult: Spell<CallToolResult> = (value) => {
    const result = spelling.callToolResult === undefined ? value : spelling.callToolResult(value)
    return contentBlock === undefined ? result : mapMember(result, "content", mapItems(contentBlock))
  }

  const getPromptResult: Spell<GetPromptResult> | undefined =
    contentBlock &&
    ((value) =>
      mapMember(
        value,
        "messages",
        mapItems((message) => mapMember(message, "content", contentBlock))
      ))

  const readResourceResult: Spell<ReadResourceResult> | undefined =
    resourceContents && ((value) => mapMember(value, "contents", mapItems(resourceContents)))

  const listRootsResult: Spell<ListRootsResult> | undefined =
    root && ((value) => mapMember(value, "roots", mapItems(root)))

  const createMessageParams: Spell<CreateMessageRequestParams> = (value) => {
    const params = spelling.createMessageParams === undefined ? value : spelling.createMessageParams(value)
    return spelling.tool === undefined ? params : mapMember(params, "tools", mapItems(spelling.tool))
  }

  const initializeParams: Spell<InitializeRequestParams> = (value) =>
    mapMember(
      mapMember(value, "capabilities", spelling.clientCapabilities ?? same),
      "clientInfo",
      spelling.implementation ?? same
    )

  const initializeResult: Spell<InitializeResult> = (value) =>
    mapMember(
      mapMember(value, "capabilities", spelling.serverCapabilities ?? same),
      "serverInfo",
      spelling.implementation ?? same
    )

  const existing = <Entries extends object>(entries: Entries): Entries => table(without(entries, absent))

  const ping = request(codec(RequestParams), legacyResult(EmptyResult))
  const cancelled = notification(CancelledNotificationParams)
  const progress = notification(ProgressNotificationParams, spelling.progressParams)
  const plain = notification(NotificationParams)

  return {
    version,
    era: "legacy",
    ...rules,
    clientRequests: existing({
      initialize: request(
        codec(InitializeRequestParams, initializeParams),
        legacyResult(InitializeResult, initializeResult)
      ),
      ping,
      "tools/list": request(codec(ListToolsRequestParams), listResult(ListToolsResult, "tools", spelling.tool)),
      "tools/call": request(retryableParams(CallToolRequestParams), completeResult(CallToolResult, callToolResult)),
      "prompts/list": request(
        codec(ListPromptsRequestParams),
        listResult(ListPromptsResult, "prompts", spelling.prompt)
      ),
      "prompts/get": request(retryableParams(GetPromptRequestParams), completeResult(GetPromptResult, getPromptResult)),
      "resources/list": request(
        codec(ListResourcesRequestParams),
        listResult(ListResourcesResult, "resources", spelling.resource)
      ),
      "resources/templates/list": request(
        codec(ListResourceTemplatesRequestParams),
        listResult(ListResourceTemplatesResult, "resourceTemplates", spelling.resourceTemplate)
      ),
      "resources/read": request(
        retryableParams(ReadResourceRequestParams),
        completeResult(ReadResourceResult, readResourceResult)
      ),
      "resources/subscribe": request(codec(SubscribeRequestParams), legacyResult(EmptyResult)),
      "resources/unsubscribe": request(codec(UnsubscribeRequestParams), legacyResult(EmptyResult)),
      "completion/complete": request(
        codec(CompleteRequestParams, spelling.completeParams),
        legacyResult(CompleteResult)
      ),
      "logging/setLevel": request(codec(SetLevelRequestParams), legacyResult(EmptyResult))
    }),
    serverRequests: existing({
      ping,
      "roots/list": request(codec(ListRootsRequestParams), legacyResult(ListRootsResult, listRootsResult)),
      "sampling/createMessage": request(
        codec(CreateMessageRequestParams, createMessageParams, spelling.refuseCreateMessageParams),
        legacyResult(CreateMessageResult, spelling.createMessageResult, spelling.refuseCreateMessageResult)
      ),
      "elicitation/create": request(
        codec(ElicitRequestParams, spelling.elicitParams, spelling.refuseElicitParams),
        legacyResult(ElicitResult, spelling.elicitResult, spelling.refuseElicitResult)
      )
    }),
    clientNotifications: existing({
      "notifications/initialized": plain,
      "notifications/cancelled": cancelled,
      "notifications/progress": progress,
      "notifications/roots/list_changed": plain
    }),
    serverNotifications: existing({
      "notifications/cancelled": cancelled,
      "notifications/progress": progress,
      "notifications/message": notification(LoggingMessageNotificationParams),
      "notifications/tools/list_changed": plain,
      "notifications/prompts/list_changed": plain,
      "notifications/resources/list_changed": plain,
      "notifications/resources/updated": notification(ResourceUpdatedNotificationParams),
      "notifications/elicitation/complete": notification(ElicitationCompleteNotificationParams)
    }),
    encodeClientCapabilities: spelling.clientCapabilities ?? same,
    errorCode: { resourceNotFound: ErrorCode.ResourceNotFound }
  }
}
