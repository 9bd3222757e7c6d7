/**
 * The requests of ours that wait for an answer: their ids, time limits, progress, and how each of them ends, once.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as JsonRpc from "../protocol/JsonRpc.ts"
import { McpError, Timeout } from "../protocol/McpError.ts"
import type { Deadline, Deadlines } from "../transport/Deadlines.ts"
import { type Outlet, sendNow, type SendOptions } from "../transport/Transport.ts"
import { failureOf } from "./Flight.ts"
import { OutgoingBatch } from "./OutgoingBatch.ts"

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

const defaultTimeout = 60_000
const defaultMaximumTimeout = 600_000
const noOptions: RequestOptions = {}

const milliseconds = (duration: Duration.Input | undefined, otherwise: number): number => {
  if (duration === undefined) return otherwise
  return typeof duration === "number" ? duration : Duration.toMillis(Duration.fromInputUnsafe(duration))
}

/** How a call ends. */
type Answer = Exit.Exit<JsonRpc.Members, McpError>

/** What a table of calls needs of its session. */
export interface Owner {
  /** Where requests go that name no other outlet. */
  readonly outlet: Outlet
  readonly deadlines: Deadlines
  /** Tells the peer, beside everything else, that it need not go on. */
  readonly announceCancel: (call: Call) => void
  /** Runs an effect for as long as the session lives. */
  readonly fork: <A, E>(effect: Effect.Effect<A, E>) => Fiber.Fiber<A, E>
}

/** One request of ours that waits. */
export class Call implements Deadline {
  readonly id: JsonRpc.RequestId
  readonly method: string
  readonly outlet: Outlet
  readonly onProgress: ((params: JsonRpc.Members) => void) | undefined
  readonly resume: (answer: Answer) => void
  /** Runs while the message is being handed over: over HTTP, as long as the exchange. */
  sending: Fiber.Fiber<void, McpError> | undefined
  at: number
  readonly #calls: Calls
  readonly #started: number
  readonly #timeout: number
  readonly #extends: boolean
  readonly #maximum: Duration.Input | undefined

  constructor(
    calls: Calls,
    id: JsonRpc.RequestId,
    method: string,
    outlet: Outlet,
    options: RequestOptions,
    now: number,
    resume: (answer: Answer) => void
  ) {
    this.id = id
    this.method = method
    this.outlet = outlet
    this.onProgress = options.onProgress
    this.resume = resume
    this.#calls = calls
    this.#started = now
    this.#timeout = milliseconds(options.timeout, defaultTimeout)
    this.#extends = options.extendOnProgress !== false
    this.#maximum = options.maximumTimeout
    this.at = now + this.#timeout
  }

  /** Starts the time limit anew, as far as the maximum lets it. */
  extend(now: number): void {
    if (!this.#extends) return
    const latest = this.#started + milliseconds(this.#maximum, defaultMaximumTimeout)
    this.at = Math.max(this.at, Math.min(now + this.#timeout, latest))
  }

  expire(): void {
    this.#calls.expire(this)
  }

  /** The failure that says how long it was waited for. */
  timeout(now: number): McpError {
    return new McpError({ reason: new Timeout({ method: this.method, after: now - this.#started }) })
  }
}

/** The calls of one session. */
export class Calls {
  readonly #owner: Owner
  readonly #waiting = new Map<JsonRpc.RequestId, Call>()
  #lastId = -1
  /** How much this side is doing at the moment that the peer waits for. */
  #holds = 0
  #closed: McpError | undefined
  /** Takes the requests that go out together, while they are made. */
  #batch: OutgoingBatch | undefined

  constructor(owner: Owner) {
    this.#owner = owner
  }

  /** How many calls wait. */
  get size(): number {
    return this.#waiting.size
  }

  /** Sends a request and waits for its answer. Interrupting the wait cancels the request at the other end. */
  request(
    method: string,
    params: JsonRpc.Members | undefined,
    options: RequestOptions = noOptions
  ): Effect.Effect<JsonRpc.Members, McpError> {
    return Effect.callback((resume) => {
      if (this.#closed !== undefined) return resume(Exit.fail(this.#closed))
      const id = ++this.#lastId
      options.onId?.(id)
      const { deadlines } = this.#owner
      const outlet = options.outlet ?? this.#batch ?? this.#owner.outlet
      const call = new Call(this, id, method, outlet, options, deadlines.now(), resume)
      this.#waiting.set(id, call)
      if (call.at !== Infinity) deadlines.add(call)
      // Sending runs beside the wait: over HTTP it lasts as long as the exchange.
      const sending = sendNow(outlet, JsonRpc.request(id, method, withToken(id, params, options)), options.send)
      if (sending !== Effect.void) this.#observe(call, sending)
      return Effect.sync(() => {
        if (!this.#forget(call)) return
        call.sending?.interruptUnsafe()
        this.#owner.announceCancel(call)
      })
    })
  }

  /** Sends the requests that are made while `start` runs as one array. */
  batch<A>(start: () => A): A {
    if (this.#batch !== undefined) return start()
    const batch = new OutgoingBatch(this.#owner.outlet, this.#owner.fork)
    this.#batch = batch
    try {
      return start()
    } finally {
      this.#batch = undefined
      batch.flush()
    }
  }

  /** Ends the call with this id. Whether anyone waited for it. */
  settle(id: JsonRpc.RequestId | undefined, answer: Answer): boolean {
    const call = id === undefined ? undefined : this.#waiting.get(id)
    if (call === undefined) return false
    this.#forget(call)
    call.resume(answer)
    return true
  }

  /** Hands progress to the call with this token. */
  progress(params: JsonRpc.Members | undefined): void {
    const call = this.#waiting.get(params?.progressToken as JsonRpc.RequestId)
    if (call === undefined || params === undefined || typeof params.progress !== "number") return
    call.extend(this.#owner.deadlines.now())
    call.onProgress?.(params)
  }

  /**
   * Runs what the peer waits for while it works for us, such as a person's answer to its question. Until that is done no
   * call times out before its maximum, unless it says that it must not be extended.
   */
  withoutTimeouts<A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      this.#holds++
      return Effect.onExit(work, () => {
        this.#holds--
        const now = this.#owner.deadlines.now()
        for (const call of this.#waiting.values()) call.extend(now)
        return Effect.void
      })
    })
  }

  /** Fails all calls, now and later. */
  close(reason: McpError): void {
    this.#closed = reason
    for (const call of this.#waiting.values()) {
      this.#forget(call)
      call.sending?.interruptUnsafe()
      call.resume(Exit.fail(reason))
    }
  }

  /** The time of a call is up. */
  expire(call: Call): void {
    const { announceCancel, deadlines } = this.#owner
    const now = deadlines.now()
    if (this.#holds > 0) {
      call.extend(now)
      if (call.at > now) return deadlines.add(call)
    }
    if (!this.#forget(call)) return
    call.sending?.interruptUnsafe()
    call.resume(Exit.fail(call.timeout(now)))
    announceCancel(call)
  }

  #observe(call: Call, sending: Effect.Effect<void, McpError>): void {
    const caller = Fiber.getCurrent()
    const fiber = caller === undefined ? Effect.runFork(sending) : Effect.runForkWith(caller.context)(sending)
    const sent = fiber.pollUnsafe()
    if (sent !== undefined) return this.#sent(call, sent)
    call.sending = fiber
    fiber.addObserver((exit) => this.#sent(call, exit))
  }

  #sent(call: Call, exit: Exit.Exit<void, McpError>): void {
    call.sending = undefined
    if (Exit.isSuccess(exit) || !this.#forget(call)) return
    call.resume(Exit.fail(failureOf(exit.cause) ?? McpError.transport("Sending was cut off", { cause: exit.cause })))
  }

  /** Whether the call was still waiting: whoever gets `true` decides how it ends. */
  #forget(call: Call): boolean {
    if (!this.#waiting.delete(call.id)) return false
    this.#owner.deadlines.remove(call)
    return true
  }
}

// A token is asked for only by a caller who listens: the peer then knows that progress is wanted.
const withToken = (id: JsonRpc.RequestId, params: JsonRpc.Members | undefined, options: RequestOptions) =>
  options.onProgress === undefined
    ? params
    : { ...params, _meta: { ...(params?._meta as JsonRpc.Members | undefined), progressToken: id } }
