/**
 * A server that is being served: the value, the services of its handlers, and what all of its peers share, which is
 * nothing that one of them could see of another.
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import type { CallContext } from "../definition/CallContext.ts"
import type { Members } from "../protocol/JsonRpc.ts"
import type { McpError } from "../protocol/McpError.ts"
import { MetaKey, type ServerCapabilities } from "../protocol/index.ts"
import type { Revision } from "../revision/Revision.ts"
import { revisions as known } from "../revision/Revisions.ts"
import { make as makeRequestState, RequestState, type Sealing } from "../session/RequestState.ts"
import { withForwarding } from "./LogForwarding.ts"
import type { McpServer } from "./McpServer.ts"
import { complete } from "./operations/completion.ts"
import { discover } from "./operations/discover.ts"
import { listen } from "./operations/listen.ts"
import { getPrompt, listPrompts } from "./operations/prompts.ts"
import { listResources, listTemplates, readResource } from "./operations/resources.ts"
import { callTool, listTools } from "./operations/tools.ts"

/** Carries out one method, in the canonical model. */
export type Run<R> = (params: never) => Effect.Effect<Members, McpError, R | CallContext | Scope.Scope>

/** A server that is being served. */
export interface ServerRuntime<R> {
  readonly server: McpServer<R>
  readonly services: Context.Context<R>
  readonly capabilities: ServerCapabilities
  /** The `_meta` that says who answers, in every result of the modern era (META-16). */
  readonly meta: Members
  /** The revisions spoken, newest first. */
  readonly revisions: ReadonlyArray<Revision>
  readonly requestState: Sealing
  /** Whether the server is being shut down. */
  readonly isClosing: boolean
  /** Ends when the server is being shut down, so that streams can end in the way that their revision asks. */
  readonly closing: Effect.Effect<void>
  /** Begins to shut it down. */
  readonly close: Effect.Effect<void>
  /** What clients may ask of both eras, without what an absent capability rules out. */
  readonly operations: ReadonlyMap<string, Run<R>>
}

/** Prepares a server for being served. */
export const make = <R>(server: McpServer<R>): Effect.Effect<ServerRuntime<R>, never, R | Scope.Scope> =>
  Effect.gen(function* () {
    // What is opened for a client lives as long as that client, not as long as the server.
    const services = Context.omit(Scope.Scope)(yield* Effect.context<R>()) as Context.Context<R>
    const shared = Context.getOption(services as Context.Context<never>, RequestState)
    const closing = yield* Deferred.make<void>()
    const close = Effect.asVoid(Deferred.succeed(closing, undefined))
    yield* Effect.addFinalizer(() => close)
    const runtime: ServerRuntime<R> = {
      server,
      services: server.logging ? withForwarding(services) : services,
      capabilities: capabilitiesOf(server),
      meta: { [MetaKey.serverInfo]: server.info },
      revisions: revisionsOf(server.revisions),
      requestState: Option.isSome(shared) ? shared.value : yield* makeRequestState(),
      get isClosing() {
        return Deferred.isDoneUnsafe(closing)
      },
      closing: Deferred.await(closing),
      close,
      operations: new Map<string, Run<R>>()
    }
    const operations = runtime.operations as Map<string, Run<R>>
    operations.set("server/discover", discover(runtime))
    operations.set("subscriptions/listen", listen(runtime))
    if (server.tools !== undefined) {
      operations.set("tools/list", listTools(runtime, server.tools))
      operations.set("tools/call", callTool(server.tools))
    }
    if (server.prompts !== undefined) {
      operations.set("prompts/list", listPrompts(runtime, server.prompts))
      operations.set("prompts/get", getPrompt(server.prompts))
    }
    if (server.resources !== undefined) {
      operations.set("resources/list", listResources(runtime, server.resources))
      operations.set("resources/templates/list", listTemplates(runtime, server.resources))
      operations.set("resources/read", readResource(runtime, server.resources))
    }
    if (runtime.capabilities.completions !== undefined) operations.set("completion/complete", complete(server))
    return runtime
  })

const revisionsOf = (versions: ReadonlyArray<string> | undefined): ReadonlyArray<Revision> => {
  if (versions === undefined) return known
  const unknown = versions.find((version) => !known.some((revision) => revision.version === version))
  if (unknown !== undefined) throw new TypeError(`Revision ${unknown} is not known to this package`)
  return known.filter((revision) => versions.includes(revision.version))
}

const capabilitiesOf = <R>(server: McpServer<R>): ServerCapabilities => ({
  ...(server.tools !== undefined && { tools: changing(server.tools) }),
  ...(server.prompts !== undefined && { prompts: changing(server.prompts) }),
  // Whether any resource can be subscribed to may change with the catalog, so the server says that it takes them.
  ...(server.resources !== undefined && { resources: { subscribe: true, ...changing(server.resources) } }),
  ...((server.prompts !== undefined || server.resources !== undefined) && { completions: {} }),
  ...(server.logging && { logging: {} })
})

const changing = (catalog: { readonly changes?: unknown }) =>
  catalog.changes === undefined ? {} : { listChanged: true }
