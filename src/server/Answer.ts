/**
 * Answering one request of a peer: from the JSON of its revision to an operation, and back.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import { CallContext } from "../definition/CallContext.ts"
import type { Question } from "../definition/Question.ts"
import type * as JsonRpc from "../protocol/JsonRpc.ts"
import { McpError } from "../protocol/McpError.ts"
import type { ClientCapabilities, Implementation, LoggingLevel, RequestMeta } from "../protocol/index.ts"
import { findNotification, findRequest, type Revision } from "../revision/Revision.ts"
import type { StepMemory } from "../definition/CallContext.ts"
import * as Work from "../session/Work.ts"
import { type Outlet, sendNow } from "../transport/Transport.ts"
import { forwardLogs, needsMore } from "./LogForwarding.ts"
import type { Run, ServerRuntime } from "./ServerRuntime.ts"

/** What is known of the peer when it asks. */
export interface Asker {
  readonly revision: Revision
  readonly info: Implementation | undefined
  readonly capabilities: ClientCapabilities
  readonly logLevel: LoggingLevel | undefined
  readonly ask: (question: Question) => Effect.Effect<unknown, McpError>
  readonly steps: StepMemory
}

/** The params of a request as its revision spells them, read into the canonical model. */
export const decodeParams = (
  revision: Revision,
  request: JsonRpc.Request
): Result.Result<JsonRpc.Members, McpError> => {
  const codec = findRequest(revision.clientRequests, request.method)
  if (codec === undefined) return Result.fail(McpError.methodNotFound(request.method))
  const params = codec.params.decode(request.params)
  return Result.isSuccess(params)
    ? Result.succeed(params.success as JsonRpc.Members)
    : Result.fail(McpError.invalidParams(`Invalid params of ${request.method}: ${params.failure}`))
}

/** A result in the canonical model, as a revision spells it. */
export const encodeResult = (revision: Revision, method: string, result: JsonRpc.Members): JsonRpc.Members =>
  findRequest(revision.clientRequests, method)?.result.encode(result) ?? result

/** Work that carries out a request whose params have been read, on behalf of whoever asks. */
export const perform = <R>(
  runtime: ServerRuntime<R>,
  request: JsonRpc.Request,
  params: JsonRpc.Members,
  asker: Asker,
  outlet: Outlet
): Work.Work => {
  const run = runtime.operations.get(request.method)
  // The revision has the method, but this server has no use for it (ERR-02).
  if (run === undefined) return refuse(runtime, McpError.methodNotFound(request.method))
  const sender = new NotificationSender(asker.revision, outlet, request.method === "subscriptions/listen")
  const call = callContext(runtime, request, asker, outlet, sender.send)
  const scope = Scope.makeUnsafe()
  const context = Context.add(Context.add(runtime.services, CallContext, call), Scope.Scope, scope)
  const handler = Work.attempt(() => through(runtime, run, request.method, params))
  const logged =
    call.logLevel === undefined || !needsMore(runtime.services, call.logLevel)
      ? handler
      : forwardLogs(handler, call.logLevel)
  return Work.make(logged, context, (outcome) => {
    sender.end()
    return scope.state._tag === "Empty" ? outcome : Effect.andThen(Scope.close(scope, outcome), outcome)
  })
}

/** Work that has nothing to do but to say no. */
export const refuse = <R>(runtime: ServerRuntime<R>, error: McpError): Work.Work =>
  Work.make(Exit.fail(error), runtime.services)

/** Work whose result is there already. */
export const give = <R>(runtime: ServerRuntime<R>, result: JsonRpc.Members): Work.Work =>
  Work.make(Exit.succeed(result), runtime.services)

/** What a handler, or a catalog, may know of a call. */
export const callContext = <R>(
  runtime: ServerRuntime<R>,
  request: JsonRpc.Request,
  asker: Asker,
  outlet: Outlet,
  notify: CallContext["Service"]["notify"] = () => Effect.void
): CallContext["Service"] => ({
  method: request.method,
  requestId: request.id,
  revision: asker.revision,
  caller: { info: asker.info, capabilities: asker.capabilities },
  principal: outlet.principal,
  meta: (request.params?._meta ?? {}) as RequestMeta,
  headers: outlet.headers,
  logLevel: runtime.server.logging ? asker.logLevel : undefined,
  notify,
  disconnect: outlet.disconnect ?? Effect.void,
  ask: asker.ask,
  steps: asker.steps
})

const through = <R>(
  runtime: ServerRuntime<R>,
  run: Run<R>,
  method: string,
  params: JsonRpc.Members
): Effect.Effect<JsonRpc.Members, McpError, R | CallContext | Scope.Scope> => {
  let handler = run(params as never) // the codec of this method has read them
  const around = runtime.server.middleware
  for (let index = around.length - 1; index >= 0; index--) {
    // What the handler needs is provided with the whole chain; a middleware need not know of it.
    const next = handler as Effect.Effect<JsonRpc.Members, McpError, CallContext | Scope.Scope>
    handler = (around[index] as NonNullable<(typeof around)[number]>)({ method, params }, next)
  }
  return handler
}

const aboutRequests = new Set(["notifications/progress", "notifications/message"])

/** Log messages of one call that wait for a client to read, before more of them are left out: a logger can't wait. */
const logsUnread = 64

/** Sends the notifications of one call: rising progress only, and nothing after its end (PROG-02, PROG-06). */
class NotificationSender {
  readonly #revision: Revision
  readonly #outlet: Outlet
  readonly #onlyChanges: boolean
  #progress = -Infinity
  #logsUnread = 0
  #ended = false

  constructor(revision: Revision, outlet: Outlet, onlyChanges: boolean) {
    this.#revision = revision
    this.#outlet = outlet
    this.#onlyChanges = onlyChanges
  }

  readonly send = (method: string, params: JsonRpc.Members): Effect.Effect<void> =>
    Effect.suspend(() => {
      const codec = findNotification(this.#revision.serverNotifications, method)
      if (codec === undefined || this.#ended) return Effect.void
      // A listen stream carries what was listened for, and nothing about the request itself (SUBS-08).
      if (this.#onlyChanges && aboutRequests.has(method)) return Effect.void
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
    })

  end(): void {
    this.#ended = true
  }
}
