/**
 * Resources: data that a server lets clients read by URI.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources
 */
import * as Schema from "effect/Schema"
import * as Base64 from "effect/encoding/Base64"
import { Annotations } from "./Annotations.ts"
import { cacheable } from "./Caching.ts"
import { baseMetadata, icons } from "./Icon.ts"
import { inputResponseParams } from "./InputResponses.ts"
import { notificationParams, requestParams, resultMembers } from "./Message.ts"
import { Meta } from "./Meta.ts"
import { PaginatedRequestParams, paginatedResult } from "./Pagination.ts"

const described = {
  ...baseMetadata,
  ...icons,
  description: Schema.optionalKey(Schema.String),
  mimeType: Schema.optionalKey(Schema.String),
  annotations: Schema.optionalKey(Annotations),
  _meta: Schema.optionalKey(Meta)
}

/** Members of a resource; a resource link in content has the same. */
export const resourceMembers = {
  ...described,
  uri: Schema.String,
  /** Bytes, before any encoding. */
  size: Schema.optionalKey(Schema.Int)
}

/** A resource that can be read (RES-03). */
export const Resource = Schema.Struct(resourceMembers)

/** A resource that can be read. */
export type Resource = typeof Resource.Type

/** A family of resources; `uriTemplate` is RFC 6570 (RES-06). */
export const ResourceTemplate = Schema.Struct({ ...described, uriTemplate: Schema.String })

/** A family of resources. */
export type ResourceTemplate = typeof ResourceTemplate.Type

const resourceContents = {
  uri: Schema.String,
  mimeType: Schema.optionalKey(Schema.String),
  _meta: Schema.optionalKey(Meta)
}

/** Contents that are text. */
export const TextResourceContents = Schema.Struct({ ...resourceContents, text: Schema.String })

/** Contents that are text. */
export type TextResourceContents = typeof TextResourceContents.Type

/** Contents that are bytes, as standard Base64. */
export const BlobResourceContents = Schema.Struct({ ...resourceContents, blob: Schema.String })

/** Contents that are bytes. */
export type BlobResourceContents = typeof BlobResourceContents.Type

/** Contents of a resource: told apart by which of `text` and `blob` is there (RES-04). */
export const ResourceContents = Schema.Union([TextResourceContents, BlobResourceContents])

/** Contents of a resource. */
export type ResourceContents = typeof ResourceContents.Type

/** Builds contents that are text. */
export const textContents = (uri: string, text: string, mimeType?: string): TextResourceContents =>
  mimeType === undefined ? { uri, text } : { uri, mimeType, text }

/** Builds contents that are bytes; they are encoded as Base64. */
export const blobContents = (uri: string, bytes: Uint8Array, mimeType?: string): BlobResourceContents =>
  mimeType === undefined ? { uri, blob: Base64.encode(bytes) } : { uri, mimeType, blob: Base64.encode(bytes) }

/** Params of `resources/list`. */
export const ListResourcesRequestParams = PaginatedRequestParams

/** Params of `resources/list`. */
export type ListResourcesRequestParams = typeof ListResourcesRequestParams.Type

/** Result of `resources/list`. */
export const ListResourcesResult = Schema.Struct({
  ...resultMembers,
  ...paginatedResult,
  ...cacheable,
  resources: Schema.Array(Resource)
})

/** Result of `resources/list`. */
export type ListResourcesResult = typeof ListResourcesResult.Type

/** Params of `resources/templates/list`. */
export const ListResourceTemplatesRequestParams = PaginatedRequestParams

/** Params of `resources/templates/list`. */
export type ListResourceTemplatesRequestParams = typeof ListResourceTemplatesRequestParams.Type

/** Result of `resources/templates/list`. */
export const ListResourceTemplatesResult = Schema.Struct({
  ...resultMembers,
  ...paginatedResult,
  ...cacheable,
  resourceTemplates: Schema.Array(ResourceTemplate)
})

/** Result of `resources/templates/list`. */
export type ListResourceTemplatesResult = typeof ListResourceTemplatesResult.Type

/** Params of `resources/read`. */
export const ReadResourceRequestParams = Schema.Struct({ ...requestParams, ...inputResponseParams, uri: Schema.String })

/** Params of `resources/read`. */
export type ReadResourceRequestParams = typeof ReadResourceRequestParams.Type

/** Result of `resources/read`: one or more contents (RES-05). */
export const ReadResourceResult = Schema.Struct({
  ...resultMembers,
  ...cacheable,
  contents: Schema.Array(ResourceContents)
})

/** Result of `resources/read`. */
export type ReadResourceResult = typeof ReadResourceResult.Type

/** Params of `resources/subscribe`, up to 2025-11-25 (RES-09). */
export const SubscribeRequestParams = Schema.Struct({ ...requestParams, uri: Schema.String })

/** Params of `resources/subscribe`. */
export type SubscribeRequestParams = typeof SubscribeRequestParams.Type

/** Params of `resources/unsubscribe`, up to 2025-11-25 (RES-09). */
export const UnsubscribeRequestParams = Schema.Struct({ ...requestParams, uri: Schema.String })

/** Params of `resources/unsubscribe`. */
export type UnsubscribeRequestParams = typeof UnsubscribeRequestParams.Type

/** Params of `notifications/resources/updated`; `uri` may name a part of what was subscribed to. */
export const ResourceUpdatedNotificationParams = Schema.Struct({ ...notificationParams, uri: Schema.String })

/** Params of `notifications/resources/updated`. */
export type ResourceUpdatedNotificationParams = typeof ResourceUpdatedNotificationParams.Type
