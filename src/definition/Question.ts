/**
 * Something that a server asks of the client in the middle of a call: a form, a URL to open, a completion, its roots.
 */
import * as Predicate from "effect/Predicate"
import type { Members } from "../protocol/JsonRpc.ts"

/** A question, in the canonical model. */
export interface Question {
  readonly method: "elicitation/create" | "sampling/createMessage" | "roots/list"
  readonly params: Members
  /** The key of the question in a round of input (2026-07-28). Default: made of the question itself. */
  readonly key?: string | undefined
  /** What the client must have declared, in the shape of `ClientCapabilities`. */
  readonly requires: Members
}

/**
 * Whether a client that declared `capabilities` can be asked. A bare `elicitation: {}` means forms (ELIC-03); anything
 * that is not an object declares nothing.
 */
export const canAsk = (question: Question, capabilities: Members): boolean =>
  Object.entries(question.requires).every(([name, required]) => {
    const declared = capabilities[name]
    if (!Predicate.isObject(declared)) return false
    const features = Object.keys(required as Members)
    if (name === "elicitation" && features.includes("form")) {
      return Predicate.isObject((declared as Members).form) || !("url" in declared)
    }
    return features.every((feature) => Predicate.isObject((declared as Members)[feature]))
  })
