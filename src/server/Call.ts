/**
 * One request of a peer while a handler works on it: what the handler may know of it, and the work itself.
 *
 * Every request makes one, so it is one object that reads most of what it tells from others.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { CallContext, type Caller, type StepMemory } from "../definition/CallContext.ts"
import type { Question } from "../definition/Question.ts"
import type * as JsonRpc from "../protocol/JsonRpc.ts"
import type { McpError } from "../protocol/McpError.ts"
import type { ClientCapabilities, Implementation, LoggingLevel, RequestMeta } from "../protocol/index.ts"
import { findNotification, type Revision } from "../revision/Revision.ts"
import { attempt, type Outcome, type Work } from "../session/Work.ts"
import { type Outlet, type Principal, sendNow } from "../transport/Transport.ts"
import { forwardLogs, needsMore } from "./LogForwarding.ts"
import type { ServerRuntime } from "./ServerRuntime.ts"

/** What is known of the peer when it asks, and what becomes of the outcome. */
export interface Asker {
  readonly revision: Revision
  readonly info: Implementation | undefined
  readonly capabilities: ClientCapabilities
  readonly logLevel: LoggingLevel | undefined
  readonly steps: StepMemory
  /** Asks the peer something on behalf of the request whose answer goes to `outlet`. */
  ask(question: Question, outlet: Outlet): Effect.Effect<unknown, McpError>
  /** Makes the answer, spelled as the revision does it, of what the handler came to. An `Exit` unless that takes time. */
  conclude(request: JsonRpc.Request, outcome: Outcome): Effect.Effect<JsonRpc.Members, McpError>
}

type CallInformation = CallContext["Service"]

const aboutRequests = new Set(["notifications/progress", "notifications/message"])

/** Log messages of one call that wait for a client to read, before more of them are left out: a logger can't wait. */
const logsUnread = 64

/** The work on a request, and what its handler may know of it. */
export class Call<R> implements CallInformation, Work {
  readonly effect: Effect.Effect<JsonRpc.Members, McpError>
  readonly #runtime: ServerRuntime<R>
  readonly #request: JsonRpc.Request
  readonly #asker: Asker
  readonly #outlet: Outlet
  // Made with the context, which a handler that has its result at hand does without.
  #scope: Scope.Closeable | undefined
  #context: Context.Context<never> | undefined
  #progress = -Infinity
  #logsUnread = 0
  #ended = false

  constructor(
    runtime: ServerRuntime<R>,
    request: JsonRpc.Request,
    asker: Asker,
    outlet: Outlet,
    handler: () => Effect.Effect<JsonRpc.Members, McpError, R | CallContext | Scope.Scope>
  ) {
    this.#runtime = runtime
    this.#request = request
    this.#asker = asker
    this.#outlet = outlet
    const work = attempt(handler) as Effect.Effect<JsonRpc.Members, McpError>
    const { logLevel } = this
    this.effect = logLevel === undefined || !needsMore(runtime.services, logLevel) ? work : forwardLogs(work, logLevel)
  }

  get context(): Context.Context<never> {
    if (this.#context !== undefined) return this.#context
    this.#scope = Scope.makeUnsafe()
    const call = Context.add(this.#runtime.services, CallContext, this)
    // The services that the handler needs are in the context it is kept with.
    this.#context = Context.add(call, Scope.Scope, this.#scope) as Context.Context<never>
    return this.#context
  }

  get method(): string {
    return this.#request.method
  }

  get requestId(): JsonRpc.RequestId {
    return this.#request.id
  }

  get revision(): Revision {
    return this.#asker.revision
  }

  get caller(): Caller {
    return { info: this.#asker.info, capabilities: this.#asker.capabilities }
  }

  get principal(): Principal | undefined {
    return this.#outlet.principal
  }

  get meta(): RequestMeta {
    return (this.#request.params?._meta ?? {}) as RequestMeta
  }

  get headers(): Outlet["headers"] {
    return this.#outlet.headers
  }

  get logLevel(): LoggingLevel | undefined {
    return this.#runtime.server.logging ? this.#asker.logLevel : undefined
  }

  get disconnect(): Effect.Effect<void> {
    return this.#outlet.disconnect ?? Effect.void
  }

  get steps(): StepMemory {
    return this.#asker.steps
  }

  // Functions that are made when they are wanted: a handler may take them out of the service.

  get ask(): CallInformation["ask"] {
    return (question) => this.#asker.ask(question, this.#outlet)
  }

  get notify(): CallInformation["notify"] {
    return (method, params) => Effect.suspend(() => this.#notify(method, params))
  }

  /** The handler is done; what it still says is of no interest to anybody. */
  end(): void {
    this.#ended = true
  }

  after(outcome: Outcome): Effect.Effect<JsonRpc.Members, McpError> {
    this.end()
    const scope = this.#scope
    if (scope === undefined || scope.state._tag === "Empty") return this.#asker.conclude(this.#request, outcome)
    return Effect.andThen(
      Scope.close(scope, outcome),
      Effect.suspend(() => this.#asker.conclude(this.#request, outcome))
    )
  }

  /** Sends rising progress only, and nothing after the end (PROG-02, PROG-06). */
  #notify(method: string, params: JsonRpc.Members): Effect.Effect<void> {
    const codec = findNotification(this.#asker.revision.serverNotifications, method)
    if (codec === undefined || this.#ended) return Effect.void
    // A listen stream carries what was listened for, and nothing about the request itself (SUBS-08).
    if (this.method === "subscriptions/listen" && aboutRequests.has(method)) return Effect.void
    if (method === "notifications/progress") {
      const progress = params.progress as number
      if (!(progress > this.#progress)) return Effect.void
      this.#progress = progress
    }
    const isLog = method === "notifications/message"
    if (isLog && this.#logsUnread >= logsUnread) return Effect.void
    // When the peer is gone there is nobody to tell; the call itself is interrupted by its session.
    const sending = sendNow(this.#outlet, { jsonrpc: "2.0", method, params: codec.params.encode(params) })
    if (sending === Effect.void) return Effect.void
    if (!isLog) return Effect.ignore(sending)
    this.#logsUnread++
    return Effect.ensuring(
      Effect.ignore(sending),
      Effect.sync(() => this.#logsUnread--)
    )
  }
}
