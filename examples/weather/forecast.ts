/** A tool is a value. The server handles it, the client calls it, and both get their types from it. */
import { Schema } from "effect"
import { Tool } from "mcp-effect"

export class NoStation extends Schema.TaggedError<NoStation>()("NoStation", { latitude: Schema.Number }) {}

export const Forecast = Tool.make("get-forecast", {
  description: "Weather forecast for a place",
  input: Schema.Struct({
    latitude: Schema.Number.check(Schema.isBetween({ minimum: -90, maximum: 90 })),
    longitude: Schema.Number
  }),
  output: Schema.Struct({ summary: Schema.String, celsius: Schema.Number }),
  error: NoStation,
  hints: { readOnly: true, openWorld: true }
})
