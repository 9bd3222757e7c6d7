/**
 * `subscriptions/listen` (from 2026-07-28): one long request that carries the change notifications it asked for.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import * as Schema from "effect/Schema"
import { RequestId } from "./Identifiers.ts"
import { Implementation } from "./Implementation.ts"
import { JsonObject } from "./Json.ts"
import { notificationParams, requestParams, resultMembers } from "./Message.ts"
import { MetaKey } from "./Meta.ts"

/** Which changes: absent and `false` mean no (SUBS-02, SUBS-03). */
export const SubscriptionFilter = Schema.Struct({
  toolsListChanged: Schema.optionalKey(Schema.Boolean),
  promptsListChanged: Schema.optionalKey(Schema.Boolean),
  resourcesListChanged: Schema.optionalKey(Schema.Boolean),
  /** URIs of resources. */
  resourceSubscriptions: Schema.optionalKey(Schema.Array(Schema.String))
})

/** Which changes. */
export type SubscriptionFilter = typeof SubscriptionFilter.Type

/** Params of `subscriptions/listen`. */
export const SubscriptionsListenRequestParams = Schema.Struct({ ...requestParams, notifications: SubscriptionFilter })

/** Params of `subscriptions/listen`. */
export type SubscriptionsListenRequestParams = typeof SubscriptionsListenRequestParams.Type

/** Result of `subscriptions/listen`: the server ends it in good order, and names it in `_meta` (SUBS-09). */
export const SubscriptionsListenResult = Schema.Struct({
  ...resultMembers,
  _meta: Schema.StructWithRest(
    Schema.Struct({
      [MetaKey.serverInfo]: Schema.optionalKey(Implementation),
      [MetaKey.subscriptionId]: RequestId
    }),
    [JsonObject]
  )
})

/** Result of `subscriptions/listen`. */
export type SubscriptionsListenResult = typeof SubscriptionsListenResult.Type

/** Params of `notifications/subscriptions/acknowledged`: what of the filter the server honours (SUBS-04). */
export const SubscriptionsAcknowledgedNotificationParams = Schema.Struct({
  ...notificationParams,
  notifications: SubscriptionFilter
})

/** Params of `notifications/subscriptions/acknowledged`. */
export type SubscriptionsAcknowledgedNotificationParams = typeof SubscriptionsAcknowledgedNotificationParams.Type
