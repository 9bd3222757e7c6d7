/** A tool is a value, which the server and the client import. */
import { Schema } from "effect"
import { Tool } from "mcp-effect"

export const Greet = Tool.make("greet", {
  description: "Greets someone",
  input: Schema.Struct({ name: Schema.NonEmptyString }),
  output: Schema.Struct({ greeting: Schema.String }),
  hints: { readOnly: true }
})
