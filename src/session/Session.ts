/**
 * One peer, seen from either side: which of our requests wait for an answer, and which of its requests we are
 * working on. A session is a scoped resource; closing its scope interrupts every handler and fails every waiting call.
 *
 * It knows JSON-RPC, cancellation and progress, and nothing of tools or revisions.
 */
import { Clock, Context, Duration, Effect, Exit, Fiber, type Scope } from "effect"
import * as JsonRpc from "../protocol/JsonRpc.ts"
import { McpError, Timeout } from "../protocol/McpError.ts"
import { type Outlet, sendNow, type SendOptions } from "../transport/Transport.ts"
import { type Deadline, Deadlines } from "../transport/Deadlines.ts"
import type { Limits } from "./Limits.ts"
import { Flight, failureOf } from "./Flight.ts"
import { Flights } from "./Flights.ts"
import type { Work } from "./Work.ts"

/** How one request of ours is to be treated. */
export interface RequestOptions {
  /** Time without an answer after which the request is cancelled and fails with `Timeout`. Default 60 seconds. */
  readonly timeout?: Duration.Input | undefined
  /** Whether progress starts `timeout` anew. Default `true`. */
  readonly extendOnProgress?: boolean | undefined
  /** The most that extending can add up to, from the start of the request. Default 10 minutes. */
  readonly maximumTimeout?: Duration.Input | undefined
  /** Told of every progress notification for this request, in order, before the answer. */
  readonly onProgress?: ((params: JsonRpc.Members) => void) | undefined
  /** Where the request goes. Default: the session's own outlet. */
  readonly outlet?: Outlet | undefined
  /** Hints for the transport. */
  readonly send?: SendOptions | undefined
  /** Called with the id that the request got, before it is sent. */
  readonly onId?: ((id: JsonRpc.RequestId) => void) | undefined
}

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
  /** Whether two requests in flight may share an id because each has its own outlet (HTTP). */
  readonly sharedIds?: boolean | undefined
  /** Whether a request that is given up is announced with `notifications/cancelled`. */
  readonly cancellable?: ((method: string) => boolean) | undefined
}

interface Waiting {
  readonly method: string
  readonly onProgress: ((params: JsonRpc.Members) => void) | undefined
  readonly deadline: Deadline
  readonly extend: (() => void) | undefined
  readonly resume: (exit: Exit.Exit<JsonRpc.Members, McpError>) => void
  sending: Fiber.Fiber<void, McpError> | undefined
}

const defaultTimeout = 60_000
const defaultMaximumTimeout = 600_000

const milliseconds = (duration: Duration.Input | undefined, otherwise: number): number =>
  duration === undefined
    ? otherwise
    : typeof duration === "number"
      ? duration
      : Duration.toMillis(Duration.fromInputUnsafe(duration))

/** One peer. Made with {@link make}. */
export class Session<R = never> {
  readonly #options: Options<R>
  readonly #run: <A, E>(effect: Effect.Effect<A, E, R>) => Fiber.Fiber<A, E>
  readonly #deadlines: Deadlines
  readonly #waiting = new Map<JsonRpc.RequestId, Waiting>()
  readonly #flights = new Flights()
  readonly #background = new Set<Fiber.Fiber<unknown, unknown>>()
  #lastId = -1
  #inFlight = 0
  #onIdle: (() => void) | undefined
  /** Pieces of work that the peer waits for. */
  #holds = 0
  #closed: McpError | undefined
  /** Answers that wait for the peer to read. */
  #unread = 0
  #unblocked: Array<() => void> = []

  constructor(options: Options<R>, context: Context.Context<R>) {
    this.#options = options
    this.#run = Effect.runForkWith(context)
    this.#deadlines = new Deadlines(Context.get(context, Clock.Clock), (effect) => this.fork(effect))
  }

  /** How many requests of the peer are being worked on. */
  get inFlight(): number {
    return this.#inFlight
  }

  /** How many requests of ours wait for an answer. */
  get waiting(): number {
    return this.#waiting.size
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
    options: RequestOptions = {}
  ): Effect.Effect<JsonRpc.Members, McpError> {
    return Effect.withFiber((caller) => {
      if (this.#closed !== undefined) return Effect.fail(this.#closed)
      const id = ++this.#lastId
      options.onId?.(id)
      const outlet = options.outlet ?? this.#options.outlet
      const message = JsonRpc.request(id, method, withToken(id, params, options))
      return Effect.callback((resume) => {
        const waiting = this.#register(id, method, options, resume)
        // Sending runs beside the wait: over HTTP it lasts as long as the exchange.
        const sending = sendNow(outlet, message, options.send)
        if (sending !== Effect.void) this.#observe(id, waiting, Effect.runForkWith(caller.context)(sending))
        return Effect.suspend(() => {
          if (!this.#forget(id, waiting)) return Effect.void
          waiting.sending?.interruptUnsafe()
          return this.#announceCancel(id, method, outlet)
        })
      })
    })
  }

  /**
   * Runs what the peer waits for while it works for us, such as a person's answer to its question. Until that is done no
   * request of ours times out before its maximum, unless it says that it must not be extended.
   */
  withoutTimeouts<A, E, R2>(work: Effect.Effect<A, E, R2>): Effect.Effect<A, E, R2> {
    return Effect.suspend(() => {
      this.#holds++
      return Effect.onExit(work, () => {
        this.#holds--
        for (const waiting of this.#waiting.values()) waiting.extend?.()
        return Effect.void
      })
    })
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
    if (JsonRpc.isRequest(message)) return this.#start(message, outlet)
    if (JsonRpc.isNotification(message)) return this.#notified(message)
    return this.#settle(message)
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
            this.#onIdle = () => resume(Effect.void)
          })
    )
  }

  /** Ends the session: handlers are interrupted and awaited, waiting calls fail with `reason`. */
  close(reason: McpError): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.#closed !== undefined) return Effect.void
      this.#closed = reason
      for (const [id, waiting] of this.#waiting) {
        this.#forget(id, waiting)
        waiting.sending?.interruptUnsafe()
        waiting.resume(Exit.fail(reason))
      }
      return Effect.andThen(Fiber.interruptAll([...this.#background]), this.#flights.cancelAll)
    })
  }

  #register(id: JsonRpc.RequestId, method: string, options: RequestOptions, resume: Waiting["resume"]): Waiting {
    const timeout = milliseconds(options.timeout, defaultTimeout)
    const maximum = milliseconds(options.maximumTimeout, defaultMaximumTimeout)
    const started = this.#deadlines.now()
    const deadline: Deadline = {
      at: started + timeout,
      expire: () => {
        if (this.#holds > 0 && waiting.extend !== undefined) {
          waiting.extend()
          if (deadline.at > this.#deadlines.now()) return this.#deadlines.add(deadline)
        }
        if (!this.#forget(id, waiting)) return
        waiting.sending?.interruptUnsafe()
        resume(Exit.fail(new McpError({ reason: new Timeout({ method, after: this.#deadlines.now() - started }) })))
        this.fork(this.#announceCancel(id, method, options.outlet ?? this.#options.outlet))
      }
    }
    const extend = () => {
      deadline.at = Math.max(deadline.at, Math.min(this.#deadlines.now() + timeout, started + maximum))
    }
    const waiting: Waiting = {
      method,
      onProgress: options.onProgress,
      deadline,
      extend: options.extendOnProgress === false ? undefined : extend,
      resume,
      sending: undefined
    }
    this.#waiting.set(id, waiting)
    if (timeout !== Infinity) this.#deadlines.add(deadline)
    return waiting
  }

  #observe(id: JsonRpc.RequestId, waiting: Waiting, sending: Fiber.Fiber<void, McpError>): void {
    const sent = sending.pollUnsafe()
    if (sent !== undefined) return this.#sent(id, waiting, sent)
    waiting.sending = sending
    sending.addObserver((exit) => this.#sent(id, waiting, exit))
  }

  #sent(id: JsonRpc.RequestId, waiting: Waiting, exit: Exit.Exit<void, McpError>): void {
    waiting.sending = undefined
    if (Exit.isSuccess(exit) || !this.#forget(id, waiting)) return
    waiting.resume(Exit.fail(failureOf(exit.cause) ?? McpError.transport("Sending was cut off", { cause: exit.cause })))
  }

  /** Whether the request was still waiting: whoever gets `true` decides how it ends. */
  #forget(id: JsonRpc.RequestId, waiting: Waiting): boolean {
    if (this.#waiting.get(id) !== waiting) return false
    this.#waiting.delete(id)
    this.#deadlines.remove(waiting.deadline)
    return true
  }

  #announceCancel(id: JsonRpc.RequestId, method: string, outlet: Outlet): Effect.Effect<void> {
    if (this.#closed !== undefined || this.#options.cancellable?.(method) === false) return Effect.void
    // The caller has given up: it must not wait for a peer that is slow to read.
    return Effect.sync(() => {
      this.fork(Effect.ignore(outlet.send(JsonRpc.notification("notifications/cancelled", { requestId: id }))))
    })
  }

  #settle(message: JsonRpc.Response): Effect.Effect<void> {
    return this.#resolve(
      message,
      message.id,
      "result" in message
        ? Exit.succeed(message.result)
        : Exit.fail(McpError.protocol(message.error.code, message.error.message, message.error.data))
    )
  }

  #malformed(message: JsonRpc.Malformed, outlet: Outlet): Effect.Effect<void> {
    if (!message.response) {
      return Effect.andThen(this.#stray(message), Effect.ignore(outlet.send(JsonRpc.error(message.id, message.error))))
    }
    const failure = McpError.decode(`The peer sent a malformed answer: ${message.error.message}`)
    return this.#resolve(message, message.id, Exit.fail(failure))
  }

  #resolve(
    message: JsonRpc.Incoming,
    id: JsonRpc.RequestId | undefined,
    exit: Exit.Exit<JsonRpc.Members, McpError>
  ): Effect.Effect<void> {
    const waiting = id === undefined ? undefined : this.#waiting.get(id)
    if (waiting === undefined) return this.#stray(message)
    this.#forget(id as JsonRpc.RequestId, waiting)
    waiting.resume(exit)
    return Effect.void
  }

  #stray(message: JsonRpc.Incoming): Effect.Effect<void> {
    return Effect.sync(() => {
      this.fork(this.#options.onStray(message))
    })
  }

  #notified(message: JsonRpc.Notification): Effect.Effect<void> {
    const params = message.params
    if (message.method === "notifications/cancelled") {
      const id = params?.requestId
      if (JsonRpc.isRequestId(id) && this.cancel(id)) return Effect.void
    } else if (message.method === "notifications/progress") {
      const waiting = this.#waiting.get(params?.progressToken as JsonRpc.RequestId)
      if (waiting === undefined || typeof params?.progress !== "number") return Effect.void
      waiting.extend?.()
      waiting.onProgress?.(params)
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
      if (this.#inFlight === 0) this.#onIdle?.()
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
      return {
        code: JsonRpc.ErrorCode.InvalidRequest,
        message: `Request id ${JSON.stringify(request.id)} is already in use`
      }
    }
    return undefined
  }

  // Nothing more is read from a peer that leaves many answers unread.
  readonly #readable: Effect.Effect<void> = Effect.callback((resume) => {
    if (this.#unread < this.#options.limits.answersUnread) resume(Effect.void)
    else this.#unblocked.push(() => resume(Effect.void))
  })
}

// A token is asked for only by a caller who listens: the peer then knows that progress is wanted.
const withToken = (id: JsonRpc.RequestId, params: JsonRpc.Members | undefined, options: RequestOptions) =>
  options.onProgress === undefined
    ? params
    : { ...params, _meta: { ...(params?._meta as JsonRpc.Members | undefined), progressToken: id } }

/** Opens a session that lives as long as the scope. */
export const make = <R>(options: Options<R>): Effect.Effect<Session<R>, never, R | Scope.Scope> =>
  Effect.gen(function* () {
    const session = new Session(options, yield* Effect.context<R>())
    yield* Effect.addFinalizer(() => session.close(McpError.closed("The session was closed by this side")))
    return session
  })
