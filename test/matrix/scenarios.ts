/**
 * What a client and a server of any revision can do with each other, over any transport: one row a concept.
 */
import { deepEqual, equal, ok } from "node:assert/strict"
import { Deferred, Effect, Fiber, Result, Stream } from "effect"
import type { McpClient, McpError, Protocol } from "mcp-effect"
import { counterUri, pageSize } from "./server.ts"
import * as Tools from "./tools.ts"
import { answerTo, requests, type Wire } from "./wire.ts"

/** The revisions, oldest first. */
export const revisions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] as const

/** A dated revision; dates compare as text. */
export type Revision = (typeof revisions)[number]

/** What a scenario has to work with. */
export interface World {
  readonly client: McpClient.Client
  readonly revision: Revision
  /** What was said since the scenario began. */
  readonly wire: Wire
}

/** Something that a client and a server do. Its assertions throw. */
export interface Scenario {
  readonly name: string
  /** The first revision that can do it. Default: all can. */
  readonly since?: Revision
  /** The last revision that can do it. */
  readonly until?: Revision
  /** The request that must not be sent where it can't be done. */
  readonly method: string
  readonly run: (world: World) => Effect.Effect<unknown, unknown>
}

/** Whether a revision can do it. */
export const isIn = (revision: Revision, { since, until }: Pick<Scenario, "since" | "until">): boolean =>
  (since === undefined || revision >= since) && (until === undefined || revision <= until)

const textsOf = ({ content }: Protocol.CallToolResult): ReadonlyArray<string> =>
  content.map((block) => (block.type === "text" && "text" in block ? String(block.text) : block.type))

/** Line breaks of every kind, a byte order mark, a character outside the basic plane, and what framings escape. */
const anyText = 'a\n\r\u2028\u0085\uFEFF 😀 "\\data: ä'

const reasonOf = <A>(call: Effect.Effect<A, McpError>) => Effect.map(Effect.flip(call), ({ reason }) => reason)

/** The scenarios. */
export const scenarios: ReadonlyArray<Scenario> = [
  {
    name: "list",
    method: "tools/list",
    run: ({ client, revision }) =>
      Effect.gen(function* () {
        const [add] = yield* Stream.runCollect(client.listTools)
        equal(add?.name, "add")
        equal(add?.title, revision >= "2025-06-18" ? "Sum" : undefined)
        equal(add?.annotations?.readOnlyHint, revision >= "2025-03-26" ? true : undefined)
        equal(add?.icons?.length, revision >= "2025-11-25" ? 1 : undefined)
        equal(add?.outputSchema?.type, revision >= "2025-06-18" ? "object" : undefined)
        const resources = yield* Stream.runCollect(client.listResources)
        deepEqual(
          resources.map(({ uri }) => uri),
          [counterUri]
        )
        const templates = yield* Stream.runCollect(client.listResourceTemplates)
        deepEqual(
          templates.map(({ uriTemplate }) => uriTemplate),
          ["user://{id}/{+path}"]
        )
        const prompts = yield* Stream.runCollect(client.listPrompts)
        deepEqual(
          prompts.map(({ name }) => name),
          ["review"]
        )
      })
  },
  {
    name: "call",
    method: "tools/call",
    run: ({ client, revision, wire }) =>
      Effect.gen(function* () {
        deepEqual(yield* client.call(Tools.Add, { a: 1, b: 2 }), { sum: 3 })
        const [request] = requests(wire, "tools/call")
        const answer = request && answerTo(wire, request)
        ok(answer !== undefined && "result" in answer)
        equal("structuredContent" in answer.result, revision >= "2025-06-18")
        const [text, ...blocks] = (yield* client.call(Tools.Show, { text: anyText })).content
        deepEqual(text, { type: "text", text: anyText })
        deepEqual(
          blocks.map(({ type }) => type),
          ["image", revision >= "2025-03-26" ? "audio" : "text", revision >= "2025-06-18" ? "resource_link" : "text"]
        )
      })
  },
  {
    name: "read",
    method: "resources/read",
    run: ({ client }) =>
      Effect.gen(function* () {
        const { contents } = yield* client.readResource("user://ada/a/b")
        deepEqual(contents, [{ uri: "user://ada/a/b", text: "ada a/b" }])
        const { messages } = yield* client.getPrompt("review", { code: anyText })
        deepEqual(messages, [{ role: "user", content: { type: "text", text: `Review this: ${anyText}` } }])
      })
  },
  {
    name: "progress",
    method: "tools/call",
    run: ({ client, revision }) =>
      Effect.gen(function* () {
        const heard: Array<McpClient.Progress> = []
        const result = yield* client.call(Tools.Count, {}, { onProgress: (progress) => void heard.push(progress) })
        deepEqual(textsOf(result), ["counted"])
        const [one, two] = [
          { progress: 1, total: 2 },
          { progress: 2, total: 2 }
        ]
        deepEqual(
          heard,
          revision >= "2025-03-26"
            ? [
                { ...one, message: "one" },
                { ...two, message: "two" }
              ]
            : [one, two]
        )
      })
  },
  {
    name: "cancel",
    method: "tools/call",
    run: ({ client, wire }) =>
      Effect.gen(function* () {
        const started = yield* Deferred.make<void>()
        const onProgress = () => Deferred.doneUnsafe(started, Effect.void)
        const call = yield* Effect.forkChild(client.call(Tools.Wait, {}, { onProgress }))
        yield* Deferred.await(started)
        yield* Fiber.interrupt(call)
        deepEqual(textsOf(yield* client.call(Tools.Stopped, {})), ["stopped"])
        const [request] = requests(wire, "tools/call")
        ok(request !== undefined)
        equal(answerTo(wire, request), undefined, "a cancelled call was answered")
      })
  },
  {
    name: "log",
    method: "logging/setLevel",
    run: ({ client }) =>
      Effect.gen(function* () {
        yield* client.setLogLevel("warning")
        const events = yield* Stream.runCollect(client.stream(Tools.Chat, {}, { logLevel: "warning" }))
        deepEqual(
          events.map((event) => (event._tag === "Log" ? event.level : event._tag)),
          ["warning", "error", "Result"]
        )
      })
  },
  {
    name: "elicit",
    method: "elicitation/create",
    since: "2025-06-18",
    run: ({ client }) =>
      Effect.map(client.call(Tools.AskName, {}), (result) => deepEqual(textsOf(result), ["Hello Ada"]))
  },
  {
    name: "elicit by page",
    method: "elicitation/create",
    since: "2025-11-25",
    run: ({ client }) => Effect.map(client.call(Tools.AskPage, {}), (result) => deepEqual(textsOf(result), ["opened"]))
  },
  {
    name: "sample",
    method: "sampling/createMessage",
    run: ({ client }) => Effect.map(client.call(Tools.Think, {}), (result) => deepEqual(textsOf(result), ["Forty-two"]))
  },
  {
    name: "sample with tools",
    method: "sampling/createMessage",
    since: "2025-11-25",
    run: ({ client }) =>
      Effect.map(client.call(Tools.ThinkWithTools, {}), (result) => deepEqual(textsOf(result), ["tool_use"]))
  },
  {
    name: "roots",
    method: "roots/list",
    run: ({ client }) =>
      Effect.map(client.call(Tools.Where, {}), (result) => deepEqual(textsOf(result), ["file:///work file:///home"]))
  },
  {
    name: "subscribe",
    method: "resources/subscribe",
    run: ({ client }) =>
      Effect.scoped(
        Effect.gen(function* () {
          const changes = yield* client.subscribe({ tools: true, uris: [counterUri] })
          yield* client.call(Tools.Increase, {})
          yield* client.call(Tools.Grow, {})
          const heard = yield* Stream.runCollect(Stream.take(changes, 2))
          deepEqual(heard.map(({ _tag }) => _tag).toSorted(), ["ResourceUpdated", "ToolsChanged"])
          const { contents } = yield* client.readResource(counterUri)
          deepEqual(contents, [{ uri: counterUri, text: "1" }])
          equal((yield* Stream.runCollect(client.listTools)).at(-1)?.name, "grown")
        })
      )
  },
  {
    name: "complete",
    method: "completion/complete",
    run: ({ client, revision }) =>
      Effect.gen(function* () {
        const prompt = { type: "ref/prompt", name: "review" } as const
        deepEqual((yield* client.complete(prompt, { name: "language", value: "p" })).values, ["perl", "python"])
        const template = { type: "ref/resource", uri: "user://{id}/{+path}" } as const
        const { values } = yield* client.complete(template, { name: "path", value: "x" }, { id: "ada" })
        deepEqual(values, [revision >= "2025-06-18" ? "ada:x" : "nobody:x"])
      })
  },
  {
    name: "paginate",
    method: "tools/list",
    run: ({ client, wire }) =>
      Effect.gen(function* () {
        const tools = yield* Stream.runCollect(client.listTools)
        equal(new Set(tools.map(({ name }) => name)).size, tools.length)
        const pages = requests(wire, "tools/list")
        equal(pages.length, Math.ceil(tools.length / pageSize))
        ok(pages.length > 2)
        deepEqual(
          pages.map(({ params }) => typeof params?.cursor),
          pages.map((_, index) => (index === 0 ? "undefined" : "string"))
        )
      })
  },
  {
    name: "errors",
    method: "tools/call",
    run: ({ client, revision }) =>
      Effect.gen(function* () {
        deepEqual(yield* Effect.flip(client.call(Tools.Withdraw, { amount: 12 })), new Tools.Overdrawn({ missing: 2 }))
        const refusal = yield* reasonOf(client.call(Tools.Refuse, {}))
        ok(refusal._tag === "ProtocolFailure")
        deepEqual([refusal.code, refusal.message, refusal.data], [-31000, "Not today", { until: "tomorrow" }])
        const broken = yield* reasonOf(client.call(Tools.Break, {}))
        ok(broken._tag === "ToolFailure" && !JSON.stringify(broken).includes("hunter2"))
        const misfit = yield* reasonOf(client.callTool("add", { a: "one" }))
        equal(misfit._tag, revision >= "2025-11-25" ? "ToolFailure" : "ProtocolFailure")
        const code = <A>(call: Effect.Effect<A, McpError>) =>
          Effect.map(reasonOf(call), (reason) => (reason._tag === "ProtocolFailure" ? reason.code : reason))
        equal(yield* code(client.callTool("none")), -32602)
        equal(yield* code(client.getPrompt("none")), -32602)
        equal(yield* code(client.complete({ type: "ref/prompt", name: "none" }, { name: "x", value: "" })), -32602)
        const notFound = revision >= "2026-07-28" ? -32602 : -32002
        equal(yield* code(client.readResource("user://nobody/x")), notFound)
        equal(yield* code(client.readResource("none://x")), notFound)
      })
  },
  {
    name: "batch",
    method: "tools/call",
    run: ({ client, revision, wire }) =>
      Effect.gen(function* () {
        const [sum, shown] = yield* client.batch([
          client.call(Tools.Add, { a: 1, b: 2 }),
          client.call(Tools.Show, { text: "batched" })
        ])
        deepEqual(sum, Result.succeed({ sum: 3 }))
        ok(Result.isSuccess(shown))
        equal(textsOf(shown.success)[0], "batched")
        equal(requests(wire, "tools/call").length, 2)
        equal(wire.sent.filter(Array.isArray).length, revision === "2025-03-26" ? 1 : 0)
      })
  },
  {
    name: "ping",
    method: "ping",
    until: "2025-11-25",
    run: ({ client }) => client.ping
  },
  {
    name: "discover",
    method: "server/discover",
    since: "2026-07-28",
    run: ({ client }) =>
      Effect.map(client.discover, ({ supportedVersions }) => ok(supportedVersions.includes("2026-07-28")))
  }
]
