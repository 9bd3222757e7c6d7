/** The service behind the weather server. This one makes the weather up. */
import { Context, Effect, Layer } from "effect"

export class Stations extends Context.Service<
  Stations,
  {
    readonly names: ReadonlyArray<string>
    readonly forecast: (
      latitude: number,
      longitude: number
    ) => Effect.Effect<{ readonly summary: string; readonly celsius: number }>
  }
>()("examples/weather/Stations") {
  static readonly layer = Layer.succeed(Stations, {
    names: ["Oslo", "Osaka", "Tokyo"],
    forecast: (latitude) => {
      const celsius = Math.round(35 - Math.abs(latitude) / 6)
      return Effect.succeed({ summary: celsius > 25 ? "sunny" : "cloudy", celsius })
    }
  })
}
