/**
 * One connection to a client, or one legacy HTTP session: tells the eras apart, message by message, and serves both.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as JsonRpc from "../protocol/JsonRpc.ts"
import { McpError } from "../protocol/McpError.ts"
import { BatchOutlet } from "../session/BatchOutlet.ts"
import { make as makeSession, type Session } from "../session/Session.ts"
import { andThen, type Work } from "../session/Work.ts"
import type { Outlet } from "../transport/Transport.ts"
import { tooMany } from "./Admission.ts"
import { give, refuse } from "./Answer.ts"
import { handshake, LegacyPeer } from "./LegacyPeer.ts"
import * as ModernRequest from "./ModernRequest.ts"
import * as Presence from "./Presence.ts"
import type { ServerRuntime } from "./ServerRuntime.ts"

/** Options of {@link open}. */
export interface Options {
  /** Whether requests in flight may share an id because each has its own outlet. */
  readonly sharedIds?: boolean | undefined
}

/** A client, as a server sees it. */
export class ServerPeer<R> {
  readonly #runtime: ServerRuntime<R>
  readonly #outlet: Outlet
  #session!: Session<R>
  #legacy: LegacyPeer<R> | undefined
  /** The requests that listen for changes. */
  readonly #listeners = new Set<{ readonly id: JsonRpc.RequestId }>()
  #onSilence: (() => void) | undefined
  #heard = 0
  #isModern = false

  constructor(runtime: ServerRuntime<R>, outlet: Outlet) {
    this.#runtime = runtime
    this.#outlet = outlet
  }

  /** The revision that `initialize` has settled on; `undefined` before, and for modern peers. */
  get revision(): string | undefined {
    return this.#legacy?.revision.version
  }

  /** Whether the client may send several messages in one array: in 2025-03-26, once that is settled on (BASE-15). */
  get batches(): boolean {
    return this.#legacy?.revision.batches === true
  }

  /** How many requests are being worked on. */
  get inFlight(): number {
    return this.#session.inFlight
  }

  /** How many requests of this side wait for an answer. */
  get waiting(): number {
    return this.#session.waiting
  }

  /** Whether it has sent `initialize`, or a request that stands for itself. */
  get isIntroduced(): boolean {
    return this.#isModern || this.#legacy !== undefined
  }

  /** How many messages have come from it. */
  get heard(): number {
    return this.#heard
  }

  /** Asks the client whether it is there; `undefined` where clients can't be asked. */
  get ping(): Effect.Effect<void, McpError> | undefined {
    if (this.#legacy === undefined) return undefined
    return Presence.ping((timeout) => this.#session.request("ping", undefined, { timeout }))
  }

  /** Takes a message. The effect ends when the next one may be read. */
  receive(message: JsonRpc.Incoming, outlet: Outlet): Effect.Effect<void> {
    this.#heard++
    return this.#session.receive(message, outlet)
  }

  /** Ends when nothing that the client asked for is under way. */
  get idle(): Effect.Effect<void> {
    return this.#session.idle
  }

  /** Ends when nobody listens for changes any more, and everyone who did was told so. */
  get silence(): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.#listeners.size === 0) return Effect.void
      const silent = Effect.callback<void>((resume) => {
        this.#onSilence = () => resume(Effect.void)
      })
      return Effect.andThen(silent, Effect.yieldNow)
    })
  }

  /** Interrupts whatever listens for changes: it would never end by itself, and nobody is left to end it. */
  stopListening(): void {
    for (const { id } of this.#listeners) this.cancel(id)
  }

  /** Interrupts the request with this id. */
  cancel(id: JsonRpc.RequestId): boolean {
    return this.#session.cancel(id)
  }

  /** @internal */
  attach(session: Session<R>): void {
    this.#session = session
  }

  /** @internal */
  readonly onRequest = (request: JsonRpc.Request, outlet: Outlet): Work => {
    const runtime = this.#runtime
    if (runtime.isClosing) return refuse(runtime, McpError.protocol(JsonRpc.ErrorCode.InternalError, shuttingDown))
    const isModern = ModernRequest.isModern(request)
    if (outlet instanceof BatchOutlet && (isModern || request.method === "initialize")) {
      return refuse(runtime, McpError.protocol(JsonRpc.ErrorCode.InvalidRequest, alone(request)))
    }
    if (isModern) {
      this.#isModern = true
      if (request.method !== "subscriptions/listen") return ModernRequest.answer(runtime, request, outlet)
      const { listeners } = runtime.server.limits
      return this.#listeners.size < listeners
        ? this.#listening(request.id, ModernRequest.answer(runtime, request, outlet))
        : refuse(runtime, tooMany("listeners", listeners))
    }
    if (this.#legacy !== undefined) return this.#legacy.answer(request, outlet)
    if (request.method === "initialize") return this.#initialize(request)
    return request.method === "ping" ? give(runtime, {}) : refuse(runtime, this.#uninitialized(request))
  }

  /** @internal */
  readonly onNotification = (notification: JsonRpc.Notification): Effect.Effect<void> =>
    notification.method === "notifications/initialized" && this.#legacy !== undefined
      ? this.#legacy.initialized()
      : Effect.void

  // After its result a listener is told by a cancellation too that it hears no more: on a connection no stream ends that
  // would say so (SUBS-10).
  #listening(id: JsonRpc.RequestId, work: Work): Work {
    const listener = { id }
    this.#listeners.add(listener)
    return andThen(work, (outcome) => {
      if (Exit.isSuccess(outcome)) {
        const cancelled = this.#session.notify("notifications/cancelled", { requestId: id })
        this.#session.fork(Effect.andThen(Effect.yieldNow, Effect.ignore(cancelled)))
      }
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.#onSilence?.()
      return outcome
    })
  }

  #initialize(request: JsonRpc.Request): Work {
    const settled = handshake(this.#runtime, request)
    if (Result.isFailure(settled)) return refuse(this.#runtime, settled.failure)
    const { client, result, revision } = settled.success
    this.#legacy = new LegacyPeer(this.#runtime, this.#session, this.#outlet, revision, client)
    return give(this.#runtime, result)
  }

  #uninitialized(request: JsonRpc.Request): McpError {
    return this.#runtime.revisions.some((revision) => revision.era === "legacy")
      ? McpError.protocol(JsonRpc.ErrorCode.InvalidRequest, `Send "initialize" before "${request.method}"`)
      : McpError.invalidParams('params._meta["io.modelcontextprotocol/protocolVersion"] must be a string')
  }
}

const shuttingDown = "The server is shutting down; try again elsewhere or later"

/** A new session begins with a message of its own (BASE-16), and a modern revision has no batches (BASE-17). */
const alone = ({ method }: JsonRpc.Request) => `"${method}" must not be part of a batch here: send it by itself`

/** Opens a peer whose unrelated messages go to `outlet`. Lives as long as the scope. */
export const open = <R>(
  runtime: ServerRuntime<R>,
  outlet: Outlet,
  options: Options = {}
): Effect.Effect<ServerPeer<R>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const peer = new ServerPeer(runtime, outlet)
    const session = yield* Effect.updateContext(
      makeSession<R>({
        outlet,
        limits: runtime.server.limits,
        sharedIds: options.sharedIds,
        batches: () => peer.batches,
        onRequest: peer.onRequest,
        onNotification: peer.onNotification,
        onStray: () => Effect.void
      }),
      // The server's services and nothing else: whatever serves the first request is not to live, or be seen, for longer.
      (context: Context.Context<Scope.Scope>) =>
        Context.add(runtime.services, Scope.Scope, Context.get(context, Scope.Scope))
    )
    peer.attach(session)
    return peer
  })
