/**
 * What a client can be told of: changes of the lists, and of resources that it subscribed to.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { CallContext } from "../definition/CallContext.ts"
import type { McpError } from "../protocol/McpError.ts"
import { asNotFound, findResource } from "./operations/resources.ts"
import type { ServerRuntime } from "./ServerRuntime.ts"

/** A notification to send. */
export interface Change {
  readonly method: string
  readonly params: { readonly [member: string]: unknown }
}

/** Starts watching, and gives the changes from then on. */
export type Watch<R> = Effect.Effect<Stream.Stream<Change, never, R>, never, R | Scope.Scope>

/** The lists that can change, with the notification that says so. */
export const lists = {
  tools: "notifications/tools/list_changed",
  prompts: "notifications/prompts/list_changed",
  resources: "notifications/resources/list_changed"
} as const

/** The name of a list that can change. */
export type ListName = keyof typeof lists

/** Whether a list can change at all. */
export const canChange = <R>(runtime: ServerRuntime<R>, list: ListName): boolean =>
  runtime.server[list]?.changes !== undefined

/** Changes of one list, from now on. */
export const ofList = <R>(
  runtime: ServerRuntime<R>,
  list: ListName
): Effect.Effect<Stream.Stream<Change>, never, Scope.Scope> => {
  const changes = runtime.server[list]?.changes
  if (changes === undefined) return Effect.succeed(Stream.empty)
  return Effect.map(
    changes,
    Stream.map((): Change => ({ method: lists[list], params: {} }))
  )
}

/** How to watch one resource; `undefined` when it never changes. Fails when there is no such resource. */
export const ofResource = <R>(
  runtime: ServerRuntime<R>,
  uri: string
): Effect.Effect<Watch<R> | undefined, McpError, R | CallContext> => {
  if (runtime.server.resources === undefined) return Effect.undefined
  return Effect.map(
    asNotFound(findResource(runtime.server.resources, uri)),
    ({ changes }) =>
      changes &&
      Effect.map(
        changes,
        Stream.map((): Change => ({ method: "notifications/resources/updated", params: { uri } }))
      )
  )
}
