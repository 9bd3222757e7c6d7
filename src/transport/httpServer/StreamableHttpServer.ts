/**
 * Streamable HTTP, server side: a request value in, a response value out. One endpoint serves both eras, request by
 * request: with sessions and resumable streams up to 2025-11-25, and on its own from 2026-07-28 on.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Scope from "effect/Scope"
import * as JsonRpc from "../../protocol/JsonRpc.ts"
import { MetaKey } from "../../protocol/Meta.ts"
import { Deadlines } from "../Deadlines.ts"
import { EventStore, make as makeEventStore } from "../EventStore.ts"
import * as StandardHeaders from "../StandardHeaders.ts"
import type { Cancellable, Endpoint } from "./Endpoint.ts"
import { make as makeEventStream } from "./EventStream.ts"
import { eventStreamHeaders, Exchange, type Host } from "./Exchange.ts"
import * as Guard from "./Guard.ts"
import type { HttpRequest, HttpResponse } from "./HttpMessage.ts"
import * as Sse from "./HttpSse.ts"
import { type HttpSession, HttpSessions, type Options as SessionOptions } from "./HttpSessions.ts"
import { KeepAlive } from "./KeepAlive.ts"
import { Readiness } from "./Readiness.ts"
import * as Refusal from "./Refusal.ts"
import { type BodyLimits, withMessage } from "./RequestBody.ts"
import { parseEventId } from "./SessionStream.ts"

/** Options of {@link make}. */
export interface Options extends Guard.Options, SessionOptions {
  /** The most bytes of a request body; more is refused with 413. Default 4 MiB. */
  readonly maximumBodyBytes?: number | undefined
  /** How deeply the JSON of a body may nest; what is deeper is refused with 400. Default 128 levels. */
  readonly maximumDepth?: number | undefined
  /** How long a request waits for its answer before its response becomes a stream. Default 100 milliseconds. */
  readonly streamAfter?: Duration.Input | undefined
  /**
   * How long a client may leave an event stream unread when 64 events wait on it. Then the stream is dropped, with a
   * warning in the log; a client of a session may still resume it (2025-11-25). Default 30 seconds.
   */
  readonly readTimeout?: Duration.Input | undefined
  /** How often an open stream gets a comment. Default 15 seconds. */
  readonly keepAlive?: Duration.Input | undefined
  /** How long requests under way may take to end at shutdown, before they are interrupted. Default 5 seconds. */
  readonly gracePeriod?: Duration.Input | undefined
  /**
   * Where a GET is answered with 200 while the server takes requests, and with 503 from the moment it begins to shut down;
   * such as `/ready`. Whoever asks needs no allowed host. Default: nowhere.
   */
  readonly readyPath?: `/${string}` | undefined
  /**
   * How long the server goes on taking requests after it has said that it is not ready, so that whoever balances load has
   * time to look elsewhere. Default: not at all.
   */
  readonly drainDelay?: Duration.Input | undefined
  /** How long clients are told to wait before they reconnect to a stream (2025-11-25). Default 1 second. */
  readonly retry?: Duration.Input | undefined
  /**
   * Serves HTTP+SSE, the transport of 2024-11-05, as well, for clients that know nothing newer; `{}` for the usual paths,
   * `/sse` and `/messages`. Default: not served.
   */
  readonly sse?: Sse.Options | undefined
}

/** A server without a host. */
export interface StreamableHttpServer {
  /** Answers a request. Interrupting the effect means that the client is gone. */
  readonly handle: (request: HttpRequest) => Effect.Effect<HttpResponse>
  /** The paths that it answers to beside that of the endpoint. */
  readonly paths: ReadonlyArray<`/${string}`>
  /** Whether it has not begun to shut down. */
  readonly isReady: boolean
  /** What closing the scope does, for whoever has to do it earlier. Done once, however often it is run. */
  readonly close: Effect.Effect<void>
}

/**
 * Makes a server for an endpoint. Closing the scope makes it unready, refuses new requests, gives those under way a grace
 * period, and ends all sessions and streams.
 */
export const make = <R>(
  endpoint: Endpoint<R>,
  options: Options = {}
): Effect.Effect<StreamableHttpServer, never, R | Scope.Scope> =>
  Effect.gen(function* () {
    // A session lives in a scope of its own, not in the server's.
    const context = Context.omit(Scope.Scope)(yield* Effect.context<R>()) as Context.Context<R>
    const store = Option.getOrElse(yield* Effect.serviceOption(EventStore), () => makeEventStore())
    const fibers = new Set<Fiber.Fiber<unknown, unknown>>()
    const fork: Fork<R> = <A>(effect: Effect.Effect<A, never, R>): Fiber.Fiber<A> => {
      const fiber = Effect.runForkWith(context)(effect)
      if (fiber.pollUnsafe() === undefined) {
        fibers.add(fiber)
        fiber.addObserver(() => fibers.delete(fiber))
      }
      return fiber
    }
    const server = new Server(endpoint, options, yield* Clock.Clock, store, context, fork)
    const close = yield* Effect.cached(server.shutDown(fibers))
    yield* Effect.addFinalizer(() => close)
    return {
      handle: server.handle,
      paths: server.paths,
      get isReady() {
        return server.readiness.isReady
      },
      close
    }
  })

const modernFrom = "2026-07-28"

type Fork<R> = <A>(effect: Effect.Effect<A, never, R>) => Fiber.Fiber<A>

class Server<R> {
  readonly #endpoint: Endpoint<R>
  readonly paths: ReadonlyArray<`/${string}`>
  readonly readiness: Readiness
  readonly #guard: Guard.Guard
  readonly #sse: Sse.HttpSse | undefined
  readonly #sessions: HttpSessions
  readonly #keepAlive: KeepAlive
  readonly #host: Host
  readonly #fork: Fork<R>
  readonly #bodyLimits: BodyLimits
  readonly #gracePeriod: Duration.Input
  readonly #drainDelay: Duration.Input | undefined
  readonly #working = new Set<Cancellable>()
  #unsettled = 0
  #onSettled: (() => void) | undefined
  #closing = false

  constructor(
    endpoint: Endpoint<R>,
    options: Options,
    clock: Clock.Clock,
    store: EventStore["Service"],
    services: Context.Context<R>,
    fork: Fork<R>
  ) {
    this.#endpoint = endpoint
    this.#guard = new Guard.Guard(options)
    this.#fork = fork
    this.#bodyLimits = {
      maximumBodyBytes: options.maximumBodyBytes ?? 4 * 1024 * 1024,
      maximumDepth: options.maximumDepth
    }
    const retry = Duration.toMillis(Duration.fromInputUnsafe(options.retry ?? Duration.seconds(1)))
    this.#sessions = new HttpSessions(
      (outlet) => Effect.provideContext(endpoint.open(outlet, true), services),
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
      fork,
      begun: () => {
        this.#unsettled++
      },
      settled: () => {
        this.#unsettled--
        if (this.#unsettled === 0) this.#onSettled?.()
      },
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
        open: (outlet) => Effect.provideContext(endpoint.open(outlet, false), services),
        host: this.#host,
        bodyLimits: this.#bodyLimits,
        maximumSessions: options.maximumSessions,
        sessionIdle: options.sessionIdle
      })
  }

  readonly handle = (request: HttpRequest): Effect.Effect<HttpResponse> => {
    const asked = this.readiness.answer(request)
    if (asked !== undefined) return Effect.succeed(asked)
    const { headers } = request
    const cors = this.#guard.corsHeaders(headers)
    const refused = this.#guard.refuse(headers)
    const response =
      refused !== undefined
        ? Effect.succeed(Refusal.response(403, Refusal.invalidRequest(refused)))
        : this.#closing && opensStream(request)
          ? Effect.succeed(Refusal.shuttingDown())
          : (this.#sse?.route(request) ?? this.#route(request))
    // A page of an allowed origin may read refusals too.
    if (cors === undefined) return response
    return Effect.map(response, (plain) => ({ ...plain, headers: { ...plain.headers, ...cors } }))
  }

  /** Lets what is running end for a while, interrupts it then, and ends all sessions and streams. */
  shutDown(fibers: ReadonlySet<Fiber.Fiber<unknown, unknown>>): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      this.readiness.isReady = false
      if (this.#drainDelay !== undefined) yield* Effect.sleep(this.#drainDelay)
      this.#closing = true
      yield* this.#endpoint.closing
      yield* Effect.timeoutOption(this.#allSettled, this.#gracePeriod)
      yield* this.#sessions.closeAll
      if (this.#sse !== undefined) yield* this.#sse.closeAll
      const working = [...this.#working]
      for (const work of working) work.cancel()
      const landing = Effect.forEach(working, (work) => work.landing, { concurrency: "unbounded", discard: true })
      yield* Effect.timeoutOption(landing, this.#endpoint.closingWithin)
      yield* Fiber.interruptAll([...fibers])
      this.#keepAlive.end()
    })
  }

  get #allSettled(): Effect.Effect<void> {
    return Effect.callback((resume) => {
      if (this.#unsettled === 0) resume(Effect.void)
      else this.#onSettled = () => resume(Effect.void)
    })
  }

  #route(request: HttpRequest): Effect.Effect<HttpResponse> {
    switch (request.method) {
      case "POST":
        return this.#post(request)
      case "GET":
        return this.#endpoint.legacy.length === 0 ? Refusal.methodNotAllowed("POST") : this.#get(request)
      case "DELETE":
        return this.#endpoint.legacy.length === 0 ? Refusal.methodNotAllowed("POST") : this.#delete(request)
      case "OPTIONS": {
        const headers = this.#guard.preflightHeaders(request.headers)
        if (headers !== undefined) return Effect.succeed({ status: 204, headers })
      }
    }
    return Refusal.methodNotAllowed(this.#endpoint.legacy.length === 0 ? "POST" : "POST, GET, DELETE")
  }

  #post(request: HttpRequest): Effect.Effect<HttpResponse> {
    const refused = Refusal.ofPostHeaders(request.headers)
    if (refused !== undefined) return Effect.succeed(refused)
    return withMessage(request, this.#bodyLimits, (message) => this.#message(request, message))
  }

  #message(request: HttpRequest, message: JsonRpc.Incoming): Effect.Effect<HttpResponse> {
    if (message instanceof JsonRpc.Malformed) return Effect.succeed(Refusal.response(400, message.error, message.id))
    // What is no request may be what a call that is under way waits for.
    if (this.#closing && JsonRpc.needsAnswer(message)) {
      return Effect.succeed(Refusal.shuttingDown(JsonRpc.isRequest(message) ? message.id : undefined))
    }
    const version = request.headers["mcp-protocol-version"]
    if (message instanceof JsonRpc.Batch) {
      return this.#endpoint.legacy.length === 0 || this.#isModernVersion(version)
        ? Effect.succeed(Refusal.response(400, Refusal.noBatches))
        : this.#legacy(request, message)
    }
    if (this.#endpoint.legacy.length === 0 && version === undefined) {
      return Effect.succeed(Refusal.withoutVersion(message, this.#endpoint.modern))
    }
    if (JsonRpc.isRequest(message)) {
      const meta = message.params?._meta
      if (Predicate.isObject(meta) && MetaKey.protocolVersion in meta) return this.#modern(request, message, meta)
      if (this.#isModernVersion(version)) {
        return Effect.succeed(Refusal.response(400, Refusal.missingMeta, message.id))
      }
      return message.method === "initialize" ? this.#initialize(request, message) : this.#legacy(request, message)
    }
    // Closing the stream is what cancels a modern request, so no notification has anything to say (HTTP-43).
    if (this.#isModernVersion(version)) return Effect.succeed(accepted)
    return this.#legacy(request, message)
  }

  // An unknown version that is not older than the first modern one can't mean a session.
  #isModernVersion(version: string | undefined): boolean {
    return version !== undefined && !this.#endpoint.legacy.includes(version) && version >= modernFrom
  }

  #modern(
    request: HttpRequest,
    message: JsonRpc.Request,
    meta: { readonly [key: string]: unknown }
  ): Effect.Effect<HttpResponse> {
    const { headers, principal } = request
    const mismatch = Refusal.ofModernVersion(headers, meta)
    if (mismatch !== undefined) return Effect.succeed(Refusal.response(400, mismatch, message.id))
    if (this.#endpoint.modern.includes(meta[MetaKey.protocolVersion] as string)) {
      const problem = StandardHeaders.check(message, (name) => headers[name.toLowerCase()])
      if (problem !== undefined) {
        return Effect.succeed(Refusal.response(400, Refusal.headerMismatch(problem), message.id))
      }
    }
    let work: Cancellable | undefined
    const exchange = new Exchange({
      host: this.#host,
      headers,
      principal,
      status: Refusal.statusOf,
      // Nobody waits for the answer any more: that is how a modern request is cancelled (HTTP-18).
      onGone: () => work?.cancel()
    })
    return exchange.response(() => {
      const started = this.#endpoint.answer(message, exchange, () => {
        if (work !== undefined) this.#working.delete(work)
      })
      if (exchange.isDone) return
      work = started
      this.#working.add(started)
    })
  }

  #initialize(request: HttpRequest, message: JsonRpc.Request): Effect.Effect<HttpResponse> {
    return Effect.gen({ self: this }, function* () {
      const session = yield* this.#sessions.open(request.principal)
      if (session === undefined) return Refusal.response(503, Refusal.tooManySessions, message.id)
      const response = yield* this.#exchange(request, message, session, { "mcp-session-id": session.id })
      if (session.peer.revision !== undefined) return response
      // It was no good, so there is no session.
      yield* this.#sessions.close(session)
      const { "mcp-session-id": _, ...headers } = response.headers
      return { ...response, headers }
    })
  }

  #legacy(request: HttpRequest, message: JsonRpc.Message | JsonRpc.Batch): Effect.Effect<HttpResponse> {
    const { headers, principal } = request
    const session = this.#session(request, JsonRpc.isRequest(message) ? message.id : undefined)
    if (!isSession(session)) return Effect.succeed(session)
    if (JsonRpc.needsAnswer(message)) return this.#exchange(request, message, session)
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
  #session(request: HttpRequest, id?: JsonRpc.RequestId): HttpSession | HttpResponse {
    const version = request.headers["mcp-protocol-version"]
    if (version !== undefined && !this.#endpoint.legacy.includes(version)) {
      return Refusal.response(400, Refusal.unsupportedHeader(version, this.#endpoint.legacy), id)
    }
    const name = request.headers["mcp-session-id"]
    if (name === undefined) return Refusal.response(400, Refusal.missingSession, id)
    return this.#sessions.find(name, request.principal) ?? Refusal.response(404, Refusal.unknownSession, id)
  }

  #exchange(
    request: HttpRequest,
    message: JsonRpc.Message | JsonRpc.Batch,
    session: HttpSession,
    responseHeaders?: { readonly [name: string]: string }
  ): Effect.Effect<HttpResponse> {
    const exchange = new Exchange({
      host: this.#host,
      headers: request.headers,
      principal: request.principal,
      // A batch that is refused as a whole never got as far as its requests.
      status: (answer) => (answer.id === undefined ? 400 : 200),
      responseHeaders,
      sessionStream: () => {
        session.prune(64)
        return session.stream()
      },
      resumable: () => session.primes,
      // The client may come back for the answer; leaving is not cancelling (HTTP-17).
      onGone: () => {}
    })
    return exchange.response(() => {
      this.#fork(session.peer.receive(message, exchange))
    })
  }

  #get(request: HttpRequest): Effect.Effect<HttpResponse> {
    const { headers } = request
    if (!Refusal.accepts(headers.accept, "text/event-stream")) {
      return Effect.succeed(Refusal.response(406, Refusal.invalidRequest("Accept must include text/event-stream")))
    }
    const session = this.#session(request)
    if (!isSession(session)) return Effect.succeed(session)
    const last = headers["last-event-id"]
    const event = last === undefined ? undefined : parseEventId(last)
    const stream = last === undefined ? session.standalone : event && session.streams.get(event.stream)
    if (stream === undefined) return Effect.succeed(Refusal.response(400, Refusal.unknownEvent))
    const connection = makeEventStream({ readTimeout: this.#host.readTimeout, onGone: () => {} })
    this.#keepAlive.add(connection)
    const response = { status: 200, headers: eventStreamHeaders, body: connection }
    // Events are written while the host already sends what there is; the head does not wait for them (BUG-34).
    const connect = stream.connect(connection, event?.sequence)
    return Effect.suspend(() => {
      const fiber = this.#fork(connect)
      const exit = fiber.pollUnsafe()
      const missing = exit?._tag === "Success" && !exit.value
      return Effect.succeed(missing ? Refusal.response(400, Refusal.unknownEvent) : response)
    })
  }

  #delete(request: HttpRequest): Effect.Effect<HttpResponse> {
    const session = this.#session(request)
    if (!isSession(session)) return Effect.succeed(session)
    return Effect.as(this.#sessions.close(session), { status: 204, headers: {} })
  }
}

const accepted: HttpResponse = { status: 202, headers: {} }

/** Whether it asks for a stream that is not there yet. */
const opensStream = ({ headers, method }: HttpRequest): boolean =>
  method === "GET" && headers["last-event-id"] === undefined

const isSession = (value: HttpSession | HttpResponse): value is HttpSession => "peer" in value
