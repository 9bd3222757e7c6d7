/**
 * The client's side of HTTP+SSE (2024-11-05), and how the Streamable HTTP client falls back to it, against a server that
 * does what the test says.
 */
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Queue, Scope } from "effect"
import { McpClient } from "mcp-effect"
import * as NodeHttpSender from "../../src/node/HttpSender.ts"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import * as HttpSseClient from "../../src/transport/HttpSseClient.ts"
import * as StreamableHttpClient from "../../src/transport/StreamableHttpClient.ts"
import { ClientTransport } from "../../src/transport/Transport.ts"
import { failed, initialize, modern, open, send, start, succeeded } from "./HttpClientHarness.ts"
import * as ScriptedHttpServer from "./ScriptedHttpServer.ts"

type Options = Partial<HttpSseClient.Options>

/** A connection that is being opened, and the request for its event stream. */
const opening = Effect.fnUntraced(function* (path = "/sse", options: Options = {}) {
  const server = yield* ScriptedHttpServer.make
  yield* Effect.addFinalizer(() => server.dismiss)
  const url = new URL(path, server.url).href
  const layer = HttpSseClient.layerSender({ url, ...options }).pipe(Layer.provide(NodeHttpSender.layer))
  const { connect } = Context.get(yield* Layer.build(layer), ClientTransport)
  const scope = yield* Scope.fork(yield* Effect.scope)
  const connecting = yield* Effect.forkScoped(Effect.result(Scope.provide(connect, scope)))
  const get = yield* server.expect("GET")
  return { server, get, connecting, close: Scope.close(scope, Exit.void) }
})

/** A connection that is open. */
const opened = Effect.fnUntraced(function* (options: Options = {}) {
  const link = yield* opening("/sse", options)
  yield* link.get.openStream()
  yield* link.get.write("event: endpoint\ndata: /messages?sessionId=1\n\n")
  const result = yield* Fiber.join(link.connecting)
  if (result._tag === "Failure") return yield* result.failure
  const connection = result.success
  const inbox = yield* Queue.unbounded<JsonRpc.Incoming>()
  const running = yield* Effect.forkScoped(connection.run((message) => Queue.offer(inbox, message)))
  return { ...link, connection, running, received: Queue.take(inbox) }
})

const list = JsonRpc.request(1, "tools/list")
const note = (method: string) => JsonRpc.notification(method)

const failureOf = (fiber: Fiber.Fiber<unknown>) => failed(fiber as Fiber.Fiber<{ readonly _tag: string }>)

describe("HTTP+SSE client", () => {
  for (const [data, expected] of [
    ["/m?s=1", "/m?s=1"],
    ["m?s=1", "/api/v1/m?s=1"],
    ["?s=1", "/api/v1/sse?s=1"],
    ["{origin}/x", "/x"],
    ["../messages", "/api/messages"]
  ] as const) {
    it.live(`[BUG-66] [SSE24-02] posts to ${data} as a browser would resolve it`, () =>
      Effect.gen(function* () {
        const { connecting, get, server } = yield* opening("/api/v1/sse?k=1")
        expect(get.headers.accept).toBe("text/event-stream")
        yield* get.openStream()
        yield* get.write(`event: endpoint\ndata: ${data.replace("{origin}", new URL(server.url).origin)}\n\n`)
        const result = yield* Fiber.join(connecting)
        if (result._tag === "Failure") return yield* result.failure
        const sending = yield* send(result.success, list)
        const post = yield* server.expect("POST", "tools/list")
        expect(post.path).toBe(expected)
        yield* post.reply(202)
        yield* succeeded(sending)
      })
    )
  }

  it.live("[BUG-66] refuses an endpoint at another origin", () =>
    Effect.gen(function* () {
      for (const data of ["http://evil.example/x", "//evil.example/x", "https://127.0.0.1/x"]) {
        const { connecting, get, server } = yield* opening("/sse", { headers: { authorization: "Bearer secret" } })
        yield* get.openStream()
        yield* get.write(`event: endpoint\ndata: ${data}\n\n`)
        expect(yield* failureOf(connecting)).toMatchObject({ message: expect.stringContaining("another origin") })
        expect(yield* server.waiting).toBe(0)
      }
    })
  )

  it.live("[SSE24-03] posts every message, and takes what the stream brings", () =>
    Effect.gen(function* () {
      const { connection, get, received, server } = yield* opened({ headers: { "x-key": "k" } })
      expect(get.headers["x-key"]).toBe("k")
      const sending = yield* send(connection, list)
      const post = yield* server.expect("POST", "tools/list")
      expect([post.path, post.headers["content-type"], post.headers["x-key"]]).toEqual([
        "/messages?sessionId=1",
        "application/json",
        "k"
      ])
      yield* post.reply(202, {}, "Accepted")
      yield* succeeded(sending)
      yield* get.write(
        ": a comment\n\nevent: message\ndata: " + JSON.stringify(JsonRpc.result(1, { tools: [] })) + "\n\n"
      )
      yield* get.event(note("notifications/tools/list_changed"))
      yield* get.write("event: other\ndata: ignored\n\n")
      yield* get.write("data: nonsense\n\n")
      expect(yield* received).toEqual(JsonRpc.result(1, { tools: [] }))
      expect(yield* received).toEqual(note("notifications/tools/list_changed"))
      expect(yield* received).toBeInstanceOf(JsonRpc.Malformed)
    })
  )

  it.live("[BUG-67] a POST that fails fails its send at once, with the status; the connection goes on", () =>
    Effect.gen(function* () {
      const { connection, server } = yield* opened()
      for (const status of [404, 500, 401]) {
        const sending = yield* send(connection, list)
        yield* (yield* server.expect("POST")).reply(status, {}, "Session not found")
        expect(yield* failed(sending)).toMatchObject({
          _tag: "TransportFailure",
          status,
          message: expect.stringContaining("Session not found")
        })
      }
      const sending = yield* send(connection, list)
      yield* (yield* server.expect("POST")).reply(200)
      yield* succeeded(sending)
    })
  )

  it.live("posts one message after the other, so that they arrive in order", () =>
    Effect.gen(function* () {
      const { connection, server } = yield* opened()
      const first = yield* send(connection, note("first"))
      const second = yield* send(connection, note("second"))
      const post = yield* server.expect("POST", "first")
      expect(yield* server.waiting).toBe(0)
      yield* post.reply(202)
      yield* (yield* server.expect("POST", "second")).reply(202)
      yield* Effect.andThen(succeeded(first), succeeded(second))
    })
  )

  it.live("names the revision from 2025-06-18 on", () =>
    Effect.gen(function* () {
      for (const [revision, header] of [
        ["2025-06-18", "2025-06-18"],
        ["2024-11-05", undefined]
      ] as const) {
        const { connection, get, received, server } = yield* opened()
        const initializing = yield* send(connection, initialize)
        const post = yield* server.expect("POST", "initialize")
        expect(post.headers["mcp-protocol-version"]).toBeUndefined()
        yield* post.reply(202)
        yield* succeeded(initializing)
        yield* get.event(JsonRpc.result(0, { protocolVersion: revision }))
        yield* received
        const sending = yield* send(connection, list)
        const next = yield* server.expect("POST", "tools/list")
        expect(next.headers["mcp-protocol-version"]).toBe(header)
        yield* next.reply(202)
        yield* succeeded(sending)
      }
    })
  )

  it.live("is over when the server ends the stream, and broken when the stream is cut", () =>
    Effect.gen(function* () {
      const ended = yield* opened()
      yield* ended.get.end
      yield* Fiber.join(ended.running)
      expect((yield* Effect.flip(ended.connection.send(list))).reason._tag).toBe("Closed")
      const cut = yield* opened()
      yield* cut.get.reset
      expect((yield* Effect.flip(Fiber.join(cut.running))).reason._tag).toBe("TransportFailure")
      expect((yield* Effect.flip(cut.connection.send(list))).reason._tag).toBe("TransportFailure")
    })
  )

  it.live("closes the stream with its scope", () =>
    Effect.gen(function* () {
      const { close, connection, get, running } = yield* opened()
      yield* close
      yield* get.closed
      yield* Fiber.join(running)
      expect((yield* Effect.flip(connection.send(list))).reason._tag).toBe("Closed")
    })
  )

  it.live("fails when there is no such stream", () =>
    Effect.gen(function* () {
      const missing = yield* opening()
      yield* missing.get.reply(404, { "content-type": "text/plain" }, "nothing here")
      expect(yield* failureOf(missing.connecting)).toMatchObject({
        status: 404,
        message: expect.stringContaining("nothing here")
      })
      const page = yield* opening()
      yield* page.get.reply(200, { "content-type": "text/html" }, "<html>")
      expect(yield* failureOf(page.connecting)).toMatchObject({ message: expect.stringContaining("no event stream") })
      const other = yield* opening()
      yield* other.get.openStream()
      yield* other.get.event(note("early"))
      expect(yield* failureOf(other.connecting)).toMatchObject({ message: expect.stringContaining('not "endpoint"') })
      const short = yield* opening()
      yield* short.get.openStream()
      yield* short.get.end
      expect(yield* failureOf(short.connecting)).toMatchObject({ message: expect.stringContaining("before it named") })
      const silent = yield* opening("/sse", { endpointTimeout: "20 millis" })
      yield* silent.get.openStream()
      expect(yield* failureOf(silent.connecting)).toMatchObject({ message: expect.stringContaining("in time") })
    })
  )
})

const json = { "content-type": "application/json" }
const errorBody = (code: number) => JSON.stringify({ jsonrpc: "2.0", error: { code, message: "refused" } })

describe("falling back from Streamable HTTP", () => {
  for (const [status, headers, body] of [
    [404, { "content-type": "text/html" }, "Cannot POST /mcp"],
    [405, {}, ""],
    [400, json, errorBody(-32000)],
    [400, json, "{}"]
  ] as const) {
    it.live(`(section 3.3, step 5) happens when initialize gets ${status} "${body}" and the URL serves HTTP+SSE`, () =>
      Effect.gen(function* () {
        const { close, connection, received, running, server } = yield* start()
        const initializing = yield* send(connection, initialize)
        yield* (yield* server.expect("POST", "initialize")).reply(status, headers, body)
        const get = yield* server.expect("GET")
        expect([get.path, get.headers.accept]).toEqual(["/mcp", "text/event-stream"])
        yield* get.openStream()
        yield* get.write("event: endpoint\ndata: /messages?id=1\n\n")
        const post = yield* server.expect("POST", "initialize")
        expect(post.path).toBe("/messages?id=1")
        yield* post.reply(202)
        yield* succeeded(initializing)
        yield* get.event(JsonRpc.result(0, { protocolVersion: "2024-11-05" }))
        expect(yield* received).toMatchObject({ id: 0 })
        const sending = yield* send(connection, note("notifications/initialized"))
        const next = yield* server.expect("POST", "notifications/initialized")
        expect(next.path).toBe("/messages?id=1")
        yield* next.reply(202)
        yield* succeeded(sending)
        yield* get.end
        yield* Fiber.join(running)
        yield* close
        expect(yield* server.waiting).toBe(0)
      })
    )
  }

  for (const [status, code] of [
    [400, -32022],
    [400, -32021],
    [400, -32020],
    [404, -32601],
    [403, -32000],
    [500, -32000]
  ] as const) {
    it.live(`does not happen on status ${status} with error ${code}`, () =>
      Effect.gen(function* () {
        const { connection, server } = yield* start()
        const initializing = yield* send(connection, initialize)
        yield* (yield* server.expect("POST", "initialize")).reply(status, json, errorBody(code))
        yield* Fiber.join(initializing)
        expect(yield* server.waiting).toBe(0)
      })
    )
  }

  it.live("tells the first refusal when there is no HTTP+SSE either", () =>
    Effect.gen(function* () {
      const { connection, server } = yield* start()
      const initializing = yield* send(connection, initialize)
      yield* (yield* server.expect("POST", "initialize")).reply(404, {}, "no MCP here")
      yield* (yield* server.expect("GET")).reply(404, {}, "nothing to get")
      expect(yield* failed(initializing)).toMatchObject({
        status: 404,
        message: expect.stringContaining("no MCP here")
      })
    })
  )

  it.live("can be turned off, and is for initialize alone", () =>
    Effect.gen(function* () {
      const off = yield* start({ fallBackToSse: false })
      const initializing = yield* send(off.connection, initialize)
      yield* (yield* off.server.expect("POST", "initialize")).reply(405)
      expect(yield* failed(initializing)).toMatchObject({ status: 405 })
      const on = yield* start()
      const discovering = yield* send(on.connection, modern(1, "server/discover"))
      yield* (yield* on.server.expect("POST", "server/discover")).reply(405)
      expect(yield* failed(discovering)).toMatchObject({ status: 405 })
      expect([yield* off.server.waiting, yield* on.server.waiting]).toEqual([0, 0])
    })
  )

  it.live("gives a client that knows nothing of it", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedHttpServer.make
      const transport = StreamableHttpClient.layerSender({ url: server.url }).pipe(Layer.provide(NodeHttpSender.layer))
      const connecting = yield* Effect.forkScoped(
        McpClient.make({ name: "c", version: "1" }).pipe(Effect.provide(yield* Layer.build(transport)))
      )
      yield* Effect.addFinalizer(() => server.dismiss)
      yield* (yield* server.expect("POST", "server/discover")).reply(405)
      yield* (yield* server.expect("POST", "initialize")).reply(405)
      const get = yield* server.expect("GET")
      yield* get.openStream()
      yield* get.write("event: endpoint\ndata: /messages\n\n")
      const post = yield* server.expect("POST", "initialize")
      yield* post.reply(202)
      const result = {
        protocolVersion: "2024-11-05",
        capabilities: { tools: {} },
        serverInfo: { name: "old", version: "0" }
      }
      yield* get.event({ jsonrpc: "2.0", id: post.json.id, result })
      yield* (yield* server.expect("POST", "notifications/initialized")).reply(202)
      const client = yield* Fiber.join(connecting)
      expect(client.server).toMatchObject({ era: "legacy", revision: "2024-11-05", info: { name: "old" } })
      const calling = yield* Effect.forkScoped(Effect.flip(client.callTool("x")))
      yield* (yield* server.expect("POST", "tools/call")).reply(500, {}, "broken")
      expect((yield* Fiber.join(calling)).reason).toMatchObject({ _tag: "TransportFailure", status: 500 })
    })
  )

  it.live("is undone with the connection: the next one tries anew", () =>
    Effect.gen(function* () {
      const first = yield* start()
      const { server } = first
      const initializing = yield* send(first.connection, initialize)
      yield* (yield* server.expect("POST", "initialize")).reply(405)
      const get = yield* server.expect("GET")
      yield* get.openStream()
      yield* get.write("event: endpoint\ndata: /messages\n\n")
      yield* (yield* server.expect("POST", "initialize")).reply(202)
      yield* succeeded(initializing)
      yield* first.close
      yield* get.closed
      const second = yield* open(server)
      const again = yield* send(second.connection, initialize)
      const post = yield* server.expect("POST", "initialize")
      expect(post.path).toBe("/mcp")
      yield* post.replyResult({ protocolVersion: "2025-11-25" })
      yield* succeeded(again)
    })
  )
})
