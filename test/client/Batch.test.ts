/**
 * Calls that a client makes together, and batches that come from servers of 2025-03-26.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Result, Schema, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { McpClient, McpServer, Progress, StreamableHttp, Tool } from "mcp-effect"
import { McpTest } from "mcp-effect/testing"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import { Gate } from "../support/Gate.ts"
import { node } from "../support/HttpHosts.ts"
import { settle } from "../support/RawClient.ts"
import { connectLegacy, connectModern, type Connected } from "./scripted.ts"

const version = "2025-03-26"
const content = (text: string) => ({ content: [{ type: "text", text }] })

/** A client connected to a server of a legacy revision. */
const connect = (revision: string = version, options: Partial<McpClient.Options> = {}) =>
  connectLegacy({ revisions: [revision], ...options }, { protocolVersion: revision })

const nextRequests = ({ peer }: Connected) =>
  Effect.map(peer.next, (batch) => {
    if (!(batch instanceof JsonRpc.Batch)) return expect.fail(`Not a batch: ${JSON.stringify(batch)}`)
    return batch.messages.filter(JsonRpc.isRequest)
  })

describe("client.batch", () => {
  it.effect("[BASE-14] sends one array, and every call has its own result", () =>
    Effect.gen(function* () {
      const connected = yield* connect()
      const { client, peer } = connected
      const fiber = yield* Effect.forkScoped(
        client.batch([client.callTool("a"), client.readResource("file:///b"), client.callTool("c", { d: 1 })])
      )
      const requests = yield* nextRequests(connected)
      expect(requests.map(({ method, params }) => [method, params])).toEqual([
        ["tools/call", { name: "a" }],
        ["resources/read", { uri: "file:///b" }],
        ["tools/call", { name: "c", arguments: { d: 1 } }]
      ])
      const [a, b, c] = requests.map(({ id }) => id)
      const answers = [
        JsonRpc.result(c!, content("c")),
        JsonRpc.error(b!, { code: -32002, message: "Resource not found" }),
        JsonRpc.result(a!, content("a"))
      ]
      yield* peer.sendRaw(JSON.stringify(answers))
      const [first, second, third] = yield* Fiber.join(fiber)
      expect(Result.getOrThrow(first)).toEqual(content("a"))
      expect(Result.isFailure(second) && second.failure.reason._tag).toBe("ProtocolFailure")
      expect(Result.getOrThrow(third)).toEqual(content("c"))
    })
  )

  for (const revision of ["2025-11-25", "2025-06-18", "2024-11-05"]) {
    it.effect(`[BASE-17] sends one message at a time in ${revision}`, () =>
      Effect.gen(function* () {
        const { client, peer } = yield* connect(revision)
        const fiber = yield* Effect.forkScoped(client.batch([client.callTool("a"), client.callTool("b")]))
        const [a, b] = [yield* peer.expectRequest("tools/call"), yield* peer.expectRequest("tools/call")]
        yield* peer.respond(b, content("b"))
        yield* peer.respond(a, content("a"))
        expect((yield* Fiber.join(fiber)).map(Result.getOrThrow)).toEqual([content("a"), content("b")])
      })
    )
  }

  it.effect("[BASE-17] sends one message at a time in 2026-07-28", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      const fiber = yield* Effect.forkScoped(client.batch([client.callTool("a"), client.callTool("b")]))
      for (const name of ["a", "b"]) {
        const request = yield* peer.expectRequest("tools/call", { params: { name } })
        yield* peer.respond(request, { resultType: "complete", ...content(name) })
      }
      expect((yield* Fiber.join(fiber)).map(Result.isSuccess)).toEqual([true, true])
    })
  )

  it.effect("[BASE-14] what fails before it is sent, or is sent later, is not in the array", () =>
    Effect.gen(function* () {
      const connected = yield* connect()
      const { client, peer } = connected
      const Typed = Tool.make("typed", { input: Schema.Struct({ a: Schema.NonEmptyString }) })
      const later = Effect.andThen(Effect.yieldNow, client.callTool("later"))
      const fiber = yield* Effect.forkScoped(
        client.batch([
          client.call(Typed, { a: "" }),
          client.callTool("a"),
          later,
          client.callTool("b"),
          Effect.succeed("no call at all")
        ])
      )
      const requests = yield* nextRequests(connected)
      expect(requests.map(({ params }) => params?.name)).toEqual(["a", "b"])
      yield* peer.respond(yield* peer.expectRequest("tools/call", { params: { name: "later" } }), content(""))
      for (const request of requests) yield* peer.respond(request, content(""))
      const results = yield* Fiber.join(fiber)
      expect(results.map(({ _tag }) => _tag)).toEqual(["Failure", "Success", "Success", "Success", "Success"])
      expect(Result.getOrThrow(results[4])).toBe("no call at all")
    })
  )

  it.effect("[CANC-01] interrupting it cancels every call", () =>
    Effect.gen(function* () {
      const connected = yield* connect()
      const { client, peer } = connected
      const fiber = yield* Effect.forkScoped(client.batch([client.callTool("a"), client.callTool("b")]))
      const [a, b] = yield* nextRequests(connected)
      yield* Fiber.interrupt(fiber)
      yield* peer.expectNotification("notifications/cancelled", { params: { requestId: a!.id } })
      yield* peer.expectNotification("notifications/cancelled", { params: { requestId: b!.id } })
    })
  )

  it.effect("a defect in a call is one of the batch", () =>
    Effect.gen(function* () {
      const { client } = yield* connect()
      expect(yield* Effect.exit(client.batch([Effect.die("oh"), Effect.void]))).toMatchObject({ _tag: "Failure" })
    })
  )

  it.effect("of nothing sends nothing", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connect()
      expect(yield* client.batch([])).toEqual([])
      yield* peer.expectNothing
    })
  )
})

const roots = { roots: Effect.succeed([{ uri: "file:///a" }]) }
const ask = (id: number, method: string) => ({ jsonrpc: "2.0", id, method })

describe("a batch of the server", () => {
  it.effect("[BASE-15] is answered with one array", () =>
    Effect.gen(function* () {
      const { peer } = yield* connect(version, { handlers: roots })
      const told = { jsonrpc: "2.0", method: "notifications/tools/list_changed" }
      yield* peer.sendRaw(
        JSON.stringify([ask(1, "roots/list"), told, ask(2, "sampling/createMessage"), ask(3, "ping")])
      )
      yield* peer.expect({
        messages: [
          { id: 1, result: { roots: [{ uri: "file:///a" }] } },
          { id: 2, error: { code: JsonRpc.ErrorCode.MethodNotFound } },
          { id: 3, result: {} }
        ]
      })
    })
  )

  it.effect("[BASE-17] is refused in other revisions", () =>
    Effect.gen(function* () {
      const { peer } = yield* connect("2025-06-18", { handlers: roots })
      yield* peer.sendRaw(JSON.stringify([ask(1, "roots/list"), ask(3, "ping")]))
      yield* peer.expect({ id: undefined, error: { code: JsonRpc.ErrorCode.InvalidRequest } })
      yield* peer.expectNothing
    })
  )

  it.effect("[BASE-17][BASE-21] is let be in 2026-07-28, where a client answers nothing", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern({ handlers: roots })
      yield* peer.sendRaw(JSON.stringify([ask(1, "roots/list"), ask(3, "ping")]))
      yield* settle
      yield* peer.expectNothing
      const fiber = yield* Effect.forkScoped(client.callTool("a"))
      yield* peer.respond(yield* peer.expectRequest("tools/call"), { resultType: "complete", ...content("a") })
      yield* Fiber.join(fiber)
    })
  )
})

const Add = Tool.make("add", {
  input: Schema.Struct({ a: Schema.Number, b: Schema.Number }),
  output: Schema.Struct({ sum: Schema.Number })
})
const Wait = Tool.make("wait")

const server = (gate: Gate) =>
  McpServer.make({
    name: "sums",
    version: "1",
    tools: [
      Tool.handle(Add, ({ a, b }) => Effect.as(Progress.report({ progress: 1 }), { sum: a + b })),
      Tool.handle(Wait, () => Effect.as(gate.work, "waited"))
    ]
  })

const useTogether = (gate: Gate) =>
  Effect.gen(function* () {
    const client = yield* McpClient.McpClient
    const told: Array<number> = []
    const onProgress = ({ progress }: McpClient.Progress) => void told.push(progress)
    const together = client.batch([
      client.call(Add, { a: 1, b: 2 }, { onProgress }),
      client.callTool("wait"),
      client.callTool("nothing"),
      Effect.timeoutOption(Stream.runCollect(client.listTools), "1 minute")
    ])
    const fiber = yield* Effect.forkScoped(together)
    yield* gate.started
    yield* gate.open
    const [sum, waited, nothing, listed] = yield* Fiber.join(fiber)
    expect(Result.getOrThrow(sum)).toEqual({ sum: 3 })
    expect(Result.getOrThrow(waited)).toMatchObject(content("waited"))
    expect(Result.isFailure(nothing)).toBe(true)
    expect(Result.isSuccess(listed)).toBe(true)
    expect(told).toEqual([1])

    const [first, second] = yield* client.batch([
      Effect.timeoutOption(client.call(Add, { a: 1, b: 1 }), "1 minute"),
      client.call(Add, { a: 2, b: 2 })
    ])
    expect([Result.isSuccess(first), Result.getOrThrow(second)]).toEqual([true, { sum: 4 }])
  })

describe("our client and our server", () => {
  it.effect("[BASE-14][BASE-15] in one process", () => {
    const gate = new Gate()
    return Effect.provide(useTogether(gate), McpTest.layer(server(gate), { revision: version }))
  })

  it.live("[BASE-14][BASE-15][HTTP-08] over HTTP", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const { url } = yield* node.start(server(gate))
      const client = McpClient.layer({ name: "demo", version: "1", revisions: [version] }).pipe(
        Layer.provide(StreamableHttp.layerClient({ url })),
        Layer.provide(FetchHttpClient.layer)
      )
      yield* Effect.provide(useTogether(gate), client)
    })
  )
})
