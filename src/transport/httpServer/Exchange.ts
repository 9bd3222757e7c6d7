/**
 * One request over HTTP while it is being answered. Answered at once, it is a JSON body; when there is something to say
 * before the answer, or the answer takes long, it becomes a stream of events.
 */
import * as Effect from "effect/Effect"
import * as JsonRpc from "../../protocol/JsonRpc.ts"
import type { Deadline } from "../Deadlines.ts"
import * as Sse from "../Sse.ts"
import type { Outlet, Principal } from "../Transport.ts"
import { type EventStream, make as makeEventStream } from "./EventStream.ts"
import type { Headers, HttpResponse } from "./HttpMessage.ts"
import type { SessionStream } from "./SessionStream.ts"

/** What an exchange needs of the server. */
export interface Host {
  /** Runs an effect for as long as the server lives. */
  readonly fork: (effect: Effect.Effect<void>) => void
  /** Called when an exchange begins. */
  readonly begun: () => void
  /** Called once for each exchange: its answer was given, or nobody waits for it any more. */
  readonly settled: () => void
  /** Called for every event stream that is opened. */
  readonly opened: (stream: EventStream) => void
  /** Milliseconds after which a request without an answer gets a stream. */
  readonly streamAfter: number
  /** Milliseconds for which a client may leave a full event stream unread. */
  readonly readTimeout: number
  readonly now: () => number
  readonly schedule: (deadline: Deadline) => void
  readonly unschedule: (deadline: Deadline) => void
}

/** Options of an exchange. */
export interface Options {
  readonly host: Host
  readonly headers: Headers
  readonly principal: Principal | undefined
  /** The status of one answer that is a JSON body. */
  readonly status: (answer: JsonRpc.Response) => number
  /** Headers of the response, whatever its form. */
  readonly responseHeaders?: { readonly [name: string]: string } | undefined
  /** In a legacy session, the stream that a response of events is a connection of. */
  readonly sessionStream?: (() => SessionStream) | undefined
  /** In a legacy session, whether a connection starts with an event that the client can resume after. */
  readonly resumable?: (() => boolean) | undefined
  /** The client is gone before the answer. */
  readonly onGone: () => void
}

export const eventStreamHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  // Or a proxy would hold events back (HTTP-42).
  "x-accel-buffering": "no"
}

/** An exchange. As an outlet it takes what belongs to its request. */
export class Exchange implements Outlet {
  readonly headers: Headers
  readonly principal: Principal | undefined
  readonly #options: Options
  readonly #patience: Deadline
  #respond: ((response: HttpResponse) => void) | undefined
  #stream: EventStream | undefined
  #sessionStream: SessionStream | undefined
  #opening: Effect.Effect<void> | undefined
  #done = false
  #abandoned = false

  constructor(options: Options) {
    this.#options = options
    this.headers = options.headers
    this.principal = options.principal
    this.#patience = {
      at: options.host.now() + options.host.streamAfter,
      expire: () => {
        options.host.fork(this.#open())
      }
    }
  }

  get isOpen(): boolean {
    return !this.#done && !this.#abandoned && this.#stream?.isOpen !== false
  }

  /** Whether the answer was given. */
  get isDone(): boolean {
    return this.#done
  }

  /** The response, once its form is known. `start` sets the work going. */
  response(start: () => void): Effect.Effect<HttpResponse> {
    return Effect.callback((resume) => {
      this.#options.host.begun()
      this.#respond = (response) => {
        this.#respond = undefined
        this.#options.host.unschedule(this.#patience)
        resume(Effect.succeed(response))
      }
      start()
      if (!this.#done && this.#respond !== undefined) this.#options.host.schedule(this.#patience)
      return Effect.sync(() => {
        this.#options.host.unschedule(this.#patience)
        if (!this.#done) this.#options.host.settled()
        this.#abandoned = true
        this.#options.onGone()
      })
    })
  }

  readonly send = (message: JsonRpc.Outgoing): Effect.Effect<void> => Effect.suspend(() => this.sendUnsafe(message))

  readonly sendUnsafe = (message: JsonRpc.Outgoing): Effect.Effect<void> => {
    // Whoever left before the first byte has no event to resume from, so there is nobody to keep this for.
    if (this.#done || this.#abandoned) return Effect.void
    // An array is the answers to a batch, all of them.
    const isBatch = JsonRpc.isBatch(message)
    const isAnswer = isBatch || JsonRpc.isResponse(message)
    // Before anything counts as said: a handler's result may turn out to have no JSON.
    const text = JsonRpc.stringify(message)
    if (isAnswer) {
      this.#done = true
      this.#options.host.settled()
    }
    if (this.#respond !== undefined && isAnswer && this.#opening === undefined) {
      this.#respondWithJson(message, text)
      return Effect.void
    }
    return Effect.andThen(
      this.#open(),
      Effect.suspend(() => (isBatch ? this.#writeAll(message) : this.#write(text, isAnswer)))
    )
  }

  /** The client has cancelled the request, so nobody waits for an answer, and nothing is left to wait for at shutdown. */
  readonly unanswered = (): void => {
    if (this.#done || this.#abandoned) return
    this.#done = true
    this.#options.host.settled()
    const end = Effect.suspend(() => this.#sessionStream?.finish ?? Effect.sync(() => this.#stream?.end()))
    this.#options.host.fork(Effect.andThen(this.#open(), end))
  }

  /** Lets the client poll for the rest, if it is in a session and has what it takes to come back (HTTP-20). */
  readonly disconnect: Effect.Effect<void> = Effect.suspend(() => {
    const { resumable, sessionStream } = this.#options
    if (this.#done || this.#abandoned || sessionStream === undefined || resumable?.() !== true) return Effect.void
    return Effect.andThen(
      this.#open(),
      Effect.suspend(() => this.#sessionStream?.disconnect ?? Effect.void)
    )
  })

  // The client has closed the stream. In a session it may come back, so the answer is still owed.
  #left(): void {
    if (this.#options.sessionStream === undefined && !this.#done) {
      this.#abandoned = true
      this.#options.host.settled()
    }
    this.#options.onGone()
  }

  #respondWithJson(answer: JsonRpc.Response | ReadonlyArray<JsonRpc.Message>, body: string): void {
    this.#respond?.({
      status: JsonRpc.isBatch(answer) ? 200 : this.#options.status(answer),
      headers: { ...this.#options.responseHeaders, "content-type": "application/json" },
      body
    })
  }

  // An event for each answer, since not every client reads arrays in events (HTTP-08 leaves the choice).
  #writeAll(answers: ReadonlyArray<JsonRpc.Message>): Effect.Effect<void> {
    return Effect.forEach(
      answers,
      (answer, index) => this.#write(JsonRpc.stringify(answer), index === answers.length - 1),
      {
        discard: true
      }
    )
  }

  #write(text: string, last: boolean): Effect.Effect<void> {
    if (this.#sessionStream !== undefined) return this.#sessionStream.send(text, last)
    const stream = this.#stream
    if (stream === undefined) return Effect.void
    const write = stream.write(Sse.encode({ data: text }))
    return last
      ? Effect.andThen(
          write,
          Effect.sync(() => stream.end())
        )
      : write
  }

  /** Makes the response a stream of events, unless it is one already. */
  #open(): Effect.Effect<void> {
    if (this.#opening !== undefined) return this.#opening
    const { readTimeout } = this.#options.host
    const stream = makeEventStream({ readTimeout, onGone: () => this.#left() })
    this.#stream = stream
    this.#sessionStream = this.#options.sessionStream?.()
    this.#opening = Effect.void
    this.#options.host.opened(stream)
    this.#respond?.({ status: 200, headers: { ...this.#options.responseHeaders, ...eventStreamHeaders }, body: stream })
    return this.#sessionStream === undefined ? Effect.void : Effect.asVoid(this.#sessionStream.connect(stream))
  }
}
