/**
 * What a reply holds, as messages to hand up: which one answers the request, and what to do with what is none.
 */
import * as Effect from "effect/Effect"
import * as JsonRpc from "../protocol/JsonRpc.ts"
import { McpError } from "../protocol/McpError.ts"
import type { Asked } from "./HttpAsked.ts"
import type { Reply } from "./HttpReply.ts"
import type { Arrival } from "./HttpResumption.ts"
import type { HttpSession } from "./HttpSession.ts"
import type * as Sse from "./Sse.ts"

/** Hands a message up, and ends when it was handled. */
export type Deliver = (message: JsonRpc.Incoming) => Effect.Effect<void, McpError>

/** A description of a reply, with what its body says where it says something. */
export const describeReply = (reply: Reply, detail: string): string =>
  detail === "" ? reply.summary : `${reply.summary}: ${detail}`

/** Reads replies for one connection. */
export class HttpAnswers {
  readonly #session: HttpSession
  readonly #deliver: Deliver
  readonly #maximumDepth: number | undefined

  constructor(session: HttpSession, deliver: Deliver, maximumDepth: number | undefined) {
    this.#session = session
    this.#deliver = deliver
    this.#maximumDepth = maximumDepth
  }

  /** Hands up a response as the answers that it holds. `false` when it holds none. */
  deliver(asked: Asked, response: JsonRpc.Response, isWholeReply: boolean): Effect.Effect<boolean, McpError> {
    const answers = asked.answersIn(response, isWholeReply)
    const handUp = (answer: JsonRpc.Response) => {
      asked.answered(answer.id)
      // Before the answer is handed up, since what is sent next already has to carry the headers.
      if (asked.name === "initialize") this.#session.settle(answer)
      return this.#deliver(answer)
    }
    return Effect.as(Effect.forEach(answers, handUp, { discard: true }), answers.length > 0)
  }

  /** Hands up the answers that are the whole body. Fails when the body is anything else, or not all of them. */
  fromJson(asked: Asked, reply: Reply): Effect.Effect<void, McpError> {
    return Effect.flatMap(reply.text, (text) => {
      const message = JsonRpc.parse(text, this.#maximumDepth)
      const handUp = this.#isBatch(message)
        ? this.#deliverBatch(asked, message)
        : JsonRpc.isResponse(message)
          ? this.deliver(asked, message, true)
          : Effect.void
      return Effect.flatMap(handUp, () => {
        if (asked.isAnswered) return Effect.void
        const why = message instanceof JsonRpc.Malformed ? message.error.message : "not the answer to this request"
        return Effect.fail(McpError.decode(`The reply to ${asked.name} is not usable: ${describeReply(reply, why)}`))
      })
    })
  }

  /** Hands up what each event holds. `true` says that all of `asked` is answered, and nothing more is of interest. */
  fromEvents(asked: Asked | undefined, arrival?: Arrival): (event: Sse.Event) => Effect.Effect<boolean, McpError> {
    return (event) => {
      if (arrival !== undefined) arrival.event = true
      if (event.data === "" || event.event !== "message") return Effect.succeed(false)
      if (arrival !== undefined) arrival.message = true
      const message = JsonRpc.parse(event.data, this.#maximumDepth)
      if (asked === undefined) return Effect.as(this.#deliver(message), false)
      return Effect.map(this.#fromEvent(asked, message), () => asked.isAnswered)
    }
  }

  #fromEvent(asked: Asked, message: JsonRpc.Incoming): Effect.Effect<void, McpError> {
    if (message instanceof JsonRpc.Malformed) return this.#malformed(asked, message)
    if (this.#isBatch(message)) return this.#deliverBatch(asked, message)
    if (!JsonRpc.isResponse(message)) return this.#deliver(message)
    return Effect.flatMap(this.deliver(asked, message, false), (isAnswer) =>
      isAnswer ? Effect.void : this.#deliver(message)
    )
  }

  /** Whether a message is a batch, and may be one. */
  #isBatch(message: JsonRpc.Incoming): message is JsonRpc.Batch {
    return message instanceof JsonRpc.Batch && this.#session.batches
  }

  /** Hands a batch up as it is, so that what it asks for is answered together. */
  #deliverBatch(asked: Asked, batch: JsonRpc.Batch): Effect.Effect<void, McpError> {
    for (const message of batch.messages) if (!("method" in message)) asked.answered(message.id)
    return this.#deliver(batch)
  }

  /** One bad message spoils nothing but itself, unless it was the last answer. */
  #malformed(asked: Asked, message: JsonRpc.Malformed): Effect.Effect<void, McpError> {
    const isLast = message.response && asked.answered(message.id) && asked.isAnswered
    const failure = McpError.decode(`The answer to ${asked.name} is not usable: ${message.error.message}`)
    return Effect.andThen(this.#deliver(message), isLast ? Effect.fail(failure) : Effect.void)
  }
}
