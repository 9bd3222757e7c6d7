/**
 * Requests that the server may answer with questions (from 2026-07-28): the questions are answered, and the request is
 * sent again with the answers, until there is a result.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import * as Effect from "effect/Effect"
import type { Members } from "../protocol/JsonRpc.ts"
import { McpError } from "../protocol/McpError.ts"
import {
  type CompleteResultOf,
  type InputRequest,
  type InputRequiredMethod,
  type InputRequiredResult,
  type InputResponses,
  isInputRequired
} from "../protocol/index.ts"
import type { ClientRequests } from "../protocol/Methods.ts"
import { findRequest, type Revision } from "../revision/Revision.ts"
import type { Conversation, InternalOptions } from "./Conversation.ts"
import type { PeerRequests } from "./PeerRequests.ts"

/** A result, and whether it took questions to get it; then it must not be kept (CACHE-05). */
export interface Outcome<A> {
  readonly result: A
  readonly asked: boolean
}

/** Sends a request, answering the server's questions on the way. */
export class Rounds {
  readonly #conversation: Conversation
  readonly #questions: PeerRequests
  readonly #most: number

  constructor(conversation: Conversation, questions: PeerRequests, most: number) {
    this.#conversation = conversation
    this.#questions = questions
    this.#most = most
  }

  /**
   * Fails with `Unsupported` when the server asks for what the client did not declare, with `LimitExceeded` when it
   * does not come to an end, and with the failure of a handler.
   */
  request<Method extends InputRequiredMethod>(
    method: Method,
    params: ClientRequests[Method]["params"],
    options: InternalOptions
  ): Effect.Effect<Outcome<CompleteResultOf<Method>>, McpError> {
    return this.#play(method, params, params, options, 0)
  }

  #play<Method extends InputRequiredMethod>(
    method: Method,
    params: ClientRequests[Method]["params"],
    sent: ClientRequests[Method]["params"],
    options: InternalOptions,
    round: number
  ): Effect.Effect<Outcome<CompleteResultOf<Method>>, McpError> {
    return Effect.flatMap(this.#conversation.request(method, sent, options), (result) => {
      // What asks for no input is the result for good.
      if (!isInputRequired(result)) {
        return Effect.succeed({ result: result as CompleteResultOf<Method>, asked: round > 0 })
      }
      if (round === this.#most) {
        const message = `The server has asked for input ${round + 1} times during one ${method}`
        return Effect.fail(McpError.limit("rounds", message))
      }
      const { requestState } = result
      return Effect.flatMap(this.#answer(this.#conversation.agreement.revision, result), (inputResponses) => {
        // Only what this round has brought goes along; the state is the server's and stays as it is (MRTR-07, MRTR-09).
        const next = {
          ...params,
          ...(inputResponses !== undefined && { inputResponses }),
          ...(requestState !== undefined && { requestState })
        }
        return this.#play(method, params, next, options, round + 1)
      })
    })
  }

  #answer(
    revision: Revision,
    { inputRequests }: InputRequiredResult
  ): Effect.Effect<InputResponses | undefined, McpError> {
    const requests = Object.entries(inputRequests ?? {})
    if (requests.length === 0) return Effect.succeed(undefined)
    const answers = requests.map(([key, question]) =>
      Effect.map(this.#questions.answer(question), (answer) => [key, encodeAnswer(revision, question, answer)] as const)
    )
    return Effect.all(answers, { concurrency: "unbounded" }).pipe(
      Effect.map((entries) => Object.fromEntries(entries)),
      // In this era no error can be sent to the server, so whoever called is told (MRTR-19).
      Effect.catchTag("Undeclared", ({ message }) =>
        Effect.fail(McpError.unsupported(`The server asks for what this client can't give. ${message}`))
      )
    )
  }
}

const encodeAnswer = (revision: Revision, { method }: InputRequest, answer: Members): Members =>
  findRequest(revision.serverRequests, method)?.result.encode(answer) ?? answer
