/**
 * `resources/list`, `resources/templates/list` and `resources/read`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { CallContext } from "../../definition/CallContext.ts"
import * as Resource from "../../definition/Resource.ts"
import { McpError } from "../../protocol/McpError.ts"
import type {
  ListResourcesRequestParams,
  ListResourcesResult,
  ListResourceTemplatesRequestParams,
  ListResourceTemplatesResult,
  ReadResourceRequestParams,
  ReadResourceResult
} from "../../protocol/index.ts"
import type { Catalog } from "../Catalog.ts"
import type { ServerRuntime } from "../ServerRuntime.ts"
import { cacheHint, listPage } from "./listPage.ts"

type Resources<R> = Catalog<Resource.Any<R>, R>

const isFixed = <R>(entry: Resource.Any<R>): entry is Resource.Fixed<R> => entry._tag === "Resource"
const isTemplate = <R>(entry: Resource.Any<R>): entry is Resource.Template<R> => entry._tag === "ResourceTemplate"

export const listResources =
  <R>(runtime: ServerRuntime<R>, catalog: Resources<R>) =>
  (params: ListResourcesRequestParams): Effect.Effect<ListResourcesResult, McpError, R | CallContext> => {
    const list = Effect.mapEager(catalog.list, (entries) => entries.filter(isFixed))
    return listPage(runtime.server, "resources", list, params.cursor, (entries) => ({
      resources: entries.map((resource) => resource.description)
    }))
  }

export const listTemplates =
  <R>(runtime: ServerRuntime<R>, catalog: Resources<R>) =>
  (
    params: ListResourceTemplatesRequestParams
  ): Effect.Effect<ListResourceTemplatesResult, McpError, R | CallContext> => {
    const list = Effect.mapEager(catalog.list, (entries) => entries.filter(isTemplate))
    return listPage(runtime.server, "resourceTemplates", list, params.cursor, (entries) => ({
      resourceTemplates: entries.map((template) => template.description)
    }))
  }

/** The resource behind a URI: the one of that name, or the first template that matches. */
export const findResource = <R>(
  catalog: Resources<R>,
  uri: string
): Effect.Effect<Resource.Match<R>, McpError | Resource.NotFound, R | CallContext> =>
  Effect.flatMap(catalog.find(uri), (entry) => {
    if (entry !== undefined && isFixed(entry)) return Effect.succeed(entry)
    return Effect.flatMap(catalog.list, (entries): Effect.Effect<Resource.Match<R>, McpError | Resource.NotFound> => {
      for (const template of entries) {
        if (!isTemplate(template)) continue
        const match = template.match(uri)
        if (Result.isFailure(match)) return Effect.fail(McpError.invalidParams(match.failure.message, { uri }))
        if (match.success !== undefined) return Effect.succeed(match.success)
      }
      return Effect.fail(new Resource.NotFound({ uri }))
    })
  })

/** Tells the peer in the words of its revision that there is no such resource (RES-07, RES-08). */
export const asNotFound = <A, R>(
  effect: Effect.Effect<A, McpError | Resource.NotFound, R>
): Effect.Effect<A, McpError, R | CallContext> =>
  Effect.catchTag(effect, "ResourceNotFound", (error) =>
    Effect.flatMap(CallContext, ({ revision }) =>
      Effect.fail(McpError.protocol(revision.errorCode.resourceNotFound, error.message, { uri: error.uri }))
    )
  )

export const readResource =
  <R>(runtime: ServerRuntime<R>, catalog: Resources<R>) =>
  (params: ReadResourceRequestParams): Effect.Effect<ReadResourceResult, McpError, R | CallContext | Scope.Scope> =>
    Effect.map(asNotFound(Effect.flatMap(findResource(catalog, params.uri), (match) => match.read)), (result) => ({
      ...result,
      ...cacheHint(runtime.server, "read")
    }))
