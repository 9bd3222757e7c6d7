/**
 * HTTP+SSE, the transport of 2024-11-05, server side: a GET opens an event stream that is the session, and says where the
 * client's messages are to be posted. For clients that know nothing newer (SSE24-06).
 *
 * @see https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Base64Url from "effect/encoding/Base64Url"
import * as JsonRpc from "../../protocol/JsonRpc.ts"
import { McpError } from "../../protocol/McpError.ts"
import type { Deadline } from "../Deadlines.ts"
import * as Sse from "../Sse.ts"
import type { Outlet, Principal } from "../Transport.ts"
import type { SessionPeer } from "./Endpoint.ts"
import { EventStream } from "./EventStream.ts"
import { eventStreamHeaders, type Host } from "./Exchange.ts"
import { type Body, type HttpHead, type HttpResponse, pathOf } from "./HttpMessage.ts"
import * as Refusal from "./Refusal.ts"
import { type BodyLimits, withMessage } from "./RequestBody.ts"

/** The two paths of HTTP+SSE, as suffixes of the request's path. */
export interface Options {
  /**
   * Where a GET opens a session. Default `/sse`. It may be the path of the Streamable HTTP endpoint: only a GET without
   * `Mcp-Session-Id` is taken for HTTP+SSE, everything else there is Streamable HTTP.
   */
  readonly path?: `/${string}` | undefined
  /** Where messages are posted, with the id of the session in the query. Default `/messages`. */
  readonly messagesPath?: `/${string}` | undefined
}

/** {@link Options} with the defaults filled in. */
export const pathsOf = (options: Options): { readonly path: `/${string}`; readonly messagesPath: `/${string}` } => ({
  path: options.path ?? "/sse",
  messagesPath: options.messagesPath ?? "/messages"
})

/** What the transport needs of its server. */
export interface Settings {
  readonly paths: ReturnType<typeof pathsOf>
  readonly open: (outlet: Outlet) => Effect.Effect<SessionPeer, never, Scope.Scope>
  readonly host: Host
  readonly bodyLimits: BodyLimits
  readonly handshakeWithin: Duration.Input
  readonly maximumSessions: number | undefined
  readonly sessionsPerPrincipal: number | undefined
}

const accepted: HttpResponse = { status: 202, headers: {} }

const missingSession = Refusal.response(
  400,
  Refusal.invalidRequest("The sessionId of the URL is missing; post to the URI of the endpoint event")
)

const unknownSession = Refusal.response(
  404,
  Refusal.invalidRequest("There is no such session; open an event stream to get one")
)

const sessionIdOf = (url: string): string | undefined => {
  const query = url.indexOf("?")
  return query === -1 ? undefined : (new URLSearchParams(url.slice(query)).get("sessionId") ?? undefined)
}

/** A client that listens to its stream. */
class SseSession {
  readonly id = Base64Url.encode(SecureRandom.randomBytesUnsafe(24))
  readonly principal: Principal | undefined
  readonly scope = Scope.makeUnsafe()
  readonly stream: EventStream
  /** Called for each request that can no longer be answered. */
  readonly unsettled = new Set<() => void>()
  peer!: SessionPeer
  handshake: Deadline | undefined

  constructor(principal: Principal | undefined, readTimeout: number, onGone: (session: SseSession) => void) {
    this.principal = principal
    this.stream = new EventStream(readTimeout, () => onGone(this))
  }

  readonly send = (message: JsonRpc.Outgoing): Effect.Effect<void, McpError> =>
    this.stream.isOpen
      ? this.stream.write(Sse.encode({ data: JsonRpc.stringify(message) }))
      : Effect.fail(McpError.closed("The client has closed its event stream"))

  /** Whether it has never got as far as `initialize`. */
  get isIdle(): boolean {
    return this.peer.revision === undefined && this.peer.inFlight === 0
  }
}

/** The HTTP+SSE sessions of a server. */
export class HttpSse {
  readonly #settings: Settings
  readonly #sessions = new Map<string, SseSession>()
  readonly #maximum: number
  readonly #maximumEach: number
  readonly #handshake: number

  constructor(settings: Settings) {
    this.#settings = settings
    this.#maximum = settings.maximumSessions ?? 10_000
    this.#maximumEach = settings.sessionsPerPrincipal ?? 100
    this.#handshake = Duration.toMillis(Duration.fromInputUnsafe(settings.handshakeWithin))
  }

  /** Whether a request brings a message for one of the sessions. */
  takes({ url }: HttpHead): boolean {
    return url !== undefined && pathOf(url).endsWith(this.#settings.paths.messagesPath)
  }

  /** The response to a request that belongs to HTTP+SSE; `undefined` for any other. */
  route(request: HttpHead, body: Body): Effect.Effect<HttpResponse> | HttpResponse | undefined {
    const { headers, method, url } = request
    if (url === undefined || method === "OPTIONS") return undefined
    const { messagesPath, path } = this.#settings.paths
    const at = pathOf(url)
    if (at.endsWith(path) && method === "GET" && headers["mcp-session-id"] === undefined) {
      return this.#connect(request, at.slice(0, -path.length) + messagesPath)
    }
    if (!at.endsWith(messagesPath)) return undefined
    return method === "POST" ? this.#post(request, body, sessionIdOf(url)) : Refusal.methodNotAllowed("POST")
  }

  /** Ends all sessions. */
  get closeAll(): Effect.Effect<void> {
    return Effect.suspend(() =>
      Effect.forEach([...this.#sessions.values()], (session) => this.#close(session), {
        concurrency: "unbounded",
        discard: true
      })
    )
  }

  #connect(request: HttpHead, messagesUrl: string): Effect.Effect<HttpResponse> | HttpResponse {
    if (!Refusal.accepts(request.headers.accept, "text/event-stream")) {
      return Refusal.response(406, Refusal.invalidRequest("Accept must include text/event-stream"))
    }
    return Effect.gen({ self: this }, function* () {
      const { host } = this.#settings
      const { headers, principal } = request
      if (principal !== undefined) {
        const own = [...this.#sessions.values()].filter((session) => session.principal?.subject === principal.subject)
        if (own.length >= this.#maximumEach && !(yield* this.#evict(own))) {
          return Refusal.response(429, Refusal.tooManySessionsEach(this.#maximumEach))
        }
      }
      if (this.#sessions.size >= this.#maximum && !(yield* this.#evict(this.#sessions.values()))) {
        return Refusal.response(503, Refusal.tooManySessions)
      }
      // The session is the stream: without it nobody could be answered.
      const session = new SseSession(principal, host.readTimeout, (gone) => host.fork(this.#close(gone)))
      const { send } = session
      const outlet: Outlet = { send: (message) => Effect.suspend(() => send(message)), headers, principal }
      session.peer = yield* Scope.provide(this.#settings.open(outlet), session.scope)
      this.#sessions.set(session.id, session)
      this.#awaitHandshake(session)
      host.opened(session.stream)
      yield* session.stream.write(Sse.encode({ event: "endpoint", data: `${messagesUrl}?sessionId=${session.id}` }))
      return { status: 200, headers: eventStreamHeaders, body: session.stream }
    })
  }

  #post(request: HttpHead, body: Body, id: string | undefined): Effect.Effect<HttpResponse> | HttpResponse {
    // Never a guess: who does not say which session is meant reaches none (BUG-68).
    if (id === undefined) return missingSession
    const session = this.#sessions.get(id)
    if (session === undefined || session.principal?.subject !== request.principal?.subject) {
      return unknownSession
    }
    if (!Refusal.isJson(request.headers)) return Refusal.notJson
    return withMessage(body, this.#settings.bodyLimits, (message) => {
      if (message instanceof JsonRpc.Malformed) return Refusal.response(400, message.error, message.id)
      return Effect.as(session.peer.receive(message, this.#outlet(session, request, message)), accepted)
    })
  }

  /** Where what belongs to one message goes: to the stream, but with the context of its own request (BUG-69). */
  #outlet(session: SseSession, { headers, principal }: HttpHead, message: JsonRpc.Incoming): Outlet {
    if (!JsonRpc.needsAnswer(message)) return { send: session.send, headers, principal }
    const { host } = this.#settings
    const settle = () => {
      if (session.unsettled.delete(settle)) host.settled()
    }
    host.begun()
    session.unsettled.add(settle)
    const sendUnsafe = (answer: JsonRpc.Outgoing) => {
      const sent = session.send(answer)
      if (Array.isArray(answer) || JsonRpc.isResponse(answer)) settle()
      return sent
    }
    return {
      send: (answer) => Effect.suspend(() => sendUnsafe(answer)),
      sendUnsafe,
      unanswered: settle,
      headers,
      principal
    }
  }

  #close(session: SseSession): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (!this.#sessions.delete(session.id)) return Effect.void
      if (session.handshake !== undefined) this.#settings.host.unschedule(session.handshake)
      session.stream.end()
      for (const settle of session.unsettled) settle()
      return Scope.close(session.scope, Exit.void)
    })
  }

  /** An open stream is use enough, but not by a client that never introduces itself. */
  #awaitHandshake(session: SseSession): void {
    const { host } = this.#settings
    if (this.#handshake === Infinity) return
    session.handshake = {
      at: host.now() + this.#handshake,
      expire: () => {
        if (session.isIdle) host.fork(this.#close(session))
      }
    }
    host.schedule(session.handshake)
  }

  #evict(candidates: Iterable<SseSession>): Effect.Effect<boolean> {
    for (const session of candidates) {
      if (session.isIdle) return Effect.as(this.#close(session), true)
    }
    return Effect.succeed(false)
  }
}
