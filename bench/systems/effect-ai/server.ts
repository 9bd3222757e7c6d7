/**
 * The server on `effect/ai`. Its tools are added to the registry directly, because a toolkit would answer with
 * structured content and with JSON in its text, which no other server of the comparison does.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { McpProtocol, McpSchema, McpServer } from "effect/ai"
import { descriptions, fillers, info } from "../echo.ts"

const Text = Schema.Struct({ text: Schema.String })
const TextAndTimes = Schema.Struct({ text: Schema.String, times: Schema.Number })

const jsonSchema = (schema: Schema.Top) =>
  new McpSchema.Tool({ name: "", inputSchema: Schema.toJsonSchemaDocument(schema).schema as never }).inputSchema

const inputs = { text: jsonSchema(Text), textAndTimes: jsonSchema(TextAndTimes) }

const answer = (text: string) => new McpSchema.CallToolResult({ content: [{ type: "text", text }] })

const invalid = () => Effect.fail(new McpSchema.InvalidParams({ message: "Invalid arguments" }))

const decodeText = Schema.decodeUnknownEffect(Text)
const decodeTextAndTimes = Schema.decodeUnknownEffect(TextAndTimes)

export const registrations = Layer.effectDiscard(
  Effect.gen(function* () {
    const registry = yield* McpServer.McpServer
    const add = (name: string, description: string) =>
      registry.addTool({
        tool: new McpSchema.Tool({ name, description, inputSchema: inputs.text }),
        annotations: Context.empty(),
        handle: (payload) =>
          Effect.matchEffect(decodeText(payload), {
            onSuccess: ({ text }) => Effect.succeed(answer(text)),
            onFailure: invalid
          })
      })
    yield* add("echo", descriptions.echo)
    yield* registry.addTool({
      tool: new McpSchema.Tool({
        name: "progress",
        description: descriptions.progress,
        inputSchema: inputs.textAndTimes
      }),
      annotations: Context.empty(),
      handle: (payload) =>
        Effect.matchEffect(decodeTextAndTimes(payload), {
          onSuccess: ({ text, times }) =>
            Effect.gen(function* () {
              const { requestMetadata } = yield* McpSchema.McpRequestContext
              const progressToken = requestMetadata?.progressToken as string | number
              for (let progress = 1; progress <= times; progress++) {
                yield* registry.notifications["notifications/progress"]({ progressToken, progress, total: times })
              }
              return answer(text)
            }).pipe(Effect.orDie),
          onFailure: invalid
        })
    })
    for (const { description, name } of fillers) yield* add(name, description)
  })
)

export const options = {
  ...info,
  protocols: [McpProtocol.v2025_11_25, McpProtocol.v2026_07_28],
  registrations
} as const
