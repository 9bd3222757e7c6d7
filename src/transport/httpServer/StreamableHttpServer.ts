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
import { type HttpSession, HttpSessions } from "./HttpSessions.ts"
import { KeepAlive } from "./KeepAlive.ts"
import type { Options } from "./Options.ts"
import { Readiness } from "./Readiness.ts"
import * as Refusal from "./Refusal.ts"
import { type BodyLimits, withMessage } from "./RequestBody.ts"
import { parseEventId } from "./SessionStream.ts"
import { Unsettled } from "./Unsettled.ts"

export type { Options } from "./Options.ts"

/** A server without a host. */
export interface StreamableHttpServer {
  /** Answers a request. Interrupting the effect means that the client is gone. */
  readonly handle: (request: HttpRequest) => Effect.Effect<HttpResponse>
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
      paths: server.paths,
      maximumBodyBytes: server.bodyLimits.maximumBodyBytes,
      get isReady() {
        return server.readiness.isReady
      },
      close
    }
  })

const modernFrom = "2026-07-28"

type Fork = <A>(effect: Effect.Effect<A>) => Fiber.Fiber<A>

class Server {
  readonly #endpoint: Endpoint
  readonly paths: ReadonlyArray<`/${string}`>
  readonly readiness: Readiness
  readonly #guard: Guard.Guard
  readonly #sse: Sse.HttpSse | undefined
  readonly #sessions: HttpSessions
  readonly #keepAlive: KeepAlive
  readonly #host: Host
  readonly #fork: Fork
  readonly bodyLimits: BodyLimits
  readonly #maximumRequests: number
  readonly #gracePeriod: Duration.Input
  readonly #drainDelay: Duration.Input | undefined
  readonly #working = new Set<Cancellable>()
  readonly #unsettled = new Unsettled()
  #closing = false
  /** The headers of the last POST that had what it takes. */
  #accept: string | undefined
  #contentType: string | undefined

  constructor(endpoint: Endpoint, options: Options, clock: Clock.Clock, store: EventStore["Service"], fork: Fork) {
    this.#endpoint = endpoint
    this.#guard = new Guard.Guard(options)
    this.#fork = fork
    this.#maximumRequests = options.maximumRequests ?? 10_000
    this.bodyLimits = {
      maximumBodyBytes: options.maximumBodyBytes ?? 4 * 1024 * 1024,
      maximumDepth: options.maximumDepth
    }
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
      yield* Effect.timeoutOption(this.#unsettled.none, this.#gracePeriod)
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
    const { accept, "content-type": contentType } = request.headers
    // Most clients say the same every time.
    if (accept === undefined || accept !== this.#accept || contentType !== this.#contentType) {
      const refused = Refusal.ofPostHeaders(request.headers)
      if (refused !== undefined) return Effect.succeed(refused)
      this.#accept = accept
      this.#contentType = contentType
    }
    return withMessage(request, this.bodyLimits, (message) => this.#message(request, message))
  }

  #message(request: HttpRequest, message: JsonRpc.Incoming): Effect.Effect<HttpResponse> {
    if (message instanceof JsonRpc.Malformed) return Effect.succeed(Refusal.response(400, message.error, message.id))
    // What is no request may be what a call that is under way waits for.
    const isFull = this.#unsettled.count >= this.#maximumRequests
    if ((this.#closing || isFull) && JsonRpc.needsAnswer(message)) {
      const id = JsonRpc.isRequest(message) ? message.id : undefined
      return Effect.succeed(this.#closing ? Refusal.shuttingDown(id) : Refusal.tooManyRequests(id))
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
      if ("status" in session) return Refusal.response(session.status, session.error, message.id)
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
      status: Refusal.statusInSession,
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
    const connect = Effect.map(stream.connect(connection, event?.sequence), (found) => {
      if (!found) connection.end()
      return found
    })
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
