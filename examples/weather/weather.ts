/** A server is a value too. What its handlers need shows in its type: `McpServer<Stations>`. */
import { Effect, Schema } from "effect"
import { McpServer, Progress, Prompt, PromptMessage, Resource, Tool } from "mcp-effect"
import { Forecast, NoStation } from "./forecast.ts"
import { Stations } from "./Stations.ts"

export const weather = McpServer.make({
  name: "weather",
  version: "1.0.0",
  tools: [
    Tool.handle(
      Forecast,
      Effect.fnUntraced(function* ({ latitude, longitude }) {
        const stations = yield* Stations
        yield* Progress.report({ progress: 1, total: 2, message: "finding a station" })
        yield* Effect.logInfo(`asked for ${latitude}, ${longitude}`) // goes to the client, if it wants logs
        if (latitude > 89) return yield* new NoStation({ latitude }) // a result with `isError`
        return yield* stations.forecast(latitude, longitude)
      })
    )
  ],
  resources: [
    Resource.make(
      "config://app",
      { name: "config", mimeType: "application/json" },
      Effect.succeed(`{"unit":"celsius"}`)
    ),
    Resource.template("station:///{name}", { name: "station", complete: { name: suggestNames } }, ({ name }) =>
      Effect.succeed(`${name} is a fine place for a station.`)
    )
  ],
  prompts: [
    Prompt.make("pack", { arguments: Schema.Struct({ place: Schema.String }) }, ({ place }) =>
      Effect.succeed([PromptMessage.user(`Look at the forecast for ${place} and tell me what to pack.`)])
    )
  ]
})

function suggestNames(typed: string) {
  return Effect.map(Stations, ({ names }) => names.filter((name) => name.startsWith(typed)))
}
