/**
 * Streamable HTTP, server side: a request value in, a response value out. One endpoint serves both eras, request by
 * request: with sessions and resumable streams up to 2025-11-25, and on its own from 2026-07-28 on.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Scope from "effect/Scope"
import * as JsonRpc from "../../protocol/JsonRpc.ts"
import { MetaKey } from "../../protocol/Meta.ts"
import { Deadlines } from "../Deadlines.ts"
import { EventStore, make as makeEventStore } from "../EventStore.ts"
import * as StandardHeaders from "../StandardHeaders.ts"
import type { Endpoint } from "./Endpoint.ts"
import { Entrance } from "./Entrance.ts"
import { EventStream } from "./EventStream.ts"
import { eventStreamHeaders, Exchange } from "./Exchange.ts"
import {
  type Body,
  type HttpHead,
  type HttpRequest,
  type HttpResponse,
  noBody,
  type Pending,
  type Respond
} from "./HttpMessage.ts"
import * as Sse from "./HttpSse.ts"
import { type HttpSession, HttpSessions } from "./HttpSessions.ts"
import { KeepAlive } from "./KeepAlive.ts"
import { ModernExchange, type ModernHost } from "./ModernExchange.ts"
import type { Options } from "./Options.ts"
import { Readiness } from "./Readiness.ts"
import * as Refusal from "./Refusal.ts"
import { type BodyLimits, withMessage } from "./RequestBody.ts"
import { SessionExchange } from "./SessionExchange.ts"
import { parseEventId } from "./SessionStream.ts"
import { Unsettled } from "./Unsettled.ts"

export type { Options } from "./Options.ts"

/** A server without a host. */
export interface StreamableHttpServer {
  /** Answers a request. Interrupting the effect means that the client is gone. */
  readonly handle: (request: HttpRequest) => Effect.Effect<HttpResponse>
  /** The response to a request that is refused before its body is read. */
  readonly refuse: (head: HttpHead) => HttpResponse | undefined
  /**
   * `handle` for hosts that can't afford an effect for each request: answers one that was not refused and whose body was
   * read, in the call itself where nothing has to be waited for. Returns whoever waits, if the response is still to come.
   */
  readonly answer: (head: HttpHead, body: Body, respond: Respond) => Pending | undefined
  /** The paths that it answers to beside that of the endpoint. */
  readonly paths: ReadonlyArray<`/${string}`>
  /** The most bytes that the body of a request may have. */
  readonly maximumBodyBytes: number
  /** Whether it has not begun to shut down. */
  readonly isReady: boolean
  /** What closing the scope does, for whoever has to do it earlier. Done once, however often it is run. */
  readonly close: Effect.Effect<void>
}

/**
 * Makes a server for an endpoint. Closing the scope makes it unready, refuses new requests, gives those under way a grace
 * period, and ends all sessions and streams.
 */
export const make = (
  endpoint: Endpoint,
  options: Options = {}
): Effect.Effect<StreamableHttpServer, never, Scope.Scope> =>
  Effect.gen(function* () {
    // A session lives in a scope of its own, not in the server's.
    const context = Context.omit(Scope.Scope)(yield* Effect.context<Scope.Scope>())
    const store = Option.getOrElse(yield* Effect.serviceOption(EventStore), () => makeEventStore())
    const fibers = new Set<Fiber.Fiber<unknown, unknown>>()
    const fork: Fork = <A>(effect: Effect.Effect<A>): Fiber.Fiber<A> => {
      const fiber = Effect.runForkWith(context)(effect)
      if (fiber.pollUnsafe() === undefined) {
        fibers.add(fiber)
        fiber.addObserver(() => fibers.delete(fiber))
      }
      return fiber
    }
    const server = new Server(endpoint, options, yield* Clock.Clock, store, fork)
    const close = yield* Effect.cached(server.shutDown(fibers))
    yield* Effect.addFinalizer(() => close)
    return {
      handle: server.handle,
      refuse: server.refuse,
      answer: server.answer,
      paths: server.paths,
      maximumBodyBytes: server.bodyLimits.maximumBodyBytes,
      get isReady() {
        return server.readiness.isReady
      },
      close
    }
  })

const modernFrom = "2026-07-28"

/** How a request is answered: at once, after some work, or in an exchange. */
type Answering = HttpResponse | Effect.Effect<HttpResponse> | Exchange

type Fork = <A>(effect: Effect.Effect<A>) => Fiber.Fiber<A>

class Server {
  readonly #endpoint: Endpoint
  readonly paths: ReadonlyArray<`/${string}`>
  readonly readiness: Readiness
  readonly #entrance: Entrance
  readonly #sse: Sse.HttpSse | undefined
  readonly #sessions: HttpSessions
  readonly #keepAlive: KeepAlive
  readonly #host: ModernHost
  readonly #fork: Fork
  readonly bodyLimits: BodyLimits
  readonly #maximumRequests: number
  readonly #gracePeriod: Duration.Input
  readonly #drainDelay: Duration.Input | undefined
  readonly #unsettled = new Unsettled()
  #closing = false

  constructor(endpoint: Endpoint, options: Options, clock: Clock.Clock, store: EventStore["Service"], fork: Fork) {
    this.#endpoint = endpoint
    this.#fork = fork
    this.#maximumRequests = options.maximumRequests ?? 10_000
    this.bodyLimits = {
      maximumBodyBytes: options.maximumBodyBytes ?? 4 * 1024 * 1024,
      maximumDepth: options.maximumDepth
    }
    this.#entrance = new Entrance(options, this.bodyLimits.maximumBodyBytes)
    const retry = Duration.toMillis(Duration.fromInputUnsafe(options.retry ?? Duration.seconds(1)))
    this.#sessions = new HttpSessions(
      (outlet) => endpoint.open(outlet, true),
      { ...options, store, retry, clock },
      fork
    )
    const keepAlive = new KeepAlive(options.keepAlive ?? Duration.seconds(15), fork)
    const deadlines = new Deadlines(clock, fork)
    this.#keepAlive = keepAlive
    this.#gracePeriod = options.gracePeriod ?? Duration.seconds(5)
    this.readiness = new Readiness(options.readyPath)
    this.#drainDelay = options.drainDelay
    this.#host = {
      endpoint,
      working: new Set(),
      fork,
      begun: this.#unsettled.begun,
      settled: this.#unsettled.settled,
      opened: (stream) => keepAlive.add(stream),
      streamAfter: Duration.toMillis(Duration.fromInputUnsafe(options.streamAfter ?? Duration.millis(100))),
      readTimeout: Duration.toMillis(Duration.fromInputUnsafe(options.readTimeout ?? Duration.seconds(30))),
      now: () => deadlines.now(),
      schedule: (deadline) => deadlines.add(deadline),
      unschedule: (deadline) => deadlines.remove(deadline)
    }
    const paths = options.sse && endpoint.legacy.length > 0 ? Sse.pathsOf(options.sse) : undefined
    this.paths = [paths?.path, paths?.messagesPath, options.readyPath].filter((path) => path !== undefined)
    this.#sse =
      paths &&
      new Sse.HttpSse({
        paths,
        open: (outlet) => endpoint.open(outlet, false),
        host: this.#host,
        bodyLimits: this.bodyLimits,
        handshakeWithin: endpoint.handshakeWithin,
        maximumSessions: options.maximumSessions,
        sessionsPerPrincipal: options.sessionsPerPrincipal
      })
  }

  readonly handle = (request: HttpRequest): Effect.Effect<HttpResponse> =>
    Effect.suspend(() => {
      const refused = this.refuse(request)
      if (refused !== undefined) return Effect.succeed(refused)
      const answer = (body: Body) =>
        Effect.callback<HttpResponse>((resume) => {
          const pending = this.answer(request, body, (response) => resume(Effect.succeed(response)))
          return pending && Effect.sync(() => pending.leave())
        })
      if (request.method !== "POST") return answer(noBody)
      const reading = request.body(this.bodyLimits.maximumBodyBytes)
      return Effect.matchEffect(reading, { onSuccess: answer, onFailure: answer })
    })

  readonly refuse = (head: HttpHead): HttpResponse | undefined => {
    try {
      const asked = this.readiness.answer(head)
      if (asked !== undefined) return asked
      return this.#entrance.refuse(head, { isClosing: this.#closing, isForSse: this.#sse?.takes(head) === true })
    } catch (defect) {
      return this.#broken(defect)
    }
  }

  readonly answer = (head: HttpHead, body: Body, respond: Respond): Pending | undefined => {
    let answering: Answering
    try {
      answering = this.#sse?.route(head, body) ?? this.#route(head, body)
    } catch (defect) {
      answering = this.#broken(defect)
    }
    const tell = this.#entrance.forPages(head, respond)
    if (answering instanceof Exchange) return answering.start(tell)
    if (Effect.isEffect(answering)) return this.#run(answering, tell)
    tell(answering)
    return undefined
  }

  /** Lets what is running end for a while, interrupts it then, and ends all sessions and streams. */
  shutDown(fibers: ReadonlySet<Fiber.Fiber<unknown, unknown>>): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      this.readiness.isReady = false
      if (this.#drainDelay !== undefined) yield* Effect.sleep(this.#drainDelay)
      this.#closing = true
      yield* this.#endpoint.closing
      yield* Effect.timeoutOption(this.#unsettled.none, this.#gracePeriod)
      yield* this.#sessions.closeAll
      if (this.#sse !== undefined) yield* this.#sse.closeAll
      const working = [...this.#host.working]
      for (const work of working) work.cancel()
      const landing = Effect.forEach(working, (work) => work.landing, { concurrency: "unbounded", discard: true })
      yield* Effect.timeoutOption(landing, this.#endpoint.closingWithin)
      yield* Fiber.interruptAll([...fibers])
      this.#keepAlive.end()
    })
  }

  #run(answering: Effect.Effect<HttpResponse>, respond: Respond): Pending | undefined {
    const fiber = this.#fork(answering)
    const settle = (exit: Exit.Exit<HttpResponse>) => {
      if (Exit.isSuccess(exit)) respond(exit.value)
      // Interrupted: the client is gone.
      else if (!Cause.hasInterruptsOnly(exit.cause)) respond(this.#broken(exit.cause))
    }
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) settle(exit)
    else fiber.addObserver(settle)
    return exit === undefined ? { leave: () => fiber.interruptUnsafe() } : undefined
  }

  /** This side is at fault, with what an application has given it or by itself; that takes nobody else down. */
  #broken(defect: unknown): HttpResponse {
    this.#fork(Effect.logError("A request could not be answered", defect))
    return Refusal.broken
  }

  #route(head: HttpHead, body: Body): Answering {
    switch (head.method) {
      case "POST":
        return withMessage(body, this.bodyLimits, (message) => this.#message(head, message))
      case "GET":
        return this.#endpoint.legacy.length === 0 ? Refusal.methodNotAllowed("POST") : this.#get(head)
      case "DELETE":
        return this.#endpoint.legacy.length === 0 ? Refusal.methodNotAllowed("POST") : this.#delete(head)
      case "OPTIONS": {
        const headers = this.#entrance.preflightHeaders(head.headers)
        if (headers !== undefined) return { status: 204, headers }
      }
    }
    return Refusal.methodNotAllowed(this.#endpoint.legacy.length === 0 ? "POST" : "POST, GET, DELETE")
  }

  #message(head: HttpHead, message: JsonRpc.Incoming): Answering {
    if (message instanceof JsonRpc.Malformed) return Refusal.response(400, message.error, message.id)
    // What is no request may be what a call that is under way waits for.
    const isFull = this.#unsettled.count >= this.#maximumRequests
    if ((this.#closing || isFull) && JsonRpc.needsAnswer(message)) {
      const id = JsonRpc.isRequest(message) ? message.id : undefined
      return this.#closing ? Refusal.shuttingDown(id) : Refusal.tooManyRequests(id)
    }
    const version = head.headers["mcp-protocol-version"]
    if (message instanceof JsonRpc.Batch) {
      return this.#endpoint.legacy.length === 0 || this.#isModernVersion(version)
        ? Refusal.response(400, Refusal.noBatches)
        : this.#legacy(head, message)
    }
    if (this.#endpoint.legacy.length === 0 && version === undefined) {
      return Refusal.withoutVersion(message, this.#endpoint.modern)
    }
    if (JsonRpc.isRequest(message)) {
      const meta = message.params?._meta
      if (Predicate.isObject(meta) && MetaKey.protocolVersion in meta) return this.#modern(head, message, meta)
      if (this.#isModernVersion(version)) return Refusal.response(400, Refusal.missingMeta, message.id)
      return message.method === "initialize" ? this.#initialize(head, message) : this.#legacy(head, message)
    }
    // Closing the stream is what cancels a modern request, so no notification has anything to say (HTTP-43).
    if (this.#isModernVersion(version)) return accepted
    return this.#legacy(head, message)
  }

  // An unknown version that is not older than the first modern one can't mean a session.
  #isModernVersion(version: string | undefined): boolean {
    return version !== undefined && !this.#endpoint.legacy.includes(version) && version >= modernFrom
  }

  #modern(head: HttpHead, message: JsonRpc.Request, meta: JsonRpc.Members): Answering {
    const { headers } = head
    const mismatch = Refusal.ofModernVersion(headers, meta)
    if (mismatch !== undefined) return Refusal.response(400, mismatch, message.id)
    if (this.#endpoint.modern.includes(meta[MetaKey.protocolVersion] as string)) {
      const problem = StandardHeaders.check(message, (name) => headers[name.toLowerCase()])
      if (problem !== undefined) return Refusal.response(400, Refusal.headerMismatch(problem), message.id)
    }
    return new ModernExchange(this.#host, head, message)
  }

  #initialize(head: HttpHead, message: JsonRpc.Request): Answering {
    return Effect.gen({ self: this }, function* () {
      const session = yield* this.#sessions.open(head.principal)
      if ("status" in session) return Refusal.response(session.status, session.error, message.id)
      const response = yield* new SessionExchange(this.#host, head, session, message, true).response
      if (session.peer.revision !== undefined) return response
      // It was no good, so there is no session.
      yield* this.#sessions.close(session)
      const { "mcp-session-id": _, ...headers } = response.headers
      return { ...response, headers }
    })
  }

  #legacy(head: HttpHead, message: JsonRpc.Message | JsonRpc.Batch): Answering {
    const { headers, principal } = head
    const session = this.#session(head, JsonRpc.isRequest(message) ? message.id : undefined)
    if (!isSession(session)) return session
    if (JsonRpc.needsAnswer(message)) return new SessionExchange(this.#host, head, session, message)
    let refusal: JsonRpc.ErrorObject | undefined
    const send = (answer: JsonRpc.Outgoing) =>
      Effect.sync(() => {
        if ("error" in answer) refusal = answer.error
      })
    return Effect.map(session.peer.receive(message, { send, headers, principal }), () =>
      refusal === undefined ? accepted : Refusal.response(400, refusal)
    )
  }

  /** The session that a request names, or why it can't go on. */
  #session(head: HttpHead, id?: JsonRpc.RequestId): HttpSession | HttpResponse {
    const version = head.headers["mcp-protocol-version"]
    if (version !== undefined && !this.#endpoint.legacy.includes(version)) {
      return Refusal.response(400, Refusal.unsupportedHeader(version, this.#endpoint.legacy), id)
    }
    const name = head.headers["mcp-session-id"]
    if (name === undefined) return Refusal.response(400, Refusal.missingSession, id)
    return this.#sessions.find(name, head.principal) ?? Refusal.response(404, Refusal.unknownSession, id)
  }

  #get(head: HttpHead): Answering {
    const { headers } = head
    if (!Refusal.accepts(headers.accept, "text/event-stream")) {
      return Refusal.response(406, Refusal.invalidRequest("Accept must include text/event-stream"))
    }
    const session = this.#session(head)
    if (!isSession(session)) return session
    const last = headers["last-event-id"]
    const event = last === undefined ? undefined : parseEventId(last)
    const stream = last === undefined ? session.standalone : event && session.streams.get(event.stream)
    if (stream === undefined) return Refusal.response(400, Refusal.unknownEvent)
    const connection = new EventStream(this.#host.readTimeout, () => {})
    this.#keepAlive.add(connection)
    const response = { status: 200, headers: eventStreamHeaders, body: connection }
    // Events are written while the host already sends what there is; the head does not wait for them (BUG-34).
    const connect = Effect.map(stream.connect(connection, event?.sequence), (found) => {
      if (!found) connection.end()
      return found
    })
    const exit = this.#fork(connect).pollUnsafe()
    const missing = exit?._tag === "Success" && !exit.value
    return missing ? Refusal.response(400, Refusal.unknownEvent) : response
  }

  #delete(head: HttpHead): Answering {
    const session = this.#session(head)
    if (!isSession(session)) return session
    return Effect.as(this.#sessions.close(session), { status: 204, headers: {} })
  }
}

const accepted: HttpResponse = { status: 202, headers: {} }

const isSession = (value: HttpSession | HttpResponse): value is HttpSession => "peer" in value
