/**
 * The tools of the server that is soaked, which its clients know too.
 */
import { Schema } from "effect"
import { Tool } from "mcp-effect"

/** Answers at once. */
export const Echo = Tool.make("echo", {
  input: Schema.Struct({ text: Schema.String }),
  output: Schema.String
})

/** Takes its time, 20 milliseconds a step, and tells how far it is. */
export const Slow = Tool.make("slow", {
  input: Schema.Struct({ text: Schema.String, steps: Schema.Number }),
  output: Schema.String
})

/** Answers with a letter, many times. */
export const Large = Tool.make("large", {
  input: Schema.Struct({ letter: Schema.String, length: Schema.Number }),
  output: Schema.String
})

/** Asks the person for their name. */
export const Ask = Tool.make("ask", {
  input: Schema.Struct({ question: Schema.String }),
  output: Schema.String
})

/** Why {@link Refuse} fails. */
export class Refused extends Schema.TaggedError<Refused>()("Refused", { why: Schema.String }) {}

/** Fails in the way that it declares. */
export const Refuse = Tool.make("refuse", {
  input: Schema.Struct({ why: Schema.String }),
  output: Schema.String,
  error: Refused
})

/** Tells what the process holds. */
export const Measure = Tool.make("measure", {
  output: Schema.Struct({
    heap: Schema.Number,
    counts: Schema.Record(Schema.String, Schema.Number),
    unhandled: Schema.Number
  })
})
