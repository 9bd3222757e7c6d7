/**
 * One round of a request that may ask for input (2026-07-28): the handler runs from its start, finds the answers that
 * came before, and, at the first question without one, ends with the questions instead of a result.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import * as Effect from "effect/Effect"
import * as Hash from "effect/Hash"
import type { StepMemory } from "../definition/CallContext.ts"
import { canAsk, type Question } from "../definition/Question.ts"
import type { Members } from "../protocol/JsonRpc.ts"
import { McpError } from "../protocol/McpError.ts"
import { canonicalJson, type Memory } from "./RequestState.ts"

/** Reads the answer to a question. */
export type ReadAnswer = (question: Question, answer: unknown) => Effect.Effect<unknown, McpError>

const nothing: Memory = { answers: {}, steps: {} }

/** The state of one run of a handler; also what its `Step.run` sees. */
export class Round implements StepMemory {
  readonly #capabilities: Members
  readonly #read: ReadAnswer
  readonly #memory: Memory
  readonly #responses: Members | undefined
  // Most handlers never ask, so what asking takes is made at the first question.
  #steps: Map<string, unknown> | undefined
  #seen: Map<string, number> | undefined
  #open: { [key: string]: Members } | undefined

  constructor(
    capabilities: Members,
    read: ReadAnswer,
    responses: { readonly [key: string]: unknown } | undefined,
    memory: Memory = nothing
  ) {
    this.#capabilities = capabilities
    this.#read = read
    this.#memory = memory
    this.#responses = responses
  }

  get(step: string): { readonly value: unknown } | undefined {
    if (this.#steps?.has(step)) return { value: this.#steps.get(step) }
    const { steps } = this.#memory
    return Object.hasOwn(steps, step) ? { value: steps[step] } : undefined
  }

  set(step: string, value: unknown): void {
    this.#steps ??= new Map()
    this.#steps.set(step, value)
  }

  /** The questions without an answer that the run has met, by key; `undefined` when there are none. */
  get inputRequests(): { readonly [key: string]: Members } | undefined {
    return this.#open
  }

  /** What has to be remembered until the answers come. */
  get memory(): Memory {
    const answers: { [key: string]: unknown } = {}
    for (const key of this.#seen?.keys() ?? []) {
      const answer = this.#answerTo(key)
      if (answer !== undefined) answers[key] = answer
    }
    return { answers, steps: { ...this.#memory.steps, ...Object.fromEntries(this.#steps ?? []) } }
  }

  #answerTo(key: string): unknown {
    if (this.#responses !== undefined && Object.hasOwn(this.#responses, key)) return this.#responses[key]
    return Object.hasOwn(this.#memory.answers, key) ? this.#memory.answers[key] : undefined
  }

  /** Gives the answer when it is there; otherwise puts the question and ends the run. */
  readonly ask = (question: Question): Effect.Effect<unknown, McpError> =>
    Effect.suspend(() => {
      const key = this.#keyOf(question)
      const answer = this.#answerTo(key)
      if (answer !== undefined) return this.#read(question, answer)
      if (!canAsk(question, this.#capabilities)) {
        const needed = Object.keys(question.requires).join(", ")
        const message = `The client did not declare that it can do this: ${needed}`
        return Effect.fail(McpError.unsupported(message, question.requires))
      }
      this.#open ??= {}
      this.#open[key] = { method: question.method, params: question.params }
      // Questions that are asked at the same time get their turn before the run ends, so they go out together.
      return Effect.andThen(Effect.andThen(Effect.yieldNow, Effect.yieldNow), Effect.interrupt)
    })

  // A key must come out the same in every run, whatever the order in which concurrent questions are asked: so it
  // is made of the question itself, and of how often the same question was asked before.
  #keyOf(question: Question): string {
    const key = question.key ?? keyFrom(question)
    this.#seen ??= new Map()
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
