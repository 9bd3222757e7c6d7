/**
 * One round of a request that may ask for input (2026-07-28): the handler runs from its start, finds the answers that
 * came before, and, at the first question without one, ends with the questions instead of a result.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import { type Cause, Effect, Hash } from "effect"
import { canAsk, type Question } from "../definition/Question.ts"
import type { Members } from "../protocol/JsonRpc.ts"
import { McpError } from "../protocol/McpError.ts"
import { canonicalJson, type Memory } from "./RequestState.ts"

/** What a question looks like on the wire, and how its answer is read. */
export interface QuestionCodec {
  readonly encode: (question: Question) => Members
  readonly decode: (question: Question, answer: unknown) => Effect.Effect<unknown, McpError>
}

/** The state of one run of a handler. */
export class Round {
  readonly #capabilities: Members
  readonly #codec: QuestionCodec
  readonly #answers: { readonly [key: string]: unknown }
  readonly #steps: Map<string, unknown>
  readonly #seen = new Map<string, number>()
  readonly #open = new Map<string, Question>()

  constructor(
    capabilities: Members,
    codec: QuestionCodec,
    memory: Memory,
    responses: { readonly [key: string]: unknown }
  ) {
    this.#capabilities = capabilities
    this.#codec = codec
    this.#answers = { ...memory.answers, ...responses }
    this.#steps = new Map(Object.entries(memory.steps))
  }

  /** What `Step.run` sees. */
  readonly steps = {
    get: (name: string): { readonly value: unknown } | undefined =>
      this.#steps.has(name) ? { value: this.#steps.get(name) } : undefined,
    set: (name: string, value: unknown): void => {
      this.#steps.set(name, value)
    }
  }

  /** Whether the run has met a question without an answer. */
  get isOpen(): boolean {
    return this.#open.size > 0
  }

  /** The questions to send, by key. */
  get inputRequests(): { readonly [key: string]: Members } {
    const requests: { [key: string]: Members } = {}
    for (const [key, question] of this.#open) requests[key] = this.#codec.encode(question)
    return requests
  }

  /** What has to be remembered until the answers come. */
  get memory(): Memory {
    const answers: { [key: string]: unknown } = {}
    for (const key of this.#seen.keys()) if (key in this.#answers) answers[key] = this.#answers[key]
    return { answers, steps: Object.fromEntries(this.#steps) }
  }

  /** Gives the answer when it is there; otherwise puts the question and ends the run. */
  readonly ask = (question: Question): Effect.Effect<unknown, McpError> =>
    Effect.suspend(() => {
      const key = this.#keyOf(question)
      if (Object.hasOwn(this.#answers, key)) return this.#codec.decode(question, this.#answers[key])
      if (!canAsk(question, this.#capabilities)) {
        const needed = Object.keys(question.requires).join(", ")
        return Effect.fail(
          McpError.unsupported(`The client did not declare that it can do this: ${needed}`, question.requires)
        )
      }
      this.#open.set(key, question)
      // Questions that are asked at the same time get their turn before the run ends, so they go out together.
      return Effect.andThen(Effect.andThen(Effect.yieldNow, Effect.yieldNow), Effect.interrupt)
    })

  // A key must come out the same in every run, whatever the order in which concurrent questions are asked: so it
  // is made of the question itself, and of how often the same question was asked before.
  #keyOf(question: Question): string {
    const key = question.key ?? keyFrom(question)
    const times = this.#seen.get(key) ?? 0
    this.#seen.set(key, times + 1)
    const numbered = times === 0 ? key : `${key}-${times}`
    if (times > 0) this.#seen.set(numbered, 1)
    return numbered
  }
}

const keyFrom = (question: Question): string => {
  const text = canonicalJson(question.params)
  const digest = [text, `${text.length}:${text}`].map((part) => (Hash.string(part) >>> 0).toString(36)).join("")
  return `${question.method.slice(0, question.method.indexOf("/"))}-${digest}`
}

/** A run that met a question ends in this, whatever the handler made of the interruption. */
export type Outcome<A> = { readonly _tag: "Done"; readonly value: A } | { readonly _tag: "Open" }

/** Runs a handler to its result or to its questions. */
export const run = <A, E, R>(round: Round, handler: Effect.Effect<A, E, R>): Effect.Effect<Outcome<A>, E, R> =>
  Effect.matchCauseEffect(handler, {
    onSuccess: (value): Effect.Effect<Outcome<A>, E> =>
      Effect.succeed(round.isOpen ? { _tag: "Open" } : { _tag: "Done", value }),
    onFailure: (cause: Cause.Cause<E>): Effect.Effect<Outcome<A>, E> =>
      round.isOpen ? Effect.succeed({ _tag: "Open" }) : Effect.failCause(cause)
  })
