import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { McpClient, ParameterHeader, Tool } from "../../src/index.ts"
import { isResponse, type Message } from "../../src/protocol/JsonRpc.ts"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import { MetaKey } from "../../src/protocol/index.ts"
import { ClientTransport, type SendOptions } from "../../src/transport/Transport.ts"
import { connectLegacy, connectModern, discovered, exchange, identity } from "./scripted.ts"

const Add = Tool.make("add", {
  input: Schema.Struct({ a: Schema.Number, b: Schema.Number.check(Schema.isLessThan(100)) }),
  output: Schema.Struct({ sum: Schema.Number }),
  error: Schema.Struct({ _tag: Schema.tag("TooMuch"), by: Schema.Number })
})
const Say = Tool.make("say", { input: Schema.Struct({ text: Schema.String }) })

const text = (value: string) => [{ type: "text", text: value }]

const ignore = () => Effect.void

describe("call", () => {
  it.effect("[TOOL-14] [META-10] [META-11] [META-12] sends the encoded input and decodes the output", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      const { request, value } = yield* exchange(peer, client.call(Add, { a: 1, b: 2 }), "tools/call", {
        content: [],
        structuredContent: { sum: 3 }
      })
      expect(value).toEqual({ sum: 3 })
      expect(request.params).toEqual({
        name: "add",
        arguments: { a: 1, b: 2 },
        _meta: {
          [MetaKey.protocolVersion]: "2026-07-28",
          [MetaKey.clientInfo]: identity,
          [MetaKey.clientCapabilities]: {}
        }
      })
    })
  )

  it.effect("sends nothing when the input is not valid", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectLegacy()
      const failure = yield* Effect.flip(client.call(Add, { a: 1, b: 200 }))
      expect(failure).toMatchObject({ reason: { code: -32602 } })
      yield* peer.expectNothing
    })
  )

  it.effect("reads the text where a revision has no structured result", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectLegacy()
      const { value } = yield* exchange(peer, client.call(Add, { a: 1, b: 2 }), "tools/call", {
        content: text('{"sum":3}')
      })
      expect(value).toEqual({ sum: 3 })
    })
  )

  it.effect("gives the whole result of a tool without an output", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectLegacy()
      const { request, value } = yield* exchange(peer, client.call(Say, { text: "hi" }), "tools/call", {
        content: text("hi"),
        extra: 1
      })
      expect(value).toEqual({ content: text("hi"), extra: 1 })
      expect(request.params).toEqual({ name: "say", arguments: { text: "hi" } })
    })
  )

  it.effect("gives back a declared failure, and a ToolFailure for any other", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      const call = Effect.flip(client.call(Add, { a: 1, b: 2 }))
      const declared = yield* exchange(peer, call, "tools/call", {
        content: text("too much"),
        isError: true,
        _meta: { [Tool.failureKey]: { _tag: "TooMuch", by: 7 } }
      })
      expect(declared.value).toEqual({ _tag: "TooMuch", by: 7 })
      for (const _meta of [{}, { [Tool.failureKey]: { _tag: "Other" } }]) {
        const other = yield* exchange(peer, call, "tools/call", { content: text("broken"), isError: true, _meta })
        expect(other.value).toMatchObject({ reason: { _tag: "ToolFailure", tool: "add", message: "broken" } })
      }
    })
  )

  it.effect("fails when the output has not its declared shape", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      const { value } = yield* exchange(peer, Effect.flip(client.call(Add, { a: 1, b: 2 })), "tools/call", {
        content: [],
        structuredContent: { sum: "three" }
      })
      expect(value).toMatchObject({ reason: { _tag: "DecodeFailure" } })
    })
  )

  it.effect("[BASE-24] refuses a result of an unknown type, and [BASE-23] takes one without a type for complete", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      const strange = yield* exchange(peer, Effect.flip(client.call(Say, { text: "" })), "tools/call", {
        resultType: "task",
        content: []
      })
      expect(strange.value).toMatchObject({ reason: { _tag: "DecodeFailure", message: /resultType/ } })
      const untyped = yield* exchange(peer, client.call(Say, { text: "" }), "tools/call", { content: [] })
      expect(untyped.value).toEqual({ content: [] })
      yield* peer.expectNothing
    })
  )
})

describe("callTool", () => {
  const outputSchema = {
    type: "object",
    properties: { n: { type: "number" } },
    required: ["n"],
    additionalProperties: false
  }
  const tools = [{ name: "count", inputSchema: { type: "object" }, outputSchema }]

  it.effect("[TOOL-19] [BUG-90] checks the structured result alone, and lists the tools once for it", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      const result = { content: [], structuredContent: { n: 1 }, _meta: { x: 1 } }
      const first = yield* Effect.forkScoped(client.callTool("count"))
      const call = yield* peer.expectRequest("tools/call")
      expect(call.params).not.toHaveProperty("arguments")
      yield* peer.respond(call, result)
      yield* peer.respond(yield* peer.expectRequest("tools/list"), { tools })
      expect((yield* Fiber.join(first)).structuredContent).toEqual({ n: 1 })

      const good = yield* exchange(peer, client.callTool("count", { any: null }), "tools/call", result)
      expect(good.request.params?.arguments).toEqual({ any: null })
      const bad = yield* exchange(peer, Effect.flip(client.callTool("count")), "tools/call", {
        content: [],
        structuredContent: { n: "one" }
      })
      expect(bad.value.reason).toMatchObject({ _tag: "DecodeFailure", message: /output schema/ })
      const missing = yield* exchange(peer, Effect.flip(client.callTool("count")), "tools/call", { content: [] })
      expect(missing.value.reason).toMatchObject({ _tag: "DecodeFailure" })
      // A tool that the complete list does not have makes no difference.
      yield* exchange(peer, client.callTool("hidden"), "tools/call", result)
      yield* peer.expectNothing
    })
  )

  it.effect("[JSCH-03] reports an output schema in a dialect that is not supported", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      const listing = yield* Effect.forkScoped(Stream.runDrain(client.listTools))
      yield* peer.respond(yield* peer.expectRequest("tools/list"), {
        tools: [{ ...tools[0], outputSchema: { ...outputSchema, $schema: "https://example.com/dialect" } }]
      })
      yield* Fiber.join(listing)
      const { value } = yield* exchange(peer, Effect.flip(client.callTool("count")), "tools/call", {
        content: [],
        structuredContent: { n: 1 }
      })
      expect(value.reason).toMatchObject({ _tag: "Unsupported", message: /dialect/ })
    })
  )

  it.effect("[TOOL-28] turns isError into a ToolFailure with the result in it", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectLegacy()
      const result = { content: text("disk full"), isError: true }
      const { value } = yield* exchange(peer, Effect.flip(client.callTool("save", {})), "tools/call", result)
      expect(value.reason).toMatchObject({ _tag: "ToolFailure", tool: "save", message: "disk full", result })
    })
  )

  it.effect("[BUG-93] sends arguments as they are given", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectLegacy()
      const { request } = yield* exchange(peer, client.callTool("depth", {}), "tools/call", { content: [] })
      expect(request.params).toEqual({ name: "depth", arguments: {} })
    })
  )

  it.effect("[LIFE-11] is not sent to a legacy server without tools", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectLegacy({}, { capabilities: {} })
      const { reason } = yield* Effect.flip(client.callTool("any"))
      expect(reason).toMatchObject({ _tag: "Unsupported", message: /did not declare tools/ })
      yield* peer.expectNothing
    })
  )
})

describe("cancellation and time", () => {
  it.effect("[CANC-01] [CANC-06] tells the server which call was interrupted, once", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectLegacy()
      const fiber = yield* Effect.forkScoped(client.callTool("slow"))
      const { id } = yield* peer.expectRequest("tools/call")
      yield* Fiber.interrupt(fiber)
      yield* peer.expectNotification("notifications/cancelled", { params: { requestId: id } })
      yield* peer.expectNothing
    })
  )

  it.effect("[BUG-79] [CANC-05] says nothing of a call that is over, and ignores a late answer", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      const { request } = yield* exchange(peer, client.callTool("fast"), "tools/call", { content: [] })
      yield* peer.respond(request, { content: [] })
      yield* peer.expectNothing
    })
  )

  it.effect("[BUG-80] [LIFE-19] [CANC-08] cancels what takes too long, by a limit of its own or the client's", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern({ timeout: "10 seconds" })
      for (const [options, after] of [
        [{ timeout: "200 millis" }, 200],
        [{}, 10_000]
      ] as const) {
        const fiber = yield* Effect.forkScoped(Effect.flip(client.callTool("slow", {}, options)))
        const { id } = yield* peer.expectRequest("tools/call")
        yield* TestClock.adjust(after)
        expect((yield* Fiber.join(fiber)).reason).toMatchObject({ _tag: "Timeout", after })
        yield* peer.expectNotification("notifications/cancelled", { params: { requestId: id } })
      }
    })
  )

  it.effect("[BUG-84] [LIFE-20] [META-07] asks for progress when that is to extend the time, up to a maximum", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      const options = { timeout: "300 millis", maximumTimeout: "1 second", extendOnProgress: true } as const
      const fiber = yield* Effect.forkScoped(Effect.flip(client.callTool("slow", {}, options)))
      const { id, params } = yield* peer.expectRequest("tools/call")
      expect(params?._meta).toMatchObject({ progressToken: id })
      for (let progress = 1; progress <= 4; progress++) {
        yield* TestClock.adjust("200 millis")
        yield* peer.notify("notifications/progress", { progressToken: id, progress })
      }
      yield* peer.expectNothing
      yield* TestClock.adjust("200 millis")
      expect((yield* Fiber.join(fiber)).reason).toMatchObject({ _tag: "Timeout", after: 1000 })
    })
  )

  it.effect("reports progress to whoever listens", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectLegacy()
      const seen: Array<McpClient.Progress> = []
      const fiber = yield* Effect.forkScoped(client.callTool("slow", {}, { onProgress: (one) => seen.push(one) }))
      const call = yield* peer.expectRequest("tools/call")
      yield* peer.notify("notifications/progress", { progressToken: call.id, progress: 1, total: 2, message: "half" })
      yield* peer.notify("notifications/progress", { progressToken: "other", progress: 9 })
      yield* peer.respond(call, { content: [] })
      yield* Fiber.join(fiber)
      expect(seen).toEqual([{ progress: 1, total: 2, message: "half" }])
    })
  )
})

/** A modern HTTP server, as far as a client can tell: answers every request, and keeps its headers. */
const recording = (answer: (request: JsonRpc.Request, times: number) => Message) => {
  const sent: Array<{ readonly request: JsonRpc.Request; readonly headers: SendOptions["headers"] }> = []
  const transport = ClientTransport.of({
    connect: Effect.sync(() => {
      let receive: (message: JsonRpc.Incoming) => Effect.Effect<void> = ignore
      return {
        send: (message, options) => {
          if (isResponse(message) || !("id" in message)) return Effect.void
          sent.push({ request: message, headers: options?.headers })
          return receive(answer(message, sent.filter(({ request }) => request.method === message.method).length))
        },
        run: (onMessage) => {
          receive = onMessage
          return Effect.never
        }
      }
    })
  })
  return { sent, client: Effect.provideService(McpClient.make(identity), ClientTransport, transport) }
}

describe("mirrored parameters", () => {
  const region = { type: "string", "x-mcp-header": "Region" }
  const listed = { name: "deploy", inputSchema: { type: "object", properties: { region } } }

  it.effect(
    "[HDR-06] [HDR-12] [HDR-13] go along as headers: of a typed tool by its type, of others by their listing",
    () =>
      Effect.gen(function* () {
        const Deploy = Tool.make("deploy", {
          input: Schema.Struct({ region: Schema.String.pipe(ParameterHeader.annotate("Region")) })
        })
        const { client, sent } = recording((request) => {
          if (request.method === "server/discover") return JsonRpc.result(request.id, discovered())
          return JsonRpc.result(request.id, request.method === "tools/list" ? { tools: [listed] } : { content: [] })
        })
        const connected = yield* client
        yield* connected.call(Deploy, { region: "eu" })
        yield* connected.callTool("deploy", { region: "eu" })
        yield* Stream.runDrain(connected.listTools)
        yield* connected.callTool("deploy", { region: "zürich" })
        yield* connected.callTool("deploy", { region: null })
        expect(sent.filter(({ request }) => request.method === "tools/call").map(({ headers }) => headers)).toEqual([
          { "Mcp-Param-Region": "eu" },
          undefined,
          { "Mcp-Param-Region": "=?base64?esO8cmljaA==?=" },
          {}
        ])
      })
  )

  it.effect("[HDR-19] are learned from a fresh listing when the server says -32020, and the call is retried once", () =>
    Effect.gen(function* () {
      const { client, sent } = recording((request, times) => {
        if (request.method === "server/discover") return JsonRpc.result(request.id, discovered())
        if (request.method === "tools/list") return JsonRpc.result(request.id, { tools: [listed] })
        return times === 2
          ? JsonRpc.result(request.id, { content: [] })
          : JsonRpc.error(request.id, { code: -32020, message: "Header mismatch" })
      })
      const connected = yield* client
      expect(yield* connected.callTool("deploy", { region: "eu" })).toEqual({ content: [] })
      expect(sent.map(({ headers, request }) => [request.method, headers])).toEqual([
        ["server/discover", undefined],
        ["tools/call", undefined],
        ["tools/list", undefined],
        ["tools/call", { "Mcp-Param-Region": "eu" }]
      ])
      const { reason } = yield* Effect.flip(connected.callTool("deploy", { region: "eu" }))
      expect(reason).toMatchObject({ code: -32020 })
      expect(sent.filter(({ request }) => request.method === "tools/call")).toHaveLength(4)
    })
  )
})
