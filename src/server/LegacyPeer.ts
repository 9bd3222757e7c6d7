/**
 * A peer of the `initialize` era: what it has negotiated, subscribed to and set, for as long as its session lasts.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
import { Effect, Fiber, Result, Stream } from "effect"
import { CallContext } from "../definition/CallContext.ts"
import { canAsk, type Question } from "../definition/Question.ts"
import * as JsonRpc from "../protocol/JsonRpc.ts"
import { McpError } from "../protocol/McpError.ts"
import type { InitializeRequestParams, InitializeResult, LoggingLevel } from "../protocol/index.ts"
import { findNotification, findRequest, type Revision } from "../revision/Revision.ts"
import type { Session } from "../session/Session.ts"
import type { Outlet } from "../transport/Transport.ts"
import { type Asker, callContext, decodeParams, encodeResult, perform } from "./Answer.ts"
import * as Changes from "./Changes.ts"
import { unsupportedVersion } from "./ModernRequest.ts"
import type { ServerRuntime } from "./ServerRuntime.ts"

/** How long a person or a model may take to answer a question of a handler. */
const questionTimeout = "10 minutes"

/** A peer that has sent `initialize`. */
export class LegacyPeer<R> {
  readonly revision: Revision
  readonly #runtime: ServerRuntime<R>
  readonly #session: Session<R>
  readonly #client: InitializeRequestParams
  readonly #outlet: Outlet
  readonly #subscriptions = new Map<string, Fiber.Fiber<void>>()
  #logLevel: LoggingLevel = "info"
  #initialized = false

  constructor(
    runtime: ServerRuntime<R>,
    session: Session<R>,
    outlet: Outlet,
    revision: Revision,
    client: InitializeRequestParams
  ) {
    this.revision = revision
    this.#runtime = runtime
    this.#session = session
    this.#outlet = outlet
    this.#client = client
  }

  /** Answers a request that came after `initialize`. */
  answer(request: JsonRpc.Request, outlet: Outlet): Effect.Effect<JsonRpc.Members, McpError, R> {
    const params = decodeParams(this.revision, request)
    if (Result.isFailure(params)) return Effect.fail(params.failure)
    switch (request.method) {
      case "initialize":
        return Effect.fail(McpError.protocol(JsonRpc.ErrorCode.InvalidRequest, "This session is initialized already"))
      case "ping":
        return Effect.succeed({})
      case "logging/setLevel":
        if (!this.#runtime.server.logging) return Effect.fail(McpError.methodNotFound(request.method))
        this.#logLevel = params.success.level as LoggingLevel
        return Effect.succeed({})
      case "resources/subscribe":
      case "resources/unsubscribe":
        return this.#subscription(request, params.success.uri as string, outlet)
    }
    const operation = perform(this.#runtime, request, params.success, this.#asker(outlet), outlet)
    return Effect.map(operation, (result) => encodeResult(this.revision, request.method, result))
  }

  /** The client is ready: from now on it is told what changes (LIFE-06). */
  initialized(): Effect.Effect<void> {
    return Effect.sync(() => {
      if (this.#initialized) return
      this.#initialized = true
      for (const list of ["tools", "prompts", "resources"] as const) {
        if (!Changes.canChange(this.#runtime, list)) continue
        const changes = Effect.flatMap(Changes.ofList(this.#runtime, list), (stream) =>
          Stream.runForEach(stream, (change) => this.#tell(change))
        )
        this.#session.fork(Effect.scoped(changes))
      }
    })
  }

  #asker(outlet: Outlet): Asker {
    return {
      revision: this.revision,
      info: this.#client.clientInfo,
      capabilities: this.#client.capabilities,
      logLevel: this.#logLevel,
      ask: (question: Question) => this.#ask(question, outlet),
      // A question does not end the request here, so no step is ever done twice.
      steps: { get: () => undefined, set: () => {} }
    }
  }

  #ask(question: Question, outlet: Outlet): Effect.Effect<unknown, McpError> {
    const codec = findRequest(this.revision.serverRequests, question.method)
    if (codec === undefined || !canAsk(question, this.#client.capabilities)) {
      const needed = Object.keys(question.requires).join(", ")
      return Effect.fail(McpError.unsupported(`The client did not declare that it can do this: ${needed}`))
    }
    const options = { outlet, timeout: questionTimeout, maximumTimeout: questionTimeout } as const
    return Effect.flatMap(
      this.#session.request(question.method, codec.params.encode(question.params), options),
      (answer) => {
        const decoded = codec.result.decode(answer)
        return Result.isSuccess(decoded)
          ? Effect.succeed(decoded.success)
          : Effect.fail(McpError.decode(`The answer to ${question.method} is malformed: ${decoded.failure}`))
      }
    )
  }

  #subscription(request: JsonRpc.Request, uri: string, outlet: Outlet): Effect.Effect<JsonRpc.Members, McpError, R> {
    if (this.#runtime.server.resources === undefined) return Effect.fail(McpError.methodNotFound(request.method))
    const earlier = this.#subscriptions.get(uri)
    if (request.method === "resources/unsubscribe") {
      this.#subscriptions.delete(uri)
      return Effect.as(earlier === undefined ? Effect.void : Fiber.interrupt(earlier), {})
    }
    if (earlier !== undefined) return Effect.succeed({})
    if (this.#subscriptions.size >= this.#runtime.server.limits.subscriptions) {
      const most = this.#runtime.server.limits.subscriptions
      return Effect.fail(McpError.limit("subscriptions", `Too many subscriptions: at most ${most}`))
    }
    const call = callContext(this.#runtime, request, this.#asker(outlet), outlet)
    return Effect.map(Effect.provideService(Changes.ofResource(this.#runtime, uri), CallContext, call), (changes) => {
      const telling = Stream.runForEach(changes, (change) => this.#tell(change))
      this.#subscriptions.set(uri, this.#session.fork(telling))
      return {}
    })
  }

  #tell({ method, params }: Changes.Change): Effect.Effect<void> {
    const codec = findNotification(this.revision.serverNotifications, method)
    if (codec === undefined) return Effect.void
    return Effect.ignore(this.#session.notify(method, codec.params.encode(params), this.#outlet))
  }
}

/**
 * Reads `initialize` and settles on a revision: the one that was offered, or else the newest legacy one (LIFE-08).
 */
export const handshake = <R>(
  runtime: ServerRuntime<R>,
  request: JsonRpc.Request
): Effect.Effect<
  { readonly revision: Revision; readonly client: InitializeRequestParams; readonly result: InitializeResult },
  McpError
> => {
  const legacy = runtime.revisions.filter((revision) => revision.era === "legacy")
  const newest = legacy[0]
  // VER-15: a client that is too old learns what would do.
  if (newest === undefined) return Effect.fail(unsupportedVersion(runtime, request.params?.protocolVersion))
  const decoded = decodeParams(newest, request)
  if (Result.isFailure(decoded)) return Effect.fail(decoded.failure)
  const client = decoded.success as InitializeRequestParams
  const revision = legacy.find(({ version }) => version === client.protocolVersion) ?? newest
  const result: InitializeResult = {
    protocolVersion: revision.version,
    capabilities: runtime.capabilities,
    serverInfo: runtime.server.info,
    ...(runtime.server.instructions !== undefined && { instructions: runtime.server.instructions })
  }
  return Effect.succeed({ revision, client, result: encodeResult(revision, "initialize", result) as InitializeResult })
}
