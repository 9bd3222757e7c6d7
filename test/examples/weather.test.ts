/**
 * The weather server of the README, its client, and their test: one server value, both eras.
 */
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Layer, Schema, Stream } from "effect"
import { McpClient, McpServer, Progress, Tool } from "../../src/index.ts"
import { McpTest } from "../../src/testing/index.ts"

class NoStation extends Schema.TaggedError<NoStation>()("NoStation", { latitude: Schema.Number }) {}

const Forecast = Tool.make("get-forecast", {
  description: "Weather forecast for a place",
  input: Schema.Struct({
    latitude: Schema.Number.check(Schema.isBetween({ minimum: -90, maximum: 90 })),
    longitude: Schema.Number
  }),
  output: Schema.Struct({ summary: Schema.String, celsius: Schema.Number }),
  error: NoStation,
  hints: { readOnly: true, openWorld: true }
})

class Stations extends Context.Service<
  Stations,
  {
    readonly forecast: (
      latitude: number,
      longitude: number
    ) => Effect.Effect<{ readonly summary: string; readonly celsius: number }>
  }
>()("test/Stations") {
  static readonly test = Layer.succeed(
    Stations,
    Stations.of({ forecast: (latitude) => Effect.succeed({ summary: "sunny", celsius: latitude > 35 ? 29 : 35 }) })
  )
}

const weather = McpServer.make({
  name: "weather",
  version: "1.0.0",
  tools: [
    Tool.handle(Forecast, ({ latitude, longitude }) =>
      Effect.gen(function* () {
        const stations = yield* Stations
        yield* Progress.report({ progress: 1, total: 2, message: "finding a station" })
        yield* Effect.logInfo("asked")
        if (latitude > 89) return yield* new NoStation({ latitude })
        return yield* stations.forecast(latitude, longitude)
      })
    )
  ]
})

const tokyo = { latitude: 35.6, longitude: 139.7 }

describe.each(["2025-11-25", "2026-07-28"])("weather in %s", (revision) => {
  it.layer(McpTest.layer(weather, { revision }).pipe(Layer.provide(Stations.test)))((it) => {
    it.effect("forecasts", () =>
      Effect.gen(function* () {
        const client = yield* McpClient.McpClient
        expect(client.server.revision).toBe(revision)
        expect((yield* client.call(Forecast, tokyo)).celsius).toBe(29)
      })
    )

    it.effect("fails as declared", () =>
      Effect.gen(function* () {
        const client = yield* McpClient.McpClient
        const failure = yield* Effect.flip(client.call(Forecast, { latitude: 89.5, longitude: 0 }))
        expect(failure).toEqual(new NoStation({ latitude: 89.5 }))
      })
    )

    it.effect("shows how it goes", () =>
      Effect.gen(function* () {
        const client = yield* McpClient.McpClient
        const events = yield* Stream.runCollect(client.stream(Forecast, tokyo))
        expect(events).toEqual([
          { _tag: "Progress", progress: 1, total: 2, message: "finding a station" },
          { _tag: "Log", level: "info", data: "asked" },
          { _tag: "Result", value: { summary: "sunny", celsius: 29 } }
        ])
      })
    )

    it.effect("is a foreign tool to those who have no type for it", () =>
      Effect.gen(function* () {
        const client = yield* McpClient.McpClient
        const [tool] = yield* Stream.runCollect(client.listTools)
        expect(tool?.name).toBe("get-forecast")
        const result = yield* client.callTool("get-forecast", tokyo)
        expect(result.structuredContent).toEqual({ summary: "sunny", celsius: 29 })
      })
    )
  })
})
