/**
 * What a reply holds, as messages to hand up: which one answers the request, and what to do with what is none.
 */
import { Effect } from "effect"
import * as JsonRpc from "../protocol/JsonRpc.ts"
import { McpError } from "../protocol/McpError.ts"
import type { Reply } from "./HttpReply.ts"
import type { Arrival } from "./HttpResumption.ts"
import { type HttpSession, isInitialize } from "./HttpSession.ts"
import type * as Sse from "./Sse.ts"

/** Hands a message up, and ends when it was handled. */
export type Deliver = (message: JsonRpc.Incoming) => Effect.Effect<void, McpError>

/** A description of a reply, with what its body says where it says something. */
export const describeReply = (reply: Reply, detail: string): string =>
  detail === "" ? reply.summary : `${reply.summary}: ${detail}`

/**
 * The response as the answer to the request, if it is that. A failure gets the id of the request when it came without
 * one, because the server could not read it (A31), or when it is all that there is in the reply to the request.
 */
const answerTo = (
  request: JsonRpc.Request,
  response: JsonRpc.Response,
  isWholeReply: boolean
): JsonRpc.Response | undefined => {
  if (response.id === request.id) return response
  return "error" in response && (isWholeReply || response.id === undefined)
    ? JsonRpc.error(request.id, response.error)
    : undefined
}

/** Reads replies for one connection. */
export class HttpAnswers {
  readonly #session: HttpSession
  readonly #deliver: Deliver

  constructor(session: HttpSession, deliver: Deliver) {
    this.#session = session
    this.#deliver = deliver
  }

  /** Hands an answer up. */
  deliver(request: JsonRpc.Request, answer: JsonRpc.Response): Effect.Effect<void, McpError> {
    // Before the answer is handed up, since what is sent next already has to carry the headers.
    if (isInitialize(request)) this.#session.settle(answer)
    return this.#deliver(answer)
  }

  /** Hands up the answer that is the whole body. Fails when the body is anything else. */
  fromJson(request: JsonRpc.Request, reply: Reply): Effect.Effect<void, McpError> {
    return Effect.flatMap(reply.text, (text) => {
      const message = JsonRpc.parse(text)
      const answer = JsonRpc.isResponse(message) ? answerTo(request, message, true) : undefined
      if (answer !== undefined) return this.deliver(request, answer)
      const why = message instanceof JsonRpc.Malformed ? message.error.message : "not the answer to this request"
      return Effect.fail(McpError.decode(`The reply to ${request.method} is not usable: ${describeReply(reply, why)}`))
    })
  }

  /** Hands up what each event holds. `true` says that it was the answer to `request`, and nothing more is of interest. */
  fromEvents(
    request: JsonRpc.Request | undefined,
    arrival?: Arrival
  ): (event: Sse.Event) => Effect.Effect<boolean, McpError> {
    return (event) => {
      if (arrival !== undefined) arrival.event = true
      if (event.data === "" || event.event !== "message") return Effect.succeed(false)
      if (arrival !== undefined) arrival.message = true
      const message = JsonRpc.parse(event.data)
      if (request === undefined) return Effect.as(this.#deliver(message), false)
      if (message instanceof JsonRpc.Malformed) return this.#malformed(request, message)
      const answer = JsonRpc.isResponse(message) ? answerTo(request, message, false) : undefined
      return answer === undefined
        ? Effect.as(this.#deliver(message), false)
        : Effect.as(this.deliver(request, answer), true)
    }
  }

  /** One bad message spoils nothing but itself, unless it was the answer. */
  #malformed(request: JsonRpc.Request, message: JsonRpc.Malformed): Effect.Effect<boolean, McpError> {
    const isAnswer = message.response && message.id === request.id
    const failure = McpError.decode(`The answer to ${request.method} is not usable: ${message.error.message}`)
    return Effect.andThen(this.#deliver(message), isAnswer ? Effect.fail(failure) : Effect.succeed(false))
  }
}
