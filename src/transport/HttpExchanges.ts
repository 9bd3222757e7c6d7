/**
 * The exchanges of one connection: a POST for every message, and in a session a GET to listen, a GET to take up what was
 * cut, a DELETE at the end.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as JsonRpc from "../protocol/JsonRpc.ts"
import { McpError } from "../protocol/McpError.ts"
import { type Deliver, describeReply, HttpAnswers } from "./HttpAnswers.ts"
import { type Asked, nameOf } from "./HttpAsked.ts"
import type { Endpoint } from "./HttpEndpoint.ts"
import { begunWithin, type Cursor, type Reply, withReply } from "./HttpReply.ts"
import * as HttpResumption from "./HttpResumption.ts"
import { HttpSession, isInitialize, metaVersion } from "./HttpSession.ts"
import type { SendOptions } from "./Transport.ts"

/** What the exchanges of a connection share. */
export interface HttpExchangesOptions {
  readonly endpoint: Endpoint
  /** Owns what goes on beside `post`: the listening stream, the ends of replies. */
  readonly scope: Scope.Scope
  readonly deliver: Deliver
  readonly policy: HttpResumption.ReconnectPolicy
  readonly maxMessageBytes: number
  readonly maxMessageDepth: number | undefined
  readonly answerTimeout: Duration.Input | undefined
  /** Sends an `initialize` that was refused over the transport before this one. `false` when the server lacks that too. */
  readonly fallBack: (initialize: JsonRpc.Request) => Effect.Effect<boolean, McpError>
}

/** Time that the server has to end a session. */
const endSessionTime = Duration.seconds(2)

/** Statuses with which a server of HTTP+SSE refuses the POST that it does not expect. */
const olderStatuses = new Set([400, 404, 405])

/** Codes that only a modern server knows. */
const modernCodes: ReadonlySet<number> = new Set([
  JsonRpc.ErrorCode.HeaderMismatch,
  JsonRpc.ErrorCode.MissingRequiredClientCapability,
  JsonRpc.ErrorCode.UnsupportedProtocolVersion
])

/** Whether a refusal of `initialize` may be that of a server of HTTP+SSE (section "HTTP+SSE Transport" of 2026-07-28). */
const mayBeOlder = (status: number, error: JsonRpc.ErrorObject | undefined): boolean =>
  olderStatuses.has(status) &&
  (error === undefined ||
    !(modernCodes.has(error.code) || (status === 404 && error.code === JsonRpc.ErrorCode.MethodNotFound)))

/** Whether the connection failed before there was a reply. */
const isCut = ({ reason }: McpError): boolean => reason._tag === "TransportFailure" && reason.status === undefined

const sessionIsGone = (name: string): McpError =>
  McpError.transport(`${name} was refused: the server no longer knows the session`, { status: 404 })

/** The exchanges of one connection, and the session that they share. */
export class HttpExchanges {
  readonly #options: HttpExchangesOptions
  readonly #session = new HttpSession()
  readonly #answers: HttpAnswers
  readonly #replyOptions: { readonly background: Scope.Scope; readonly maxMessageBytes: number }
  #listener: Fiber.Fiber<void> | undefined

  constructor(options: HttpExchangesOptions) {
    this.#options = options
    this.#answers = new HttpAnswers(this.#session, options.deliver, options.maxMessageDepth)
    this.#replyOptions = { background: options.scope, maxMessageBytes: options.maxMessageBytes }
  }

  /** Whether a message belongs to the modern era. */
  isModern(message: JsonRpc.Outgoing): boolean {
    return this.#session.isModern(message)
  }

  /** Sends a message, or a batch. When it asks something, ends when all answers were handed up. */
  post(
    message: JsonRpc.Outgoing,
    asked: Asked | undefined,
    options: SendOptions | undefined
  ): Effect.Effect<void, McpError> {
    const session = this.#session
    const isModern = session.isModern(message)
    if (session.isLost && !isModern && !isInitialize(message)) return Effect.fail(sessionIsGone(nameOf(message)))
    if (isModern && JsonRpc.isResponse(message)) {
      return Effect.fail(McpError.unsupported("In this revision a client sends no answers over HTTP"))
    }
    const headers: Record<string, string> = {}
    for (const [name, value] of Object.entries(options?.headers ?? {})) headers[name.toLowerCase()] = value
    Object.assign(headers, session.headersFor(message), {
      "content-type": "application/json",
      accept: "application/json, text/event-stream"
    })
    const body = JsonRpc.stringify(message)
    const open = (scope: Scope.Scope) =>
      begunWithin(this.#options.endpoint.execute({ method: "POST", headers, body }, scope), this.#options, message)
    const exchange = withReply(open, this.#replyOptions, (reply) => {
      if (!reply.isSuccess) return this.#refused(message, asked, reply, headers["mcp-session-id"])
      return asked === undefined ? this.#accepted(message) : this.#answered(message, asked, reply)
    })
    // An answer that is lost leaves the server waiting for it; one that comes twice does no harm.
    return JsonRpc.isResponse(message) ? Effect.retry(exchange, { times: 1, while: isCut }) : exchange
  }

  /** Tells the server that the session is over, if there is one (HTTP-33). Never fails. */
  readonly endSession: Effect.Effect<void> = Effect.suspend(() => {
    const session = this.#session
    if (session.id === undefined || session.isLost) return Effect.void
    const { endpoint } = this.#options
    return Effect.scopedWith((scope) => endpoint.execute({ method: "DELETE", headers: session.headers }, scope)).pipe(
      Effect.interruptible,
      Effect.timeoutOption(endSessionTime),
      Effect.ignore
    )
  })

  /** A notification or an answer was taken: whatever the reply holds besides is of no interest (BUG-46). */
  #accepted(message: JsonRpc.Outgoing): Effect.Effect<void> {
    const isReady = "method" in message && message.method === "notifications/initialized"
    return isReady && this.#session.protocolVersion !== undefined ? this.#listen : Effect.void
  }

  #answered(message: JsonRpc.Outgoing, asked: Asked, reply: Reply): Effect.Effect<void, McpError> {
    if (isInitialize(message) && !this.#session.begin(reply.header("mcp-session-id"))) {
      return Effect.fail(McpError.decode("The server gave a session id that is not visible ASCII"))
    }
    if (reply.mediaType === "application/json") return this.#answers.fromJson(asked, reply)
    if (reply.mediaType === "text/event-stream") return this.#answeredWithEvents(message, asked, reply)
    return this.#unusable(`The reply to ${asked.name} is neither JSON nor events`, reply)
  }

  #answeredWithEvents(message: JsonRpc.Outgoing, asked: Asked, reply: Reply): Effect.Effect<void, McpError> {
    const cursor: Cursor = { lastEventId: undefined, retry: undefined }
    // From 2026-07-28 nothing is resumed: whoever asked may ask anew, with a new id (HTTP-41).
    const isResumable = () => metaVersion(message) === undefined && cursor.lastEventId !== undefined
    return reply.events(cursor, this.#answers.fromEvents(asked)).pipe(
      Effect.catchIf(
        (error) => error.reason._tag === "TransportFailure" && isResumable(),
        () => Effect.succeed(false)
      ),
      Effect.flatMap((isAnswered) => {
        if (isAnswered || asked.isAnswered) return Effect.void
        if (isResumable()) return this.#follow(asked, cursor)
        return Effect.fail(McpError.transport(`The event stream ended before the answer to ${asked.name}`))
      })
    )
  }

  /** A status other than 2xx: an answer if the body is one, otherwise a failure with the status. */
  #refused(
    message: JsonRpc.Outgoing,
    asked: Asked | undefined,
    reply: Reply,
    sessionId: string | undefined
  ): Effect.Effect<void, McpError> {
    const name = nameOf(message)
    if (reply.status === 404 && sessionId !== undefined) {
      this.#session.lose(sessionId)
      return Effect.fail(sessionIsGone(name))
    }
    const isJson = reply.mediaType === "application/json"
    return Effect.flatMap(isJson ? reply.text : reply.excerpt, (text) => {
      const body = isJson ? JsonRpc.parse(text, this.#options.maxMessageDepth) : undefined
      const error = body !== undefined && JsonRpc.isResponse(body) && "error" in body ? body.error : undefined
      const refusal = Effect.suspend(() => {
        // Who is not let in has to know the status, whatever the body says.
        if (error !== undefined && asked !== undefined && reply.status !== 401 && reply.status !== 403) {
          return Effect.asVoid(this.#answers.deliver(asked, JsonRpc.error(undefined, error), true))
        }
        const detail = describeReply(reply, error?.message ?? text.slice(0, 300))
        return Effect.fail(McpError.transport(`${name} was refused: ${detail}`, { status: reply.status }))
      })
      if (!isInitialize(message) || !mayBeOlder(reply.status, error)) return refusal
      return Effect.flatMap(this.#options.fallBack(message), (isSent) => (isSent ? Effect.void : refusal))
    })
  }

  #unusable(what: string, reply: Reply): Effect.Effect<never, McpError> {
    return Effect.flatMap(reply.excerpt, (excerpt) =>
      Effect.fail(McpError.transport(`${what}: ${describeReply(reply, excerpt)}`, { status: reply.status }))
    )
  }

  /** Listens for what the server has to say by itself, beside everything else (HTTP-22, BUG-34). */
  readonly #listen: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    if (this.#listener !== undefined) yield* Fiber.interrupt(this.#listener)
    const listening = Effect.catch(this.#follow(undefined, { lastEventId: undefined, retry: undefined }), (error) => {
      if (error.reason._tag === "Closed") return Effect.void
      return error.reason._tag === "TransportFailure" && error.reason.status === 405
        ? Effect.logDebug("The MCP server offers no stream to listen on")
        : Effect.logWarning("No longer listening to the MCP server", error)
    })
    this.#listener = yield* Effect.forkIn(listening, this.#options.scope)
  })

  /** Takes up the stream of requests that was cut before the answers (HTTP-27); without any, listens. */
  #follow(asked: Asked | undefined, cursor: Cursor): Effect.Effect<void, McpError> {
    return HttpResumption.follow({
      policy: this.#options.policy,
      cursor,
      waitFirst: asked !== undefined,
      connect: (arrival) => this.#get(asked, cursor, arrival)
    })
  }

  /** Opens an event stream with a GET and reads it to its end, or to the answers to `asked`. */
  #get(asked: Asked | undefined, cursor: Cursor, arrival: HttpResumption.Arrival): Effect.Effect<boolean, McpError> {
    const sessionId = this.#session.id
    const headers: Record<string, string> = { ...this.#session.headers, accept: "text/event-stream" }
    if (cursor.lastEventId !== undefined) headers["last-event-id"] = cursor.lastEventId
    const open = (scope: Scope.Scope) => this.#options.endpoint.execute({ method: "GET", headers }, scope)
    return withReply(open, this.#replyOptions, (reply) => {
      if (reply.isSuccess && reply.mediaType === "text/event-stream") {
        arrival.open = true
        return reply.events(cursor, this.#answers.fromEvents(asked, arrival))
      }
      // Without a request to take up, a 404 may only mean that nobody serves GET here (BUG-57).
      if (reply.status === 404 && asked !== undefined && sessionId !== undefined) {
        this.#session.lose(sessionId)
        return Effect.fail(sessionIsGone(asked.name))
      }
      return this.#unusable("The server opened no event stream", reply)
    })
  }
}
