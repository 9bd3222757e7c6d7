/** What a right answer is. Every contestant is asked once before it is timed, and is out of the contest if it is wrong. */
import type { Era } from "../systems/echo.ts"

/** Checks the messages that came of one request: notifications first, the answer last. Throws when they are wrong. */
export type Expectation = (messages: ReadonlyArray<unknown>) => void

interface Message {
  readonly method?: string
  readonly result?: {
    readonly resultType?: string
    readonly content?: unknown
    readonly tools?: ReadonlyArray<{ readonly name: string }>
  }
}

const same = (what: string, actual: unknown, expected: unknown): void => {
  const [left, right] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (left !== right) throw new Error(`${what}: ${String(left).slice(0, 300)} instead of ${right.slice(0, 300)}`)
}

/** An answer of the era: who has not heard of 2026-07-28 leaves out what kind of result it is. */
const answerOf = (era: Era, messages: ReadonlyArray<Message>) => {
  const answer = messages.at(-1)
  if (answer?.result === undefined) throw new Error(JSON.stringify(answer).slice(0, 500))
  if (era === "modern") same("resultType", answer.result.resultType, "complete")
  return answer.result
}

/** The content is this text and nothing else, after this many reports of progress. */
export const content =
  (era: Era, text: string, reports = 0): Expectation =>
  (messages) => {
    const all = messages as ReadonlyArray<Message>
    same(
      "messages",
      all.map(({ method }) => method ?? "answer"),
      [...Array.from({ length: reports }, () => "notifications/progress"), "answer"]
    )
    same("content", answerOf(era, all).content, [{ type: "text", text }])
  }

/** The list has this many tools, on one page. */
export const tools =
  (era: Era, count: number): Expectation =>
  (messages) => {
    const names = answerOf(era, messages as ReadonlyArray<Message>).tools?.map(({ name }) => name) ?? []
    same("tools", [names.length, ...names.slice(0, 2)], [count, "echo", "progress"])
  }
