/**
 * Plays one client scenario of the official conformance suite, which starts this program with the name of the scenario in
 * `MCP_CONFORMANCE_SCENARIO`, what it wants done in `MCP_CONFORMANCE_CONTEXT`, and the URL as the last argument.
 *
 * Which revision to speak is not taken from the suite: finding that out is a part of what is tested.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Schema, Stream } from "effect"
import { McpClient, type McpError, type Protocol } from "mcp-effect"
import { StreamableHttp } from "mcp-effect/node"

type Client = McpClient.McpClient["Service"]

/** What one scenario does with a connected client. */
type Scenario = (client: Client) => Effect.Effect<unknown, McpError>

const callEveryTool =
  (args: Protocol.JsonObject = {}): Scenario =>
  (client) =>
    Stream.runForEach(client.listTools, ({ name }) => client.callTool(name, args))

const useEverything: Scenario = (client) =>
  Effect.gen(function* () {
    yield* callEveryTool()(client)
    yield* Stream.runForEach(client.listResources, ({ uri }) => client.readResource(uri))
    yield* Stream.runForEach(client.listPrompts, ({ name }) => client.getPrompt(name))
  })

const listTools: Scenario = (client) => Stream.runDrain(client.listTools)

const callEveryToolAtOnce: Scenario = (client) =>
  Effect.flatMap(Stream.runCollect(client.listTools), (tools) =>
    Effect.forEach(tools, ({ name }) => client.callTool(name), { concurrency: "unbounded" })
  )

const Context = Schema.fromJsonString(
  Schema.Struct({
    toolCalls: Schema.Array(
      Schema.Struct({ name: Schema.String, arguments: Schema.Record(Schema.String, Schema.Unknown) })
    )
  })
)

const makeCallsOfContext: Scenario = (client) =>
  Effect.gen(function* () {
    const context = yield* Effect.orDie(Schema.decodeUnknownEffect(Context)(process.env["MCP_CONFORMANCE_CONTEXT"]))
    yield* listTools(client)
    yield* Effect.forEach(context.toolCalls, (call) => client.callTool(call.name, call.arguments))
  })

const echoSchema: Scenario = (client) =>
  Effect.gen(function* () {
    const tools = yield* Stream.runCollect(client.listTools)
    const focal = tools.find(({ name }) => name === "json_schema_2020_12_tool")
    yield* client.callTool("json_schema_echo", { schema: focal?.inputSchema })
  })

const scenarios: { readonly [name: string]: Scenario } = {
  initialize: () => Effect.void,
  tools_call: callEveryTool({ a: 2, b: 3 }),
  "elicitation-sep1034-client-defaults": callEveryTool(),
  "sse-retry": callEveryTool(),
  "request-metadata": listTools,
  "sep-2322-client-request-state": callEveryToolAtOnce,
  "http-standard-headers": useEverything,
  "http-custom-headers": makeCallsOfContext,
  "http-invalid-tool-headers": callEveryTool(),
  "json-schema-ref-no-deref": listTools,
  "json-schema-2020-12-preservation": echoSchema
}

/** Somebody who agrees to everything, and fills in no more than they have to. */
const agree = ({ requestedSchema }: Protocol.ElicitRequestFormParams): Protocol.ElicitResult => {
  const mandatory = requestedSchema.required ?? []
  const questions = Object.entries(requestedSchema.properties).filter(
    ([name, field]) => mandatory.includes(name) && field.type === "boolean" && field.default === undefined
  )
  return { action: "accept", content: Object.fromEntries(questions.map(([name]) => [name, true])) }
}

const layer = McpClient.layer({
  name: "mcp-effect-conformance",
  version: "1.0.0",
  // The suite starts dozens of clients at once, so the first answer may take long without meaning anything.
  probeTimeout: "20 seconds",
  handlers: {
    elicit: (request) => Effect.succeed(agree(request)),
    sample: () =>
      Effect.succeed({
        role: "assistant" as const,
        content: { type: "text" as const, text: "Hello" },
        model: "none",
        stopReason: "endTurn"
      }),
    roots: Effect.succeed([{ uri: "file:///workspace" }])
  }
})

const name = process.env["MCP_CONFORMANCE_SCENARIO"] ?? ""
const scenario = Object.hasOwn(scenarios, name) ? scenarios[name] : undefined
const url = process.argv.at(-1) ?? ""

const main = Effect.gen(function* () {
  if (scenario === undefined) return yield* Effect.fail(new Error(`Nothing is known of the scenario "${name}"`))
  return yield* Effect.flatMap(McpClient.McpClient, scenario).pipe(
    Effect.provide(layer),
    Effect.provide(StreamableHttp.layerClient({ url }))
  )
})

NodeRuntime.runMain(main)
