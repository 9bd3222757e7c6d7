/**
 * The schemas of every method by name, for all revisions at once: what messages are made of when a test makes them up.
 * That none is missing is checked by the compiler.
 */
import type * as Schema from "effect/Schema"
import * as Protocol from "../protocol/index.ts"

type SchemaOf<A> = Schema.Codec<A, unknown>

type RequestSchemas<All extends { readonly [M in keyof All]: Protocol.RequestTypes<unknown, unknown> }> = {
  readonly [Method in keyof All]: {
    readonly params: SchemaOf<All[Method]["params"]>
    /** Every form that the result may have. */
    readonly results: ReadonlyArray<SchemaOf<All[Method]["result"]>>
  }
}

type NotificationSchemas<All extends { readonly [M in keyof All]: Protocol.NotificationTypes<unknown> }> = {
  readonly [Method in keyof All]: SchemaOf<All[Method]["params"]>
}

const empty = { params: Protocol.RequestParams, results: [Protocol.EmptyResult] }

/** Requests of clients. */
export const clientRequests: RequestSchemas<Protocol.ClientRequests> = {
  initialize: { params: Protocol.InitializeRequestParams, results: [Protocol.InitializeResult] },
  ping: empty,
  "server/discover": { params: Protocol.DiscoverRequestParams, results: [Protocol.DiscoverResult] },
  "tools/list": { params: Protocol.ListToolsRequestParams, results: [Protocol.ListToolsResult] },
  "tools/call": {
    params: Protocol.CallToolRequestParams,
    results: [Protocol.CallToolResult, Protocol.InputRequiredResult]
  },
  "prompts/list": { params: Protocol.ListPromptsRequestParams, results: [Protocol.ListPromptsResult] },
  "prompts/get": {
    params: Protocol.GetPromptRequestParams,
    results: [Protocol.GetPromptResult, Protocol.InputRequiredResult]
  },
  "resources/list": { params: Protocol.ListResourcesRequestParams, results: [Protocol.ListResourcesResult] },
  "resources/templates/list": {
    params: Protocol.ListResourceTemplatesRequestParams,
    results: [Protocol.ListResourceTemplatesResult]
  },
  "resources/read": {
    params: Protocol.ReadResourceRequestParams,
    results: [Protocol.ReadResourceResult, Protocol.InputRequiredResult]
  },
  "resources/subscribe": { params: Protocol.SubscribeRequestParams, results: [Protocol.EmptyResult] },
  "resources/unsubscribe": { params: Protocol.UnsubscribeRequestParams, results: [Protocol.EmptyResult] },
  "subscriptions/listen": {
    params: Protocol.SubscriptionsListenRequestParams,
    results: [Protocol.SubscriptionsListenResult]
  },
  "completion/complete": { params: Protocol.CompleteRequestParams, results: [Protocol.CompleteResult] },
  "logging/setLevel": { params: Protocol.SetLevelRequestParams, results: [Protocol.EmptyResult] }
}

/** Requests of servers. */
export const serverRequests: RequestSchemas<Protocol.ServerRequests> = {
  ping: empty,
  "roots/list": { params: Protocol.ListRootsRequestParams, results: [Protocol.ListRootsResult] },
  "sampling/createMessage": { params: Protocol.CreateMessageRequestParams, results: [Protocol.CreateMessageResult] },
  "elicitation/create": { params: Protocol.ElicitRequestParams, results: [Protocol.ElicitResult] }
}

/** Notifications of clients. */
export const clientNotifications: NotificationSchemas<Protocol.ClientNotifications> = {
  "notifications/initialized": Protocol.NotificationParams,
  "notifications/cancelled": Protocol.CancelledNotificationParams,
  "notifications/progress": Protocol.ProgressNotificationParams,
  "notifications/roots/list_changed": Protocol.NotificationParams
}

/** Notifications of servers. */
export const serverNotifications: NotificationSchemas<Protocol.ServerNotifications> = {
  "notifications/cancelled": Protocol.CancelledNotificationParams,
  "notifications/progress": Protocol.ProgressNotificationParams,
  "notifications/message": Protocol.LoggingMessageNotificationParams,
  "notifications/tools/list_changed": Protocol.NotificationParams,
  "notifications/prompts/list_changed": Protocol.NotificationParams,
  "notifications/resources/list_changed": Protocol.NotificationParams,
  "notifications/resources/updated": Protocol.ResourceUpdatedNotificationParams,
  "notifications/elicitation/complete": Protocol.ElicitationCompleteNotificationParams,
  "notifications/subscriptions/acknowledged": Protocol.SubscriptionsAcknowledgedNotificationParams
}
