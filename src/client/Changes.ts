/**
 * Being told what changes on a server, the same in both eras: its lists, and single resources.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import { McpError } from "../protocol/McpError.ts"
import type { SubscriptionFilter } from "../protocol/index.ts"
import type { ServerNotification } from "./Notifications.ts"

/** What to be told of. */
export interface ChangeFilter {
  /** Changes of the list of tools. Default `false`. */
  readonly tools?: boolean | undefined
  /** Changes of the list of prompts. Default `false`. */
  readonly prompts?: boolean | undefined
  /** Changes of the list of resources. Default `false`. */
  readonly resources?: boolean | undefined
  /** URIs of resources whose content to watch. Default: none. */
  readonly uris?: ReadonlyArray<string> | undefined
}

/** Something has changed. What it is now, the client asks for when it wants to know. */
export type Change =
  | { readonly _tag: "ToolsChanged" }
  | { readonly _tag: "PromptsChanged" }
  | { readonly _tag: "ResourcesChanged" }
  /** `uri` may name a part of the resource that is watched. */
  | { readonly _tag: "ResourceUpdated"; readonly uri: string }

/** Opens a subscription: from the moment the effect has ended nothing is missed. Its scope ends it. */
export type Subscribe = (filter: ChangeFilter) => Effect.Effect<Stream.Stream<Change, McpError>, McpError, Scope.Scope>

/** Changes that wait for a slow reader; then the oldest are dropped. */
export const bufferSize = 256

/** The filter as the protocol says it. */
export const toSubscriptionFilter = ({ prompts, resources, tools, uris = [] }: ChangeFilter): SubscriptionFilter => ({
  ...(tools === true && { toolsListChanged: true }),
  ...(prompts === true && { promptsListChanged: true }),
  ...(resources === true && { resourcesListChanged: true }),
  ...(uris.length > 0 && { resourceSubscriptions: [...new Set(uris)] })
})

/** The change that a notification tells of, if it is one that the filter is about. */
export const changeOf = (filter: SubscriptionFilter, { method, params }: ServerNotification): Change | undefined => {
  switch (method) {
    case "notifications/tools/list_changed":
      return filter.toolsListChanged === true ? { _tag: "ToolsChanged" } : undefined
    case "notifications/prompts/list_changed":
      return filter.promptsListChanged === true ? { _tag: "PromptsChanged" } : undefined
    case "notifications/resources/list_changed":
      return filter.resourcesListChanged === true ? { _tag: "ResourcesChanged" } : undefined
    case "notifications/resources/updated":
      return filter.resourceSubscriptions?.some((uri) => params.uri.startsWith(uri)) === true
        ? { _tag: "ResourceUpdated", uri: params.uri }
        : undefined
    default:
      return undefined
  }
}

/** One change for everything in the filter: what to say when something may have been missed. */
export const allChanges = (filter: SubscriptionFilter): ReadonlyArray<Change> => [
  ...(filter.toolsListChanged === true ? [{ _tag: "ToolsChanged" } as const] : []),
  ...(filter.promptsListChanged === true ? [{ _tag: "PromptsChanged" } as const] : []),
  ...(filter.resourcesListChanged === true ? [{ _tag: "ResourcesChanged" } as const] : []),
  ...(filter.resourceSubscriptions ?? []).map((uri) => ({ _tag: "ResourceUpdated", uri }) as const)
]

/**
 * Compares what was wished for with what the server does (SUBS-06). A part that it does not do is logged; a server that
 * does nothing of it makes the subscription fail with `Unsupported`.
 */
export const compare = (wished: SubscriptionFilter, honoured: SubscriptionFilter): Effect.Effect<void, McpError> => {
  const missing = parts(wished).filter((part) => !parts(honoured).includes(part))
  if (missing.length === 0) return Effect.void
  const message = `The server does not tell of these changes: ${missing.join(", ")}`
  return missing.length === parts(wished).length
    ? Effect.fail(McpError.unsupported(message))
    : Effect.logWarning(message)
}

const parts = (filter: SubscriptionFilter): ReadonlyArray<string> => [
  ...(["toolsListChanged", "promptsListChanged", "resourcesListChanged"] as const).filter((name) => filter[name]),
  ...(filter.resourceSubscriptions ?? [])
]
