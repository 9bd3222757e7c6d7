/**
 * A peer of the `initialize` era: what it has negotiated, subscribed to and set, for as long as its session lasts.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Base64Url from "effect/encoding/Base64Url"
import { CallContext, noSteps, type StepMemory } from "../definition/CallContext.ts"
import { canAsk, type Question } from "../definition/Question.ts"
import { ErrorCode, type Members, type Request } from "../protocol/JsonRpc.ts"
import { McpError } from "../protocol/McpError.ts"
import type {
  ClientCapabilities,
  Implementation,
  InitializeRequestParams,
  InitializeResult,
  LoggingLevel
} from "../protocol/index.ts"
import { findNotification, findRequest, type Revision } from "../revision/Revision.ts"
import type { Session } from "../session/Session.ts"
import * as Work from "../session/Work.ts"
import type { Outlet } from "../transport/Transport.ts"
import { decodeParams, encodeResult, give, perform, refuse } from "./Answer.ts"
import { type Asker, Call } from "./Call.ts"
import * as Changes from "./Changes.ts"
import { unsupportedVersion } from "./ModernRequest.ts"
import type { ServerRuntime } from "./ServerRuntime.ts"

/** How long a person or a model may take to answer a question of a handler. */
const questionTimeout = "10 minutes"

/** A resource that the peer is told about. */
interface Subscription {
  /** Done when every change from then on is told, or none ever will be. */
  readonly watching: Deferred.Deferred<void>
  fiber: Fiber.Fiber<void> | undefined
  /** Whether it came to nothing. */
  failed: boolean
}

/** A peer that has sent `initialize`. */
export class LegacyPeer<R> implements Asker {
  readonly revision: Revision
  readonly #runtime: ServerRuntime<R>
  readonly #session: Session<R>
  readonly #client: InitializeRequestParams
  readonly #outlet: Outlet
  readonly #subscriptions = new Map<string, Subscription>()
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

  /** Work that answers a request that came after `initialize`. */
  answer(request: Request, outlet: Outlet): Work.Work {
    const runtime = this.#runtime
    const params = decodeParams(this.revision, request)
    if (Result.isFailure(params)) return refuse(runtime, params.failure)
    switch (request.method) {
      case "initialize":
        return refuse(runtime, McpError.protocol(ErrorCode.InvalidRequest, "This session is initialized already"))
      case "ping":
        return give(runtime, {})
      case "logging/setLevel":
        if (!runtime.server.logging) return refuse(runtime, McpError.methodNotFound(request.method))
        this.#logLevel = params.success.level as LoggingLevel
        return give(runtime, {})
      case "resources/subscribe":
      case "resources/unsubscribe":
        return Work.make(this.#subscription(request, params.success.uri as string, outlet), runtime.services)
    }
    return perform(runtime, request, params.success, this, outlet)
  }

  get info(): Implementation {
    return this.#client.clientInfo
  }

  get capabilities(): ClientCapabilities {
    return this.#client.capabilities
  }

  get logLevel(): LoggingLevel {
    return this.#logLevel
  }

  // A question does not end the request here, so no step is ever done twice.
  get steps(): StepMemory {
    return noSteps
  }

  ask(question: Question, outlet: Outlet): Effect.Effect<unknown, McpError> {
    const codec = findRequest(this.revision.serverRequests, question.method)
    if (codec === undefined || !canAsk(question, this.#client.capabilities)) {
      const needed = Object.keys(question.requires).join(", ")
      return Effect.fail(McpError.unsupported(`The client did not declare that it can do this: ${needed}`))
    }
    const refusal = codec.params.refuse?.(question.params)
    if (refusal !== undefined) return Effect.fail(McpError.unsupported(refusal))
    const options = { outlet, timeout: questionTimeout, maximumTimeout: questionTimeout } as const
    return Effect.flatMap(
      this.#session.request(question.method, codec.params.encode(withElicitationId(question.params)), options),
      (answer) => {
        const decoded = codec.result.decode(answer)
        return Result.isSuccess(decoded)
          ? Effect.succeed(decoded.success)
          : Effect.fail(McpError.decode(`The answer to ${question.method} is malformed: ${decoded.failure}`))
      }
    )
  }

  conclude(request: Request, outcome: Work.Outcome): Work.Outcome {
    return Exit.isSuccess(outcome) ? Exit.succeed(encodeResult(this.revision, request.method, outcome.value)) : outcome
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

  #subscription(request: Request, uri: string, outlet: Outlet): Effect.Effect<Members, McpError, R> {
    if (this.#runtime.server.resources === undefined) return Effect.fail(McpError.methodNotFound(request.method))
    const earlier = this.#subscriptions.get(uri)
    if (request.method === "resources/unsubscribe") {
      this.#subscriptions.delete(uri)
      return Effect.as(earlier?.fiber === undefined ? Effect.void : Fiber.interrupt(earlier.fiber), {})
    }
    if (earlier !== undefined) {
      const again = Effect.suspend(() =>
        earlier.failed ? this.#subscription(request, uri, outlet) : Effect.succeed({})
      )
      return Effect.andThen(Deferred.await(earlier.watching), again)
    }
    if (this.#subscriptions.size >= this.#runtime.server.limits.subscriptions) {
      const most = this.#runtime.server.limits.subscriptions
      return Effect.fail(McpError.limit("subscriptions", `Too many subscriptions: at most ${most}`))
    }
    const call = new Call(this.#runtime, request, this, outlet, () => Effect.never)
    call.end()
    // Its place is taken before anything is waited for, or many at once would all find one that is free.
    const subscription: Subscription = { watching: Deferred.makeUnsafe(), fiber: undefined, failed: false }
    this.#subscriptions.set(uri, subscription)
    const started = Effect.gen({ self: this }, function* () {
      const watch = yield* Effect.provideService(Changes.ofResource(this.#runtime, uri), CallContext, call)
      if (this.#subscriptions.get(uri) !== subscription) return {}
      const telling = Effect.flatMap(watch ?? Effect.succeed(Stream.empty), (changes) =>
        Effect.andThen(
          Deferred.succeed(subscription.watching, undefined),
          Stream.runForEach(changes, (change) => this.#tell(change))
        )
      )
      subscription.fiber = this.#session.fork(Effect.scoped(telling))
      // The client is told that it is subscribed when nothing will be missed any more.
      const watching = Effect.exit(Deferred.await(subscription.watching))
      const exit = yield* Effect.raceFirst(watching, Fiber.await(subscription.fiber))
      const isWanted = this.#subscriptions.get(uri) === subscription
      if (Exit.isFailure(exit) && isWanted) return yield* Effect.failCause(exit.cause)
      return {}
    })
    return Effect.onExit(started, (exit) => {
      subscription.failed = Exit.isFailure(exit)
      Deferred.doneUnsafe(subscription.watching, Effect.void)
      if (!subscription.failed) return Effect.void
      if (this.#subscriptions.get(uri) === subscription) this.#subscriptions.delete(uri)
      return subscription.fiber === undefined ? Effect.void : Fiber.interrupt(subscription.fiber)
    })
  }

  #tell({ method, params }: Changes.Change): Effect.Effect<void> {
    const codec = findNotification(this.revision.serverNotifications, method)
    if (codec === undefined) return Effect.void
    return Effect.ignore(this.#session.notify(method, codec.params.encode(params), this.#outlet))
  }
}

/** A page to open has an id in this era, and no other has the same (ELIC-08). */
const withElicitationId = (params: Question["params"]): Question["params"] =>
  params.mode === "url" && params.elicitationId === undefined
    ? { ...params, elicitationId: Base64Url.encode(SecureRandom.randomBytesUnsafe(16)) }
    : params

/** What `initialize` has settled. */
export interface Handshake {
  readonly revision: Revision
  readonly client: InitializeRequestParams
  readonly result: Members
}

/**
 * Reads `initialize` and settles on a revision: the one that was offered, or else the newest legacy one (LIFE-08).
 */
export const handshake = <R>(runtime: ServerRuntime<R>, request: Request): Result.Result<Handshake, McpError> => {
  const legacy = runtime.revisions.filter((revision) => revision.era === "legacy")
  const newest = legacy[0]
  // VER-15: a client that is too old learns what would do.
  if (newest === undefined) return Result.fail(unsupportedVersion(runtime, request.params?.protocolVersion))
  return Result.map(decodeParams(newest, request), (params) => {
    const client = params as InitializeRequestParams // read as such just before
    const revision = legacy.find(({ version }) => version === client.protocolVersion) ?? newest
    const result: InitializeResult = {
      protocolVersion: revision.version,
      capabilities: runtime.capabilities,
      serverInfo: runtime.server.info,
      ...(runtime.server.instructions !== undefined && { instructions: runtime.server.instructions })
    }
    return { revision, client, result: encodeResult(revision, "initialize", result) }
  })
}
