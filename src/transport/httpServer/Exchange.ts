/**
 * One request over HTTP while it is being answered. Answered at once, it is a JSON body; when there is something to say
 * before the answer, or the answer takes long, it becomes a stream of events.
 *
 * Every request makes one, so it is one object: fields and methods, no closures, and no object literals, which V8 would
 * come to allocate among the old objects when the first few of them survive a collection.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as JsonRpc from "../../protocol/JsonRpc.ts"
import type { Deadline } from "../Deadlines.ts"
import * as Sse from "../Sse.ts"
import type { Outlet, Principal } from "../Transport.ts"
import { EventStream } from "./EventStream.ts"
import type { Headers, HttpHead, HttpResponse, Pending } from "./HttpMessage.ts"
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

export const jsonHeaders = { "content-type": "application/json" }

export const eventStreamHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  // Or a proxy would hold events back (HTTP-42).
  "x-accel-buffering": "no"
}

/** An exchange. As an outlet it takes what belongs to its request. */
export abstract class Exchange implements Outlet, Deadline, Pending {
  readonly headers: Headers
  readonly principal: Principal | undefined
  /** When a request without an answer gets a stream. */
  at = 0
  readonly #host: Host
  #respond: ((response: HttpResponse) => void) | undefined
  #stream: EventStream | undefined
  #sessionStream: SessionStream | undefined
  #opening: Effect.Effect<void> | undefined
  #done = false
  #abandoned = false

  constructor(host: Host, { headers, principal }: HttpHead) {
    this.#host = host
    this.headers = headers
    this.principal = principal
  }

  /** Sets the work going. */
  protected abstract begin(): void

  /** The status of one answer that is a JSON body. */
  protected abstract statusOf(answer: JsonRpc.Response): number

  /** Headers of the response, whatever its form. */
  protected get responseHeaders(): { readonly [name: string]: string } | undefined {
    return undefined
  }

  /** Opens, in a legacy session, the stream that a response of events is a connection of. */
  protected openSessionStream(): SessionStream | undefined {
    return undefined
  }

  /** Whether the client can come back for the answer when the connection is cut. */
  protected get isResumable(): boolean {
    return false
  }

  /** The client is gone before the answer. */
  protected left(): void {}

  get isOpen(): boolean {
    return !this.#done && !this.#abandoned && this.#stream?.isOpen !== false
  }

  /** Whether the answer was given. */
  get isDone(): boolean {
    return this.#done
  }

  /** Begins, and calls `respond` when the form of the response is known. Returns whoever waits for that, if it is not. */
  start(respond: (response: HttpResponse) => void): Pending | undefined {
    this.#host.begun()
    this.#respond = respond
    this.begin()
    if (this.#respond === undefined) return undefined
    this.at = this.#host.now() + this.#host.streamAfter
    if (!this.#done) this.#host.schedule(this)
    return this
  }

  /** {@link Exchange.start} as an effect. */
  get response(): Effect.Effect<HttpResponse> {
    return Effect.callback((resume) => {
      const pending = this.start((response) => resume(Effect.succeed(response)))
      return pending && Effect.sync(() => pending.leave())
    })
  }

  leave(): void {
    if (this.#respond === undefined) return
    this.#respond = undefined
    this.#host.unschedule(this)
    if (!this.#done) this.#host.settled()
    this.#abandoned = true
    this.left()
  }

  /** The answer takes long. */
  expire(): void {
    this.#host.fork(this.#open())
  }

  send(message: JsonRpc.Outgoing): Effect.Effect<void> {
    return Effect.suspend(() => this.sendUnsafe(message))
  }

  sendUnsafe(message: JsonRpc.Outgoing): Effect.Effect<void> {
    // Whoever left before the first byte has no event to resume from, so there is nobody to keep this for.
    if (this.#done || this.#abandoned) return Effect.void
    // An array is the answers to a batch, all of them.
    const isBatch = JsonRpc.isBatch(message)
    const isAnswer = isBatch || JsonRpc.isResponse(message)
    // Before anything counts as said: a handler's result may turn out to have no JSON.
    const text = JsonRpc.stringify(message)
    if (isAnswer) {
      this.#done = true
      this.#host.settled()
    }
    if (this.#respond !== undefined && isAnswer && this.#opening === undefined) {
      const more = this.responseHeaders
      const headers = more === undefined ? jsonHeaders : { ...more, ...jsonHeaders }
      this.#respondWith(isBatch ? 200 : this.statusOf(message), headers, text)
      return Effect.void
    }
    const opening = this.#open()
    if (opening === Effect.void) return isBatch ? this.#writeAll(message) : this.#write(text, isAnswer)
    return Effect.andThen(
      opening,
      Effect.suspend(() => (isBatch ? this.#writeAll(message) : this.#write(text, isAnswer)))
    )
  }

  /** The client has cancelled the request, so nobody waits for an answer, and nothing is left to wait for at shutdown. */
  unanswered(): void {
    if (this.#done || this.#abandoned) return
    this.#done = true
    this.#host.settled()
    const end = Effect.suspend(() => this.#sessionStream?.finish ?? Effect.sync(() => this.#stream?.end()))
    this.#host.fork(Effect.andThen(this.#open(), end))
  }

  /** Lets the client poll for the rest, if it is in a session and has what it takes to come back (HTTP-20). */
  get disconnect(): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.#done || this.#abandoned || !this.isResumable) return Effect.void
      return Effect.andThen(
        this.#open(),
        Effect.suspend(() => this.#sessionStream?.disconnect ?? Effect.void)
      )
    })
  }

  // The client has closed the stream. In a session it may come back, so the answer is still owed.
  #leftStream(): void {
    if (this.#sessionStream === undefined && !this.#done) {
      this.#abandoned = true
      this.#host.settled()
    }
    this.left()
  }

  #respondWith(status: number, headers: HttpResponse["headers"], body: string | EventStream): void {
    const respond = this.#respond
    if (respond === undefined) return
    this.#respond = undefined
    if (this.at !== 0) this.#host.unschedule(this)
    respond({ status, headers, body })
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
    const event = Sse.encode({ data: text })
    return last ? stream.writeLast(event) : stream.write(event)
  }

  /** Makes the response a stream of events, unless it is one already. */
  #open(): Effect.Effect<void> {
    if (this.#opening !== undefined) return this.#opening
    const stream = new EventStream(this.#host.readTimeout, () => this.#leftStream())
    this.#stream = stream
    this.#sessionStream = this.openSessionStream()
    this.#opening = Effect.void
    this.#host.opened(stream)
    const more = this.responseHeaders
    this.#respondWith(200, more === undefined ? eventStreamHeaders : { ...more, ...eventStreamHeaders }, stream)
    if (this.#sessionStream === undefined) return Effect.void
    const connecting = this.#sessionStream.connect(stream)
    return Exit.isExit(connecting) ? Effect.void : Effect.asVoid(connecting)
  }
}
