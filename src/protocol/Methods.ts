/**
 * Every method by name, with its params and its result, for all revisions at once. Which of them a revision has is for
 * `revision/` to say.
 */
import type { CancelledNotificationParams } from "./Cancellation.ts"
import type { CompleteRequestParams, CompleteResult } from "./Completion.ts"
import type { ElicitationCompleteNotificationParams, ElicitRequestParams, ElicitResult } from "./Elicitation.ts"
import type { InputRequiredResult } from "./InputRequired.ts"
import type { DiscoverRequestParams, DiscoverResult, InitializeRequestParams, InitializeResult } from "./Lifecycle.ts"
import type { LoggingMessageNotificationParams, SetLevelRequestParams } from "./Logging.ts"
import type { EmptyResult, NotificationParams, RequestParams } from "./Message.ts"
import type { ProgressNotificationParams } from "./Progress.ts"
import type { GetPromptRequestParams, GetPromptResult, ListPromptsRequestParams, ListPromptsResult } from "./Prompt.ts"
import type {
  ListResourcesRequestParams,
  ListResourcesResult,
  ListResourceTemplatesRequestParams,
  ListResourceTemplatesResult,
  ReadResourceRequestParams,
  ReadResourceResult,
  ResourceUpdatedNotificationParams,
  SubscribeRequestParams,
  UnsubscribeRequestParams
} from "./Resource.ts"
import type { ListRootsRequestParams, ListRootsResult } from "./Roots.ts"
import type { CreateMessageRequestParams, CreateMessageResult } from "./Sampling.ts"
import type {
  SubscriptionsAcknowledgedNotificationParams,
  SubscriptionsListenRequestParams,
  SubscriptionsListenResult
} from "./Subscriptions.ts"
import type { CallToolRequestParams, CallToolResult, ListToolsRequestParams, ListToolsResult } from "./Tool.ts"

/** A request: what it takes and what it gives. */
export interface RequestTypes<Params, Result> {
  readonly params: Params
  readonly result: Result
}

/** A notification: what it says. */
export interface NotificationTypes<Params> {
  readonly params: Params
}

/** Requests that a client sends. */
export interface ClientRequests {
  readonly initialize: RequestTypes<InitializeRequestParams, InitializeResult>
  readonly ping: RequestTypes<RequestParams, EmptyResult>
  readonly "server/discover": RequestTypes<DiscoverRequestParams, DiscoverResult>
  readonly "tools/list": RequestTypes<ListToolsRequestParams, ListToolsResult>
  readonly "tools/call": RequestTypes<CallToolRequestParams, CallToolResult | InputRequiredResult>
  readonly "prompts/list": RequestTypes<ListPromptsRequestParams, ListPromptsResult>
  readonly "prompts/get": RequestTypes<GetPromptRequestParams, GetPromptResult | InputRequiredResult>
  readonly "resources/list": RequestTypes<ListResourcesRequestParams, ListResourcesResult>
  readonly "resources/templates/list": RequestTypes<ListResourceTemplatesRequestParams, ListResourceTemplatesResult>
  readonly "resources/read": RequestTypes<ReadResourceRequestParams, ReadResourceResult | InputRequiredResult>
  readonly "resources/subscribe": RequestTypes<SubscribeRequestParams, EmptyResult>
  readonly "resources/unsubscribe": RequestTypes<UnsubscribeRequestParams, EmptyResult>
  readonly "subscriptions/listen": RequestTypes<SubscriptionsListenRequestParams, SubscriptionsListenResult>
  readonly "completion/complete": RequestTypes<CompleteRequestParams, CompleteResult>
  readonly "logging/setLevel": RequestTypes<SetLevelRequestParams, EmptyResult>
}

/** Requests that a server makes: sent up to 2025-11-25, inside `inputRequests` from 2026-07-28. */
export interface ServerRequests {
  readonly ping: RequestTypes<RequestParams, EmptyResult>
  readonly "roots/list": RequestTypes<ListRootsRequestParams, ListRootsResult>
  readonly "sampling/createMessage": RequestTypes<CreateMessageRequestParams, CreateMessageResult>
  readonly "elicitation/create": RequestTypes<ElicitRequestParams, ElicitResult>
}

/** Notifications that a client sends. */
export interface ClientNotifications {
  readonly "notifications/initialized": NotificationTypes<NotificationParams>
  readonly "notifications/cancelled": NotificationTypes<CancelledNotificationParams>
  readonly "notifications/progress": NotificationTypes<ProgressNotificationParams>
  readonly "notifications/roots/list_changed": NotificationTypes<NotificationParams>
}

/** Notifications that a server sends. */
export interface ServerNotifications {
  readonly "notifications/cancelled": NotificationTypes<CancelledNotificationParams>
  readonly "notifications/progress": NotificationTypes<ProgressNotificationParams>
  readonly "notifications/message": NotificationTypes<LoggingMessageNotificationParams>
  readonly "notifications/tools/list_changed": NotificationTypes<NotificationParams>
  readonly "notifications/prompts/list_changed": NotificationTypes<NotificationParams>
  readonly "notifications/resources/list_changed": NotificationTypes<NotificationParams>
  readonly "notifications/resources/updated": NotificationTypes<ResourceUpdatedNotificationParams>
  readonly "notifications/elicitation/complete": NotificationTypes<ElicitationCompleteNotificationParams>
  readonly "notifications/subscriptions/acknowledged": NotificationTypes<SubscriptionsAcknowledgedNotificationParams>
}

/** The requests that may be answered with `input_required` (MRTR-01, MRTR-02). */
export const inputRequiredMethods = ["tools/call", "prompts/get", "resources/read"] as const

/** A request that may be answered with `input_required`. */
export type InputRequiredMethod = (typeof inputRequiredMethods)[number]

/** The result of a client's request when it is there for good: never `input_required`. */
export type CompleteResultOf<Method extends keyof ClientRequests> = Exclude<
  ClientRequests[Method]["result"],
  InputRequiredResult
>
