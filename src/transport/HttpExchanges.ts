/**
 * The exchanges of one connection: a POST for every message, and in a session a GET to listen, a GET to take up what was
 * cut, a DELETE at the end.
 */
import { Duration, Effect, Fiber, type Scope } from "effect"
import * as JsonRpc from "../protocol/JsonRpc.ts"
import { McpError, Timeout } from "../protocol/McpError.ts"
import type { Endpoint } from "./HttpEndpoint.ts"
import { type Cursor, type Reply, withReply } from "./HttpReply.ts"
import * as HttpResumption from "./HttpResumption.ts"
import { HttpSession, isInitialize, metaVersion } from "./HttpSession.ts"
import type * as Sse from "./Sse.ts"
import type { SendOptions } from "./Transport.ts"

/** What the exchanges of a connection share. */
export interface HttpExchangesOptions {
  readonly endpoint: Endpoint
  /** Owns what goes on beside `post`: the listening stream, the ends of replies. */
  readonly scope: Scope.Scope
  /** Hands a message up, and ends when it was handled. */
  readonly deliver: (message: JsonRpc.Incoming) => Effect.Effect<void, McpError>
  readonly policy: HttpResumption.ReconnectPolicy
  readonly maxMessageBytes: number
  readonly answerTimeout: Duration.Input | undefined
}

/** Time that the server has to end a session. */
const endSessionTime = Duration.seconds(2)

/** How an exchange is named in errors. */
const nameOf = (message: JsonRpc.Message): string => ("method" in message ? message.method : "an answer")

/** The exchanges of one connection, and the session that they share. */
export class HttpExchanges {
  readonly #options: HttpExchangesOptions
  readonly #session = new HttpSession()
  #listener: Fiber.Fiber<void> | undefined

  constructor(options: HttpExchangesOptions) {
    this.#options = options
  }

  /** Whether a message belongs to the modern era. */
  isModern(message: JsonRpc.Message): boolean {
    return this.#session.isModern(message)
  }

  /** Sends one message. For a request, ends when its answer was handed up. */
  post(message: JsonRpc.Message, options: SendOptions | undefined): Effect.Effect<void, McpError> {
    const session = this.#session
    if (session.isLost && !isInitialize(message) && metaVersion(message) === undefined) {
      return Effect.fail(this.#sessionIsGone(nameOf(message)))
    }
    if (session.isModern(message) && JsonRpc.isResponse(message)) {
      return Effect.fail(McpError.unsupported("In this revision a client sends no answers over HTTP (HTTP-10)"))
    }
    const headers: Record<string, string> = {}
    for (const [name, value] of Object.entries(options?.headers ?? {})) headers[name.toLowerCase()] = value
    Object.assign(headers, session.headersFor(message), {
      "content-type": "application/json",
      accept: "application/json, text/event-stream"
    })
    const body = JsonRpc.stringify(message)
    const execute = this.#options.endpoint.execute({ method: "POST", headers, body })
    return withReply(this.#withAnswerTimeout(execute, nameOf(message)), this.#replyOptions, (reply) => {
      if (!reply.isSuccess) return this.#refused(message, reply, headers["mcp-session-id"])
      return JsonRpc.isRequest(message) ? this.#answered(message, reply) : this.#accepted(message)
    })
  }

  /** Tells the server that the session is over, if there is one (HTTP-33). Never fails. */
  readonly endSession: Effect.Effect<void> = Effect.suspend(() => {
    const session = this.#session
    if (session.id === undefined || session.isLost) return Effect.void
    return Effect.scoped(this.#options.endpoint.execute({ method: "DELETE", headers: session.headers })).pipe(
      Effect.interruptible,
      Effect.timeoutOption(endSessionTime),
      Effect.ignore
    )
  })

  get #replyOptions() {
    return { background: this.#options.scope, maxMessageBytes: this.#options.maxMessageBytes }
  }

  #withAnswerTimeout<A, R>(effect: Effect.Effect<A, McpError, R>, method: string): Effect.Effect<A, McpError, R> {
    const duration = this.#options.answerTimeout
    if (duration === undefined) return effect
    const after = Duration.toMillis(Duration.fromInputUnsafe(duration))
    return Effect.timeoutOrElse(effect, {
      duration,
      orElse: () => Effect.fail(new McpError({ reason: new Timeout({ method, after }) }))
    })
  }

  /** A notification or an answer was taken: whatever the reply holds besides is of no interest (BUG-46). */
  #accepted(message: JsonRpc.Message): Effect.Effect<void> {
    const isReady = "method" in message && message.method === "notifications/initialized"
    return isReady && !this.#session.isModern(message) ? this.#listen : Effect.void
  }

  #answered(request: JsonRpc.Request, reply: Reply): Effect.Effect<void, McpError> {
    if (isInitialize(request) && !this.#session.begin(reply.header("mcp-session-id"))) {
      this.#session.id = undefined
      return Effect.fail(McpError.decode("The server gave a session id that is not one line of visible ASCII"))
    }
    if (reply.mediaType === "application/json") return this.#answeredWithJson(request, reply)
    if (reply.mediaType === "text/event-stream") return this.#answeredWithEvents(request, reply)
    return Effect.flatMap(reply.excerpt, (excerpt) =>
      Effect.fail(
        McpError.transport(
          `The reply to ${request.method} is neither JSON nor events: ${told(reply.summary, excerpt)}`,
          {
            status: reply.status
          }
        )
      )
    )
  }

  #answeredWithJson(request: JsonRpc.Request, reply: Reply): Effect.Effect<void, McpError> {
    return Effect.flatMap(reply.text, (text) => {
      const message = JsonRpc.parse(text)
      const answer = JsonRpc.isResponse(message) ? ownAnswer(request, message, true) : undefined
      if (answer !== undefined) return this.#deliverAnswer(request, answer)
      const why = "error" in message ? message.error.message : "not the answer to this request"
      return Effect.fail(McpError.decode(`The reply to ${request.method} (${reply.summary}) is not usable: ${why}`))
    })
  }

  #answeredWithEvents(request: JsonRpc.Request, reply: Reply): Effect.Effect<void, McpError> {
    const cursor: Cursor = { lastEventId: undefined, retry: undefined }
    // From 2026-07-28 nothing is resumed: whoever asked may ask anew, with a new id (HTTP-41).
    const isResumable = () => metaVersion(request) === undefined && cursor.lastEventId !== undefined
    return reply.events(cursor, this.#onEvent(request)).pipe(
      Effect.catchIf(
        (error) => error.reason._tag === "TransportFailure" && isResumable(),
        () => Effect.succeed(false)
      ),
      Effect.flatMap((isAnswered) => {
        if (isAnswered) return Effect.void
        if (isResumable()) return this.#resume(request, cursor)
        return Effect.fail(McpError.transport(`The event stream ended before the answer to ${request.method}`))
      })
    )
  }

  /** Hands up what an event holds. The answer to `request` is the last event of interest. */
  #onEvent(request: JsonRpc.Request | undefined, arrival?: HttpResumption.Arrival) {
    return (event: Sse.Event): Effect.Effect<boolean, McpError> => {
      if (arrival !== undefined) arrival.event = true
      if (event.data === "" || event.event !== "message") return Effect.succeed(false)
      if (arrival !== undefined) arrival.message = true
      const message = JsonRpc.parse(event.data)
      if (request !== undefined && JsonRpc.isResponse(message)) {
        const answer = ownAnswer(request, message, false)
        if (answer !== undefined) return Effect.as(this.#deliverAnswer(request, answer), true)
      }
      const isSpoiled = message instanceof JsonRpc.Malformed && message.response && message.id === request?.id
      return Effect.flatMap(this.#options.deliver(message), () =>
        isSpoiled && request !== undefined
          ? Effect.fail(McpError.decode(`The answer to ${request.method} is not usable: ${message.error.message}`))
          : Effect.succeed(false)
      )
    }
  }

  #deliverAnswer(request: JsonRpc.Request, answer: JsonRpc.Response): Effect.Effect<void, McpError> {
    // Before the answer is handed up, since what is sent next already has to carry the headers.
    if (isInitialize(request)) this.#session.settle(answer)
    return this.#options.deliver(answer)
  }

  /** Takes up a stream that was cut before the answer (HTTP-21, HTTP-27). */
  #resume(request: JsonRpc.Request, cursor: Cursor): Effect.Effect<void, McpError> {
    return HttpResumption.follow({
      policy: this.#options.policy,
      cursor,
      waitFirst: true,
      connect: (arrival) => this.#read(request, cursor, arrival)
    })
  }

  /** Listens for what the server has to say by itself, beside everything else (HTTP-22, BUG-34). */
  get #listen(): Effect.Effect<void> {
    const cursor: Cursor = { lastEventId: undefined, retry: undefined }
    const listening = HttpResumption.follow({
      policy: this.#options.policy,
      cursor,
      waitFirst: false,
      connect: (arrival) => this.#read(undefined, cursor, arrival)
    }).pipe(
      Effect.catch((error) =>
        error.reason._tag === "TransportFailure" && error.reason.status === 405
          ? Effect.logDebug("The server has no stream to listen on")
          : Effect.logWarning("No longer listening to the server", error)
      )
    )
    const replaced = this.#listener
    return Effect.gen({ self: this }, function* () {
      if (replaced !== undefined) yield* Fiber.interrupt(replaced)
      this.#listener = yield* Effect.forkIn(listening, this.#options.scope)
    })
  }

  /** Opens an event stream with a GET and reads it to its end, or to the answer to `request`. */
  #read(
    request: JsonRpc.Request | undefined,
    cursor: Cursor,
    arrival: HttpResumption.Arrival
  ): Effect.Effect<boolean, McpError> {
    const headers = { ...this.#session.headers, accept: "text/event-stream" }
    const resumed = cursor.lastEventId === undefined ? headers : { ...headers, "last-event-id": cursor.lastEventId }
    const execute = this.#options.endpoint.execute({ method: "GET", headers: resumed })
    return withReply(execute, this.#replyOptions, (reply) => {
      if (reply.isSuccess && reply.mediaType === "text/event-stream") {
        arrival.open = true
        return reply.events(cursor, this.#onEvent(request, arrival))
      }
      return Effect.flatMap(reply.excerpt, (excerpt) =>
        Effect.fail(
          McpError.transport(`The server opened no event stream: ${told(reply.summary, excerpt)}`, {
            status: reply.status
          })
        )
      )
    })
  }

  /** A status other than 2xx: an answer in JSON-RPC if the body is one, otherwise a failure with the status. */
  #refused(message: JsonRpc.Message, reply: Reply, sessionId: string | undefined): Effect.Effect<void, McpError> {
    const name = nameOf(message)
    if (reply.status === 404 && sessionId !== undefined) {
      // Unless a newer session has taken its place meanwhile.
      if (this.#session.id === sessionId) this.#session.isLost = true
      return Effect.fail(this.#sessionIsGone(name))
    }
    const failure = (detail: string) =>
      Effect.fail(McpError.transport(`${name} was refused: ${told(reply.summary, detail)}`, { status: reply.status }))
    if (reply.mediaType !== "application/json") return Effect.flatMap(reply.excerpt, failure)
    return Effect.flatMap(reply.text, (text) => {
      const body = JsonRpc.parse(text)
      if (body instanceof JsonRpc.Malformed || !("error" in body)) return failure(text.slice(0, 300))
      // Who is not let in has to know the status, whatever the body says.
      const isAnswer = JsonRpc.isRequest(message) && reply.status !== 401 && reply.status !== 403
      if (!isAnswer) return failure(body.error.message)
      return this.#options.deliver(JsonRpc.error(message.id, body.error))
    })
  }

  #sessionIsGone(name: string): McpError {
    return McpError.transport(`${name} was refused: the server no longer knows the session`, { status: 404 })
  }
}

const told = (summary: string, detail: string): string => (detail === "" ? summary : `${summary}: ${detail}`)

/**
 * Whether a response answers the request. A failure that came without an id, because the server could not read it (A31),
 * or that is all there is in the reply to the request, gets the id of the request.
 */
const ownAnswer = (
  request: JsonRpc.Request,
  response: JsonRpc.Response,
  isWholeReply: boolean
): JsonRpc.Response | undefined => {
  if (response.id === request.id) return response
  return "error" in response && (isWholeReply || response.id === undefined)
    ? JsonRpc.error(request.id, response.error)
    : undefined
}
