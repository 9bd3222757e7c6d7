/** The server, written as a user of mcp-effect would write it. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
// What `mcp-effect/McpServer` and so on stand for: the modules that are needed and no others, as the README advises.
import * as Progress from "../../../dist/definition/Progress.js"
import * as Tool from "../../../dist/definition/Tool.js"
import * as McpServer from "../../../dist/server/McpServer.js"
import { descriptions, fillers, info } from "../echo.ts"

const Echo = Tool.make("echo", {
  description: descriptions.echo,
  input: Schema.Struct({ text: Schema.String })
})

const Report = Tool.make("progress", {
  description: descriptions.progress,
  input: Schema.Struct({ text: Schema.String, times: Schema.Number })
})

export const server = McpServer.make({
  ...info,
  tools: [
    Tool.handle(Echo, ({ text }) => Effect.succeed(text)),
    Tool.handle(Report, ({ text, times }) =>
      Effect.gen(function* () {
        for (let progress = 1; progress <= times; progress++) yield* Progress.report({ progress, total: times })
        return text
      })
    ),
    ...fillers.map(({ description, name }) =>
      Tool.handle(Tool.make(name, { description, input: Schema.Struct({ text: Schema.String }) }), ({ text }) =>
        Effect.succeed(text)
      )
    )
  ]
})
