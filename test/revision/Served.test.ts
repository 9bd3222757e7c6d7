/**
 * One server, and clients of every legacy revision: what is on the wire is valid for each of them, and what can't be
 * said to one of them is not sent.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Schema, type Scope } from "effect"
import { Content, McpClient, McpServer, Peer, Progress, Prompt, PromptMessage, Resource, Tool } from "mcp-effect"
import { McpTest } from "mcp-effect/testing"
import { available, validateTraffic, type Version } from "../protocol/OfficialSchema.ts"
import { at, initializeParams, legacy, open, type RawClient } from "../support/RawClient.ts"

const versions: ReadonlyArray<Version> = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]

const failing = <A, R>(question: Effect.Effect<A, { readonly message: string }, R>) =>
  Effect.catch(Effect.as(question, "answered"), ({ message }) => Effect.succeed(message))

const Weather = Tool.make("weather", {
  title: "Weather",
  input: Schema.Struct({ city: Schema.String }),
  output: Schema.Struct({ celsius: Schema.Number }),
  hints: { readOnly: true },
  icons: [{ src: "https://example.com/a.png" }]
})

const Several = Schema.Struct({ some: Schema.Array(Schema.Literals(["a", "b"])) })

const server = McpServer.make({
  name: "old",
  title: "Old friends",
  version: "1.0.0",
  tools: [
    Tool.handle(Weather, () =>
      Effect.as(Progress.report({ progress: 1, message: "looking out of the window" }), { celsius: 20 })
    ),
    Tool.handle(Tool.make("everything"), () =>
      Effect.succeed([
        Content.audio("AQID", "audio/wav"),
        Content.resourceLink("file:///a", "a", { icons: [{ src: "data:," }] }),
        Content.text("a", { annotations: { lastModified: "2025-01-12T15:00:58Z" }, _meta: { "com.example/x": 1 } })
      ])
    ),
    Tool.handle(Tool.make("ask-several"), () =>
      failing(
        Peer.elicit({
          message: "Which?",
          schema: Several,
          requestedSchema: {
            type: "object",
            properties: { some: { type: "array", items: { type: "string", enum: ["a", "b"] } } }
          }
        })
      )
    ),
    Tool.handle(Tool.make("think-with-tools"), () =>
      failing(
        Peer.sample({
          maxTokens: 1,
          messages: [{ role: "user", content: Content.text("a") }],
          tools: [{ name: "a", inputSchema: { type: "object" } }]
        })
      )
    ),
    Tool.handle(Tool.make("think"), () =>
      failing(Peer.sample({ maxTokens: 1, messages: [{ role: "user", content: Content.text("a") }] }))
    )
  ],
  resources: [Resource.make("config://app", { name: "config", title: "Config" }, Effect.succeed("{}"))],
  prompts: [
    Prompt.make("hello", { title: "Hello", arguments: Schema.Struct({ name: Schema.String }) }, ({ name }) =>
      Effect.succeed([PromptMessage.user(`Hello ${name}`)])
    )
  ]
})

/** A client that declares everything that any revision knows. */
const connect = (version: string): Effect.Effect<RawClient, never, Scope.Scope> =>
  Effect.gen(function* () {
    const client = yield* open(server, { era: legacy, initialize: false, judged: false })
    const capabilities = { elicitation: { form: {}, url: {} }, sampling: { tools: {}, context: {} } }
    const result = yield* client.result("initialize", initializeParams(capabilities, version))
    expect(result.protocolVersion).toBe(version)
    yield* client.notify("notifications/initialized")
    return client
  })

for (const version of versions) {
  describe(`served in ${version}`, () => {
    it.effect.skipIf(!available)("[LIFE-08] everything that the server says is valid", () =>
      Effect.gen(function* () {
        const client = yield* connect(version)
        yield* client.result("tools/list")
        yield* client.result("resources/list")
        yield* client.result("resources/read", { uri: "config://app" })
        yield* client.result("prompts/list")
        yield* client.result("prompts/get", { name: "hello", arguments: { name: "you" } })
        yield* client.call("everything")
        const weather = yield* client.call("weather", { city: "Tokyo" }, { _meta: { progressToken: "p" } })
        expect(at(weather, "content", 0, "text")).toBe('{"celsius":20}')
        expect(client.called("notifications/progress")).toHaveLength(1)
        expect(validateTraffic(version, client.traffic)).toEqual([])
      })
    )

    it.effect("a question that the revision can't put is refused before it is sent", () =>
      Effect.gen(function* () {
        const client = yield* connect(version)
        for (const [tool, method] of [
          ["ask-several", "elicitation/create"],
          ["think-with-tools", "sampling/createMessage"]
        ] as const) {
          const id = yield* client.start("tools/call", { name: tool })
          if (version === "2025-11-25") {
            expect(yield* client.nextCalled(method)).toHaveProperty("params")
          } else {
            const answer = yield* client.answerTo(id)
            expect(at(answer, "result", "content", 0, "text")).toMatch(/revision|declare/)
            expect(client.called(method)).toEqual([])
          }
        }
      })
    )

    it.effect("an answer of several blocks that the revision can't give is refused, not cut", () =>
      Effect.gen(function* () {
        const client = yield* McpClient.McpClient
        const result = yield* client.callTool("think", {})
        expect(at(result, "content", 0, "text")).toMatch(version === "2025-11-25" ? "answered" : /one block/)
      }).pipe(
        Effect.provide(
          McpTest.layer(server, {
            revision: version,
            handlers: {
              sample: () =>
                Effect.succeed({
                  role: "assistant" as const,
                  model: "small",
                  content: [Content.text("a"), Content.image("AQID", "image/png")]
                })
            }
          })
        )
      )
    )
  })
}
