/**
 * One peer, seen from either side: which of our requests wait for an answer, and which of its requests we are
 * working on. A session is a scoped resource; closing its scope interrupts every handler and fails every waiting call.
 *
 * It knows JSON-RPC, cancellation and progress, and nothing of tools or revisions.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as JsonRpc from "../protocol/JsonRpc.ts"
import { McpError } from "../protocol/McpError.ts"
import { Deadlines } from "../transport/Deadlines.ts"
import type { Outlet } from "../transport/Transport.ts"
import { BatchOutlet } from "./BatchOutlet.ts"
import { type Call, Calls, type RequestOptions } from "./Calls.ts"
import { Flight } from "./Flight.ts"
import { Flights } from "./Flights.ts"
import type { Limits } from "./Limits.ts"
import type { Work } from "./Work.ts"

export type { RequestOptions } from "./Calls.ts"

/** What a session needs to know of its owner. */
export interface Options<R> {
  /** Where messages go that belong to no exchange. */
  readonly outlet: Outlet
  /** Says how a request of the peer is answered. */
  readonly onRequest: (request: JsonRpc.Request, outlet: Outlet) => Work
  /** Takes a notification of the peer; cancellation and progress have been dealt with before. */
  readonly onNotification: (notification: JsonRpc.Notification) => Effect.Effect<void, never, R>
  /** What arrived and was no message, and answers that nobody waits for. */
  readonly onStray: (message: JsonRpc.Incoming) => Effect.Effect<void, never, R>
  readonly limits: Limits
  /** Whether the peer may, at this moment, send several messages in one array. Default: never (BASE-17). */
  readonly batches?: (() => boolean) | undefined
  /** Whether two requests in flight may share an id because each has its own outlet (HTTP). */
  readonly sharedIds?: boolean | undefined
  /** Whether a request that is given up is announced with `notifications/cancelled`. */
  readonly cancellable?: ((method: string) => boolean) | undefined
}

/** One peer. Made with {@link make}. */
export class Session<R = never> {
  readonly #options: Options<R>
  readonly #run: <A, E>(effect: Effect.Effect<A, E, R>) => Fiber.Fiber<A, E>
  readonly #calls: Calls
  readonly #flights = new Flights()
  readonly #background = new Set<Fiber.Fiber<unknown, unknown>>()
  #inFlight = 0
  #idling: Array<() => void> = []
  #closed: McpError | undefined
  /** Answers that wait for the peer to read. */
  #unread = 0
  #unblocked: Array<() => void> = []

  constructor(options: Options<R>, context: Context.Context<R>) {
    this.#options = options
    this.#run = Effect.runForkWith(context)
    this.#calls = new Calls({
      outlet: options.outlet,
      deadlines: new Deadlines(Context.get(context, Clock.Clock), (effect) => this.fork(effect)),
      announceCancel: (call) => this.#announceCancel(call),
      fork: (effect) => this.fork(effect)
    })
  }

  /** How many requests of the peer are being worked on. */
  get inFlight(): number {
    return this.#inFlight
  }

  /** How many requests of ours wait for an answer. */
  get waiting(): number {
    return this.#calls.size
  }

  /** Why the session has ended, once it has. */
  get closed(): McpError | undefined {
    return this.#closed
  }

  /** Runs an effect for as long as the session lives, or until it is done. */
  fork<A, E>(effect: Effect.Effect<A, E, R>): Fiber.Fiber<A, E> {
    const fiber = this.#run(effect)
    if (fiber.pollUnsafe() === undefined) {
      if (this.#closed !== undefined) {
        fiber.interruptUnsafe()
      } else {
        this.#background.add(fiber)
        fiber.addObserver(() => this.#background.delete(fiber))
      }
    }
    return fiber
  }

  /**
   * Sends a request and waits for its answer. Interrupting the wait cancels the request at the other end.
   * Fails once, with a typed reason, whatever becomes of the peer.
   */
  request(
    method: string,
    params?: JsonRpc.Members,
    options?: RequestOptions
  ): Effect.Effect<JsonRpc.Members, McpError> {
    return this.#calls.request(method, params, options)
  }

  /**
   * Sends the requests that are made while `start` runs as one array. Whoever calls this knows that the peer takes arrays
   * (BASE-14), and leaves `initialize` out (BASE-16).
   */
  batch<A>(start: () => A): A {
    return this.#calls.batch(start)
  }

  /**
   * Runs what the peer waits for while it works for us, such as a person's answer to its question. Until that is done no
   * request of ours times out before its maximum, unless it says that it must not be extended.
   */
  withoutTimeouts<A, E, R2>(work: Effect.Effect<A, E, R2>): Effect.Effect<A, E, R2> {
    return this.#calls.withoutTimeouts(work)
  }

  /** Sends a notification. */
  notify(
    method: string,
    params?: JsonRpc.Members,
    outlet: Outlet = this.#options.outlet
  ): Effect.Effect<void, McpError> {
    return Effect.suspend(() =>
      this.#closed === undefined ? outlet.send(JsonRpc.notification(method, params)) : Effect.fail(this.#closed)
    )
  }

  /**
   * Takes a message of the peer. The effect it returns ends when the next message may be read, which is at once
   * unless answers pile up unread.
   */
  receive(message: JsonRpc.Incoming, outlet: Outlet = this.#options.outlet): Effect.Effect<void> {
    if (message instanceof JsonRpc.Malformed) return this.#malformed(message, outlet)
    if (message instanceof JsonRpc.Batch) return this.#batch(message, outlet)
    if (JsonRpc.isRequest(message)) return this.#start(message, outlet)
    if (JsonRpc.isNotification(message)) return this.#notified(message)
    return this.#answered(message)
  }

  /** Interrupts what is being worked on for this id. Whether there was anything. */
  cancel(id: JsonRpc.RequestId): boolean {
    return this.#flights.cancel(id)
  }

  /** Ends when nothing that the peer asked for is under way. */
  get idle(): Effect.Effect<void> {
    return Effect.suspend(() =>
      this.#inFlight === 0
        ? Effect.void
        : Effect.callback((resume) => {
            this.#idling.push(() => resume(Effect.void))
          })
    )
  }

  /** Ends the session: handlers are interrupted and awaited, waiting calls fail with `reason`. */
  close(reason: McpError): Effect.Effect<void> {
    const closing = Effect.suspend(() => {
      if (this.#closed !== undefined) return Effect.void
      this.#closed = reason
      // Handlers first: one that waits for an answer of the peer is interrupted, and does not fail.
      const landing = this.#flights.cancelAll()
      this.#calls.close(reason)
      const ended = Effect.andThen(Fiber.interruptAll([...this.#background]), landing)
      return Effect.flatMap(Effect.forkDetach(ended, { startImmediately: true }), (ending) =>
        Effect.timeoutOrElse(Effect.interruptible(Fiber.await(ending)), {
          duration: this.#options.limits.closing,
          // Whoever can't be interrupted goes on alone; nothing that it says reaches the peer any more.
          orElse: () =>
            Effect.logWarning(`A session was closed while ${this.#inFlight} handlers could not be interrupted`)
        })
      )
    })
    // A call that fails may close the scope that this runs in: half of it done would leave handlers behind for good.
    return Effect.uninterruptible(closing)
  }

  #announceCancel({ id, method, outlet }: Call): void {
    if (this.#closed !== undefined || this.#options.cancellable?.(method) === false) return
    // Over HTTP the peer may have left the exchange in which it was asked, and still be asking its user.
    const to = outlet.isOpen === false ? this.#options.outlet : outlet
    // The caller has given up: it must not wait for a peer that is slow to read.
    this.fork(Effect.ignore(to.send(JsonRpc.notification("notifications/cancelled", { requestId: id }))))
  }

  #answered(message: JsonRpc.Response): Effect.Effect<void> {
    const answer =
      "result" in message
        ? Exit.succeed(message.result)
        : Exit.fail(McpError.protocol(message.error.code, message.error.message, message.error.data))
    return this.#calls.settle(message.id, answer) ? Effect.void : this.#stray(message)
  }

  #malformed(message: JsonRpc.Malformed, outlet: Outlet): Effect.Effect<void> {
    if (!message.response) {
      return Effect.andThen(this.#stray(message), Effect.ignore(outlet.send(JsonRpc.error(message.id, message.error))))
    }
    const failure = McpError.decode(`The peer sent a malformed answer: ${message.error.message}`)
    return this.#calls.settle(message.id, Exit.fail(failure)) ? Effect.void : this.#stray(message)
  }

  #stray(message: JsonRpc.Incoming): Effect.Effect<void> {
    return Effect.sync(() => {
      this.fork(this.#options.onStray(message))
    })
  }

  #batch(batch: JsonRpc.Batch, outlet: Outlet): Effect.Effect<void> {
    const refused = this.#refuseBatch(batch)
    if (refused !== undefined) return this.#malformed(new JsonRpc.Malformed(refused), outlet)
    const owed = batch.messages.filter(JsonRpc.needsAnswer).length
    const shared = new BatchOutlet(outlet, owed, (effect) => this.fork(effect))
    return Effect.forEach(batch.messages, (message) => this.receive(message, shared), { discard: true })
  }

  #refuseBatch(batch: JsonRpc.Batch): JsonRpc.ErrorObject | undefined {
    if (this.#options.batches?.() !== true) {
      return {
        code: JsonRpc.ErrorCode.InvalidRequest,
        message: "Batches are not allowed here: send one message at a time"
      }
    }
    const { batchMessages } = this.#options.limits
    if (batch.size <= batchMessages) return undefined
    return {
      code: JsonRpc.ErrorCode.LimitExceeded,
      message: `Too many messages in one batch: at most ${batchMessages}`
    }
  }

  #notified(message: JsonRpc.Notification): Effect.Effect<void> {
    if (message.method === "notifications/cancelled") {
      const id = message.params?.requestId
      if (JsonRpc.isRequestId(id) && this.cancel(id)) return Effect.void
    } else if (message.method === "notifications/progress") {
      this.#calls.progress(message.params)
      return Effect.void
    }
    return Effect.sync(() => {
      this.fork(this.#options.onNotification(message))
    })
  }

  #start(request: JsonRpc.Request, outlet: Outlet): Effect.Effect<void> {
    if (this.#closed !== undefined) return Effect.void
    const refused = this.#refuse(request)
    if (refused !== undefined) return Effect.ignore(outlet.send(JsonRpc.error(request.id, refused)))
    const flight = new Flight(request, outlet, this.#options.onRequest(request, outlet), this.#tower)
    this.#inFlight++
    flight.start()
    if (!flight.landed) this.#flights.add(flight)
    return this.#unread < this.#options.limits.answersUnread ? Effect.void : this.#readable
  }

  readonly #tower = {
    unread: (): void => {
      this.#unread++
    },
    landed: (flight: Flight): void => {
      this.#inFlight--
      this.#flights.delete(flight)
      if (this.#inFlight === 0 && this.#idling.length > 0) {
        const idling = this.#idling
        this.#idling = []
        for (const resume of idling) resume()
      }
      if (!flight.replying) return
      this.#unread--
      if (this.#unread >= this.#options.limits.answersUnread) return
      const resumed = this.#unblocked
      this.#unblocked = []
      for (const resume of resumed) resume()
    }
  }

  #refuse(request: JsonRpc.Request): JsonRpc.ErrorObject | undefined {
    if (this.#inFlight >= this.#options.limits.requestsInFlight) {
      const message = `Too many requests in flight: at most ${this.#options.limits.requestsInFlight}; wait for answers first`
      return { code: JsonRpc.ErrorCode.LimitExceeded, message }
    }
    if (this.#options.sharedIds !== true && this.#flights.has(request.id)) {
      const message = `Request id ${JSON.stringify(request.id)} is already in use`
      return { code: JsonRpc.ErrorCode.InvalidRequest, message }
    }
    return undefined
  }

  // Nothing more is read from a peer that leaves many answers unread.
  readonly #readable: Effect.Effect<void> = Effect.callback((resume) => {
    if (this.#unread < this.#options.limits.answersUnread) resume(Effect.void)
    else this.#unblocked.push(() => resume(Effect.void))
  })
}

/** Opens a session that lives as long as the scope. */
export const make = <R>(options: Options<R>): Effect.Effect<Session<R>, never, R | Scope.Scope> =>
  Effect.gen(function* () {
    const session = new Session(options, yield* Effect.context<R>())
    yield* Effect.addFinalizer(() => session.close(McpError.closed("The session was closed by this side")))
    return session
  })
