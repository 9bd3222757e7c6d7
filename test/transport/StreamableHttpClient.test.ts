/**
 * The client's side of Streamable HTTP on real sockets, without a session above it: what is on the wire, and what comes
 * out of `send` and `run`.
 */
import { NodeHttpClient } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Logger, Queue, Redacted, Scope } from "effect"
import { FetchHttpClient, type HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import type { McpError } from "../../src/protocol/McpError.ts"
import * as StreamableHttpClient from "../../src/transport/StreamableHttpClient.ts"
import { ClientTransport, type Connection } from "../../src/transport/Transport.ts"
import * as ScriptedHttpServer from "./ScriptedHttpServer.ts"

type Options = Partial<StreamableHttpClient.Options> & {
  readonly client?: Layer.Layer<HttpClient.HttpClient>
}

/** Reconnects at once, as far as the server allows. */
const atOnce = { initial: 0, max: 0, attempts: 3 }

const open = Effect.fnUntraced(function* (server: ScriptedHttpServer.ScriptedHttpServer, options?: Options) {
  const { client, ...rest } = options ?? {}
  const context = yield* StreamableHttpClient.layer({ url: server.url, reconnect: atOnce, ...rest }).pipe(
    Layer.provide(client ?? NodeHttpClient.layerUndici),
    Layer.build
  )
  const scope = yield* Scope.fork(yield* Effect.scope)
  const connection = yield* ClientTransport.pipe(
    Effect.flatMap((transport) => transport.connect),
    Scope.provide(scope),
    Effect.provideContext(context)
  )
  yield* Effect.addFinalizer(() => server.dismiss)
  const inbox = yield* Queue.unbounded<JsonRpc.Incoming>()
  const running = yield* Effect.forkScoped(connection.run((message) => Queue.offer(inbox, message)))
  return { server, connection, running, received: Queue.take(inbox), close: Scope.close(scope, Exit.void) }
})

const start = (options?: Options) => Effect.flatMap(ScriptedHttpServer.make, (server) => open(server, options))

const send = (connection: Connection, message: JsonRpc.Message, headers?: Record<string, string>) =>
  Effect.forkScoped(Effect.result(connection.send(message, headers === undefined ? undefined : { headers })), {
    startImmediately: true
  })

const succeeded = (fiber: Fiber.Fiber<{ readonly _tag: string }>) =>
  Effect.map(Fiber.join(fiber), (result) => expect(result).toMatchObject({ _tag: "Success" }))

const failure = <A>(effect: Effect.Effect<A, McpError>) => Effect.map(Effect.flip(effect), (error) => error.reason)

const failed = Effect.fnUntraced(function* (
  fiber: Fiber.Fiber<{ readonly _tag: string; readonly failure?: McpError }>
) {
  const result = yield* Fiber.join(fiber)
  expect(result._tag).toBe("Failure")
  return result.failure!.reason
})

const version = "2026-07-28"
const modern = (id: JsonRpc.RequestId, method: string, params: JsonRpc.Members = {}) =>
  JsonRpc.request(id, method, { ...params, _meta: { "io.modelcontextprotocol/protocolVersion": version } })

const initialize = JsonRpc.request(0, "initialize", { protocolVersion: "2025-11-25" })
const initialized = JsonRpc.notification("notifications/initialized")
const cancel = (requestId: JsonRpc.RequestId) => JsonRpc.notification("notifications/cancelled", { requestId })
const listChanged = JsonRpc.notification("notifications/tools/list_changed")

/** One turn of the event loop, in which sockets move; a test clock does not move them. */
const turn = Effect.callback<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

/** Moves the test clock on, step by step, until a request arrives; gives the milliseconds that it took. */
const waitForRequest = Effect.fnUntraced(function* (server: ScriptedHttpServer.ScriptedHttpServer, step: number) {
  let waited = 0
  while ((yield* server.waiting) === 0) {
    yield* TestClock.adjust(step)
    yield* turn
    waited += step
  }
  return waited
})

/** An hour on the test clock, in which nothing may be asked. */
const anHourOfSilence = Effect.fnUntraced(function* (server: ScriptedHttpServer.ScriptedHttpServer) {
  for (let minute = 0; minute < 60; minute++) {
    yield* TestClock.adjust("1 minute")
    yield* turn
  }
  expect(yield* server.waiting).toBe(0)
})

/** A session after its handshake; `get` is the request for the listening stream. */
const startSession = Effect.fnUntraced(function* (options?: Options, negotiated = "2025-11-25") {
  const link = yield* start(options)
  const opening = yield* send(link.connection, initialize)
  const post = yield* link.server.expect("POST", "initialize")
  yield* post.replyResult({ protocolVersion: negotiated }, { "mcp-session-id": "session-1" })
  yield* succeeded(opening)
  expect(yield* link.received).toMatchObject({ id: 0, result: { protocolVersion: negotiated } })
  const ready = yield* send(link.connection, initialized)
  const notification = yield* link.server.expect("POST", "notifications/initialized")
  yield* notification.reply(202)
  yield* succeeded(ready)
  const get = yield* link.server.expect("GET")
  return { ...link, post, notification, get }
})

/** A session at a server that offers no listening stream. */
const startQuietSession = (options?: Options) =>
  Effect.tap(startSession(options), ({ get }) => get.reply(405, { allow: "POST, DELETE" }))

describe.each([
  ["undici", NodeHttpClient.layerUndici],
  ["fetch", FetchHttpClient.layer],
  ["node:http", NodeHttpClient.layerNodeHttp]
] as const)("over %s", (_name, client) => {
  it.live("posts every message by itself and takes JSON [HTTP-06] [HTTP-07] [HTTP-12] (BUG-35, BUG-44)", () =>
    Effect.gen(function* () {
      const { connection, received, server } = yield* start({ client })
      const sending = yield* send(connection, modern("a", "tools/list"))
      const post = yield* server.expect("POST", "tools/list")
      expect(post.json).toEqual(modern("a", "tools/list"))
      expect(post.headers["content-type"]).toBe("application/json")
      expect(post.headers.accept).toBe("application/json, text/event-stream")
      yield* post.replyJson(
        { jsonrpc: "2.0", id: "a", result: { tools: [], text: "你好🙂\u2028" } },
        { "content-type": "application/json;charset=utf-8" }
      )
      yield* succeeded(sending)
      expect(yield* received).toEqual({ jsonrpc: "2.0", id: "a", result: { tools: [], text: "你好🙂\u2028" } })
      expect(yield* server.waiting).toBe(0)
    })
  )

  it.live("takes events, in order, up to the answer [HTTP-12] (BUG-62, BUG-64)", () =>
    Effect.gen(function* () {
      const { connection, received, server } = yield* start({ client })
      const sending = yield* send(connection, modern(1, "tools/call", { name: "t" }))
      const post = yield* server.expect("POST", "tools/call")
      yield* post.openStream({ "content-type": "text/event-stream; charset=utf-8" })
      const progress = JsonRpc.notification("notifications/progress", { message: "é🙂\u2029" })
      const bytes = Buffer.from(`: hello\r\ndata: ${JSON.stringify(progress)}\r\n\r\n`)
      for (const byte of bytes) yield* post.write(Uint8Array.of(byte))
      expect(yield* received).toEqual(progress)
      yield* post.event(JsonRpc.request("s", "ping"))
      yield* post.event(JsonRpc.result(1, { ok: true }))
      yield* succeeded(sending)
      expect(yield* received).toEqual(JsonRpc.request("s", "ping"))
      expect(yield* received).toEqual(JsonRpc.result(1, { ok: true }))
      // The server never ends the stream, so we do.
      yield* post.closed
    })
  )

  it.live("closes the exchange when it is interrupted [CANC-06] (BUG-80)", () =>
    Effect.gen(function* () {
      const { connection, server } = yield* start({ client })
      const waiting = yield* send(connection, modern(1, "tools/call"))
      const unanswered = yield* server.expect("POST", "tools/call")
      yield* Fiber.interrupt(waiting)
      yield* unanswered.closed
      const streaming = yield* send(connection, modern(2, "tools/call"))
      const post = yield* server.expect("POST", "tools/call")
      yield* post.openStream()
      yield* post.write(": alive\n\n")
      yield* Fiber.interrupt(streaming)
      yield* post.closed
      expect(yield* server.waiting).toBe(0)
    })
  )

  it.live("follows a redirect to the same origin with everything in it (BUG-51)", () =>
    Effect.gen(function* () {
      const { connection, received, server } = yield* start({ client, headers: { Authorization: "Bearer x" } })
      const sending = yield* send(connection, modern(1, "tools/list"))
      const first = yield* server.expect("POST", "tools/list")
      yield* first.reply(307, { location: "/mcp/" })
      const second = yield* server.expect("POST", "tools/list")
      expect(second.path).toBe("/mcp/")
      expect(second.body).toBe(first.body)
      for (const name of ["authorization", "mcp-protocol-version", "mcp-method", "content-type", "accept"]) {
        expect(second.headers[name]).toBe(first.headers[name])
      }
      yield* second.replyResult({})
      yield* succeeded(sending)
      expect(yield* received).toEqual(JsonRpc.result(1, {}))
    })
  )

  it.live("does not follow a redirect to another origin (BUG-51)", () =>
    Effect.gen(function* () {
      const { connection, server } = yield* start({ client, headers: { Authorization: "Bearer x" } })
      const other = yield* ScriptedHttpServer.make
      for (const status of [307, 308, 302]) {
        const sending = yield* send(connection, modern(1, "tools/list"))
        yield* (yield* server.expect("POST")).reply(status, { location: other.url })
        expect(yield* failed(sending)).toMatchObject({ _tag: "TransportFailure", status })
      }
      expect(yield* other.waiting).toBe(0)
      expect(yield* other.sockets).toBe(0)
    })
  )

  it.live("tells why it could not connect", () =>
    Effect.gen(function* () {
      const server = yield* Effect.scoped(ScriptedHttpServer.make)
      const { connection } = yield* open(server, { client })
      const reason = yield* failure(connection.send(modern(1, "tools/list")))
      expect(reason).toMatchObject({ _tag: "TransportFailure", message: expect.stringContaining("ECONNREFUSED") })
    })
  )

  it.live("fails what is open when it is closed, and aborts it", () =>
    Effect.gen(function* () {
      const { close, connection, running, server } = yield* startSession({ client })
      const waiting = yield* send(connection, JsonRpc.request(1, "tools/call"))
      const unanswered = yield* server.expect("POST", "tools/call")
      const streaming = yield* send(connection, JsonRpc.request(2, "tools/call"))
      const post = yield* server.expect("POST", "tools/call")
      yield* post.openStream()
      const closing = yield* Effect.forkScoped(close)
      expect(yield* failed(waiting)).toMatchObject({ _tag: "Closed" })
      expect(yield* failed(streaming)).toMatchObject({ _tag: "Closed" })
      yield* unanswered.closed
      yield* post.closed
      yield* Fiber.join(running)
      yield* (yield* server.expect("DELETE")).reply(405)
      yield* Fiber.join(closing)
      expect(yield* failure(connection.send(JsonRpc.request(3, "ping")))).toMatchObject({ _tag: "Closed" })
    })
  )
})

describe("modern requests", () => {
  it.live("carry the standard headers [HTTP-37] [HDR-01] [HDR-02]", () =>
    Effect.gen(function* () {
      const { connection, server } = yield* start()
      const call = modern(1, "tools/call", { name: "get_weather", arguments: {} })
      const sending = yield* send(connection, call, { "Mcp-Param-Region": "eu", "Mcp-Method": "forged" })
      const post = yield* server.expect("POST", "tools/call")
      expect(post.headers).toMatchObject({
        "mcp-protocol-version": version,
        "mcp-method": "tools/call",
        "mcp-name": "get_weather",
        "mcp-param-region": "eu"
      })
      for (const name of ["mcp-protocol-version", "mcp-method", "mcp-name"]) expect(post.count(name)).toBe(1)
      // Not even a server that gives a session id makes one of it.
      yield* post.replyResult({}, { "mcp-session-id": "unwanted" })
      yield* succeeded(sending)
      const reading = yield* send(connection, modern(2, "resources/read", { uri: "file:///a" }))
      const next = yield* server.expect("POST", "resources/read")
      expect(next.headers["mcp-name"]).toBe("file:///a")
      expect(next.headers["mcp-session-id"]).toBeUndefined()
      yield* next.replyResult({})
      yield* succeeded(reading)
    })
  )

  it.live("are cancelled by closing the stream, never by a notification [CANC-06]", () =>
    Effect.gen(function* () {
      const { connection, server } = yield* start()
      const sending = yield* send(connection, modern("x", "tools/call"))
      const post = yield* server.expect("POST", "tools/call")
      yield* post.openStream()
      yield* connection.send(cancel("x"))
      yield* post.closed
      expect(yield* failed(sending)).toMatchObject({ _tag: "Closed", message: "The request was cancelled" })
      yield* connection.send(cancel("long gone"))
      expect(yield* server.waiting).toBe(0)
    })
  )

  it.live("are never resumed [HTTP-41]", () =>
    Effect.gen(function* () {
      const { connection, server } = yield* start()
      for (const cut of ["end", "reset"] as const) {
        const sending = yield* send(connection, modern(1, "tools/call"))
        const post = yield* server.expect("POST", "tools/call")
        yield* post.openStream()
        yield* post.write("id: 7\nretry: 0\ndata:\n\n")
        yield* post[cut]
        expect(yield* failed(sending)).toMatchObject({ _tag: "TransportFailure" })
      }
      expect(yield* server.waiting).toBe(0)
    })
  )

  it.live("do not decide about an `initialize` that follows when the server is an older one", () =>
    Effect.gen(function* () {
      const { connection, server } = yield* start()
      const probing = yield* send(connection, modern(1, "server/discover"))
      yield* (yield* server.expect("POST", "server/discover")).reply(400)
      expect(yield* failed(probing)).toMatchObject({ _tag: "TransportFailure", status: 400 })
      const opening = yield* send(connection, initialize)
      const post = yield* server.expect("POST", "initialize")
      expect(post.headers["mcp-protocol-version"]).toBeUndefined()
      expect(post.headers["mcp-method"]).toBeUndefined()
      yield* post.replyResult({ protocolVersion: "2025-06-18" })
      yield* succeeded(opening)
      const ready = yield* send(connection, initialized)
      const notification = yield* server.expect("POST", "notifications/initialized")
      expect(notification.headers["mcp-protocol-version"]).toBe("2025-06-18")
      yield* notification.reply(202)
      yield* succeeded(ready)
      yield* (yield* server.expect("GET")).reply(405)
      const answering = yield* send(connection, JsonRpc.result("s", {}))
      yield* (yield* server.expect("POST")).reply(202)
      yield* succeeded(answering)
    })
  )

  it.live("are never answered to [HTTP-10]", () =>
    Effect.gen(function* () {
      const { connection, server } = yield* start()
      const sending = yield* send(connection, modern(1, "tools/call"))
      const post = yield* server.expect("POST", "tools/call")
      const reason = yield* failure(connection.send(JsonRpc.result("s", {})))
      expect(reason).toMatchObject({ _tag: "Unsupported" })
      yield* post.replyResult({})
      yield* succeeded(sending)
      expect(yield* server.waiting).toBe(0)
    })
  )
})

describe("sessions", () => {
  it.live("send their headers exactly once [HTTP-29] [HTTP-34] (BUG-49)", () =>
    Effect.gen(function* () {
      const options = { headers: { "MCP-Protocol-Version": "1999-01-01", "Mcp-Session-Id": "mine" } }
      const { close, connection, get, notification, post, server } = yield* startSession(options, "2025-06-18")
      // `initialize` opens the session, so it has nothing of one.
      expect(post.headers["mcp-method"]).toBeUndefined()
      const sending = yield* send(connection, JsonRpc.request(1, "tools/list"))
      const list = yield* server.expect("POST", "tools/list")
      yield* list.replyResult({})
      yield* succeeded(sending)
      const closing = yield* Effect.forkScoped(close)
      const end = yield* server.expect("DELETE")
      for (const request of [notification, get, list, end]) {
        expect(request.headers["mcp-session-id"]).toBe("session-1")
        expect(request.headers["mcp-protocol-version"]).toBe("2025-06-18")
        expect(request.count("mcp-session-id")).toBe(1)
        expect(request.count("mcp-protocol-version")).toBe(1)
      }
      yield* end.reply(200)
      yield* Fiber.join(closing)
    })
  )

  it.live("take the session id of an answer in a stream [HTTP-28]", () =>
    Effect.gen(function* () {
      const { connection, server } = yield* start()
      const opening = yield* send(connection, initialize)
      const post = yield* server.expect("POST", "initialize")
      expect(post.headers["mcp-session-id"]).toBeUndefined()
      expect(post.headers["mcp-protocol-version"]).toBeUndefined()
      yield* post.openStream({ "mcp-session-id": "s" })
      yield* post.event(JsonRpc.result(0, { protocolVersion: "2025-03-26" }))
      yield* post.end
      yield* succeeded(opening)
      const sending = yield* send(connection, JsonRpc.request(1, "ping"))
      const ping = yield* server.expect("POST", "ping")
      expect(ping.headers).toMatchObject({ "mcp-session-id": "s", "mcp-protocol-version": "2025-03-26" })
      yield* ping.replyResult({})
      yield* succeeded(sending)
    })
  )

  it.live("refuse a session id that is none [HTTP-28]", () =>
    Effect.gen(function* () {
      const { close, connection, server } = yield* start()
      const opening = yield* send(connection, initialize)
      const post = yield* server.expect("POST", "initialize")
      yield* post.replyResult({ protocolVersion: "2025-11-25" }, { "mcp-session-id": ["a", "b"] })
      expect(yield* failed(opening)).toMatchObject({ _tag: "DecodeFailure" })
      yield* close
      expect(yield* server.waiting).toBe(0)
    })
  )

  it.live("post notifications, answers and cancellations; any 2xx will do [HTTP-06] (BUG-46)", () =>
    Effect.gen(function* () {
      const { connection, server } = yield* startQuietSession()
      const replies = [
        [JsonRpc.result("s", {}), 204, {}, ""],
        [cancel(1), 202, { "content-type": "text/html" }, ""],
        [JsonRpc.notification("notifications/roots/list_changed"), 200, {}, ""],
        [JsonRpc.error("s", { code: 1, message: "no" }), 200, { "content-type": "application/json" }, "{}"]
      ] as const
      for (const [message, status, headers, body] of replies) {
        const sending = yield* send(connection, message)
        const post = yield* server.expect("POST")
        expect(post.json).toEqual(message)
        yield* post.reply(status, headers, body)
        yield* succeeded(sending)
      }
    })
  )

  it.live("do not wait for the end of what a notification gets back (BUG-46)", () =>
    Effect.gen(function* () {
      const { connection, server } = yield* startQuietSession()
      const sending = yield* send(connection, listChanged)
      const post = yield* server.expect("POST")
      yield* post.openStream()
      yield* succeeded(sending)
      yield* post.closed
    })
  )

  it.live("do not cancel by closing: the notification is posted [HTTP-17]", () =>
    Effect.gen(function* () {
      const { connection, received, server } = yield* startQuietSession()
      const calling = yield* send(connection, JsonRpc.request(1, "tools/call"))
      const call = yield* server.expect("POST", "tools/call")
      yield* call.openStream()
      const cancelling = yield* send(connection, cancel(1))
      yield* (yield* server.expect("POST", "notifications/cancelled")).reply(202)
      yield* succeeded(cancelling)
      yield* call.event(JsonRpc.result(1, { late: true }))
      yield* succeeded(calling)
      expect(yield* received).toEqual(JsonRpc.result(1, { late: true }))
    })
  )

  it.live("are lost with a 404, for every later message too [HTTP-31] [HTTP-32] (BUG-30)", () =>
    Effect.gen(function* () {
      const { close, connection, received, server } = yield* startQuietSession()
      const sending = yield* send(connection, JsonRpc.request(1, "tools/list"))
      const post = yield* server.expect("POST", "tools/list")
      const gone = JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32001, message: "Session not found" } })
      yield* post.reply(404, { "content-type": "application/json" }, gone)
      expect(yield* failed(sending)).toMatchObject({ _tag: "TransportFailure", status: 404 })
      const reason = yield* failure(connection.send(JsonRpc.request(2, "tools/list")))
      expect(reason).toMatchObject({ status: 404, message: expect.stringContaining("no longer knows the session") })
      expect(yield* server.waiting).toBe(0)
      const opening = yield* send(connection, initialize)
      const again = yield* server.expect("POST", "initialize")
      expect(again.headers["mcp-session-id"]).toBeUndefined()
      yield* again.replyResult({ protocolVersion: "2025-11-25" })
      yield* succeeded(opening)
      expect(yield* received).toMatchObject({ id: 0 })
      // The new session has no id, so there is nothing to end.
      yield* close
      expect(yield* server.waiting).toBe(0)
    })
  )

  it.effect("end although the server does not answer to DELETE [HTTP-33]", () =>
    Effect.gen(function* () {
      const { close, server } = yield* startSession()
      const closing = yield* Effect.forkScoped(close)
      yield* server.expect("DELETE")
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(closing)
    })
  )
})

describe("the listening stream", () => {
  it.live("brings what the server says by itself, while other things go on [HTTP-22] (BUG-34)", () =>
    Effect.gen(function* () {
      // The handshake is over although nobody has replied to the GET.
      const { connection, get, received, server } = yield* startSession()
      expect(get.headers.accept).toBe("text/event-stream")
      expect(get.headers["last-event-id"]).toBeUndefined()
      const sending = yield* send(connection, JsonRpc.request(1, "ping"))
      yield* (yield* server.expect("POST", "ping")).replyResult({})
      yield* succeeded(sending)
      expect(yield* received).toEqual(JsonRpc.result(1, {}))
      yield* get.openStream()
      yield* get.event(listChanged)
      yield* get.event(JsonRpc.request("s", "roots/list"))
      expect(yield* received).toEqual(listChanged)
      expect(yield* received).toEqual(JsonRpc.request("s", "roots/list"))
    })
  )

  it.effect.each([405, 404, 406, 400])("is not asked for again after status %i (BUG-57)", (status) =>
    Effect.gen(function* () {
      const { connection, get, received, server } = yield* startSession({ reconnect: undefined })
      yield* get.reply(status)
      const sending = yield* send(connection, JsonRpc.request(1, "ping"))
      yield* (yield* server.expect("POST", "ping")).replyResult({})
      yield* succeeded(sending)
      expect(yield* received).toEqual(JsonRpc.result(1, {}))
      yield* anHourOfSilence(server)
    }).pipe(Effect.provide(Logger.layer([])))
  )

  it.live("comes back after a cut, with the last event id where there is one [HTTP-27] (BUG-61)", () =>
    Effect.gen(function* () {
      const { get, received, server } = yield* startSession()
      yield* get.openStream()
      yield* get.reset
      const second = yield* server.expect("GET")
      expect(second.headers["last-event-id"]).toBeUndefined()
      yield* second.openStream()
      yield* second.event(listChanged, "e1")
      expect(yield* received).toEqual(listChanged)
      yield* second.reset
      const third = yield* server.expect("GET")
      expect(third.headers["last-event-id"]).toBe("e1")
      yield* third.openStream()
      // An event without an id does not change where we are.
      yield* third.event(listChanged)
      expect(yield* received).toEqual(listChanged)
      yield* third.end
      const fourth = yield* server.expect("GET")
      expect(fourth.headers["last-event-id"]).toBe("e1")
    })
  )

  it.effect("waits as long as `retry` says [HTTP-21]", () =>
    Effect.gen(function* () {
      const { get, received, server } = yield* startSession({ reconnect: undefined })
      yield* get.openStream()
      yield* get.write(`retry: 60000\ndata: ${JSON.stringify(listChanged)}\n\n`)
      yield* received
      yield* get.end
      expect(yield* waitForRequest(server, 1000)).toBeGreaterThanOrEqual(60_000)
      yield* server.expect("GET")
    })
  )

  it.effect("is asked for more and more rarely, then no more, when nothing comes (BUG-38)", () =>
    Effect.gen(function* () {
      const { get, server } = yield* startSession({
        reconnect: { initial: "1 second", max: "30 seconds", attempts: 4 }
      })
      let request = get
      for (let attempt = 0; attempt < 4; attempt++) {
        yield* request.reply(200, { "content-type": "text/event-stream" })
        // Half of the wait is jitter.
        expect(yield* waitForRequest(server, 50)).toBeGreaterThanOrEqual(500 * 2 ** attempt)
        request = yield* server.expect("GET")
      }
      yield* request.reply(200, { "content-type": "text/event-stream" })
      yield* anHourOfSilence(server)
    }).pipe(Effect.provide(Logger.layer([])))
  )
})

describe("resumption", () => {
  it.effect("takes up a stream that ended before the answer, after `retry` [HTTP-20] [HTTP-21] [HTTP-27]", () =>
    Effect.gen(function* () {
      const { connection, received, server } = yield* startQuietSession()
      const sending = yield* send(connection, JsonRpc.request(5, "tools/call"))
      const post = yield* server.expect("POST", "tools/call")
      yield* post.openStream()
      yield* post.write("id: e1\nretry: 500\ndata: \n\n")
      yield* post.end
      expect(yield* waitForRequest(server, 10)).toBeGreaterThanOrEqual(500)
      const get = yield* server.expect("GET")
      expect(get.headers["last-event-id"]).toBe("e1")
      expect(get.headers.accept).toBe("text/event-stream")
      expect(get.headers["mcp-session-id"]).toBe("session-1")
      yield* get.openStream()
      yield* get.event(JsonRpc.notification("notifications/progress", { progress: 1 }), "e2")
      expect(yield* received).toMatchObject({ method: "notifications/progress" })
      yield* get.reset
      expect(yield* waitForRequest(server, 10)).toBeGreaterThanOrEqual(500)
      const again = yield* server.expect("GET")
      expect(again.headers["last-event-id"]).toBe("e2")
      yield* again.openStream()
      yield* again.event(JsonRpc.result(5, { ok: true }), "e3")
      yield* succeeded(sending)
      expect(yield* received).toEqual(JsonRpc.result(5, { ok: true }))
    })
  )

  it.live("is not possible without an event id", () =>
    Effect.gen(function* () {
      const { connection, server } = yield* startQuietSession()
      for (const cut of ["end", "reset"] as const) {
        const sending = yield* send(connection, JsonRpc.request(5, "tools/call"))
        const post = yield* server.expect("POST", "tools/call")
        yield* post.openStream()
        yield* post.write(": nothing yet\n\n")
        yield* post[cut]
        expect(yield* failed(sending)).toMatchObject({ _tag: "TransportFailure" })
      }
      expect(yield* server.waiting).toBe(0)
    })
  )

  it.live("gives up: when the server refuses, or after several attempts", () =>
    Effect.gen(function* () {
      const { connection, server } = yield* startQuietSession()
      const cutCall = Effect.gen(function* () {
        const sending = yield* send(connection, JsonRpc.request(5, "tools/call"))
        const post = yield* server.expect("POST", "tools/call")
        yield* post.openStream()
        yield* post.write("id: e1\ndata:\n\n")
        yield* post.reset
        return sending
      })
      const refused = yield* cutCall
      yield* (yield* server.expect("GET")).reply(400, { "content-type": "text/plain" }, "no such event")
      expect(yield* failed(refused)).toMatchObject({ status: 400, message: expect.stringContaining("no such event") })
      const unlucky = yield* cutCall
      for (let attempt = 0; attempt <= atOnce.attempts; attempt++) {
        yield* (yield* server.expect("GET")).reply(503)
      }
      expect(yield* failed(unlucky)).toMatchObject({ status: 503 })
      const lost = yield* cutCall
      yield* (yield* server.expect("GET")).reply(404)
      expect(yield* failed(lost)).toMatchObject({ status: 404 })
      expect(yield* failure(connection.send(listChanged))).toMatchObject({ status: 404 })
      expect(yield* server.waiting).toBe(0)
    })
  )

  it.live("ends with the interruption of the call", () =>
    Effect.gen(function* () {
      const { connection, server } = yield* startQuietSession()
      const sending = yield* send(connection, JsonRpc.request(5, "tools/call"))
      const post = yield* server.expect("POST", "tools/call")
      yield* post.openStream()
      yield* post.write("id: e1\ndata:\n\n")
      yield* post.end
      const get = yield* server.expect("GET")
      yield* get.openStream()
      yield* Fiber.interrupt(sending)
      yield* get.closed
    })
  )
})

describe("replies that are no answer", () => {
  it.live.each([
    ["HTML", 200, { "content-type": "text/html" }, "<h1>Welcome</h1>", "text/html"],
    ["nothing", 202, {}, "", "no content type"],
    ["JSON that is no message", 200, { "content-type": "application/json" }, '{"error":"boom"}', "application/json"],
    [
      "another request's answer",
      200,
      { "content-type": "application/json" },
      '{"jsonrpc":"2.0","id":9,"result":{}}',
      "200"
    ],
    ["a batch", 200, { "content-type": "application/json" }, "[]", "application/json"],
    ["an error page", 502, { "content-type": "text/html" }, "<h1>Bad   Gateway</h1>", "<h1>Bad Gateway</h1>"],
    ["an error of some API", 500, { "content-type": "application/json" }, '{"error":"boom"}', "boom"]
  ] as const)("fail at once: %s (BUG-37)", ([_name, status, headers, body, words]) =>
    Effect.gen(function* () {
      const { connection, received, server } = yield* start()
      const sending = yield* send(connection, modern(1, "tools/list"))
      yield* (yield* server.expect("POST")).reply(status, headers, body)
      const reason = yield* failed(sending)
      expect(["TransportFailure", "DecodeFailure"]).toContain(reason._tag)
      expect(reason.message).toContain(words)
      expect(reason.message).toContain(String(status))
      // The connection goes on.
      const next = yield* send(connection, modern(2, "tools/list"))
      yield* (yield* server.expect("POST")).replyResult({})
      yield* succeeded(next)
      expect(yield* received).toEqual(JsonRpc.result(2, {}))
    })
  )

  it.live.each([
    [400, 1],
    [404, null],
    [400, "server-error"],
    [500, undefined]
  ] as const)("are answers when a JSON-RPC error comes with status %i [HTTP-38]", ([status, id]) =>
    Effect.gen(function* () {
      const { connection, received, server } = yield* start()
      const sending = yield* send(connection, modern(1, "tools/list"))
      const error = { code: -32022, message: "Unsupported", data: { supported: [] } }
      const body = JSON.stringify({ jsonrpc: "2.0", id, error })
      yield* (yield* server.expect("POST")).reply(status, { "content-type": "application/json" }, body)
      yield* succeeded(sending)
      expect(yield* received).toEqual({ jsonrpc: "2.0", id: 1, error })
    })
  )

  it.live.each([401, 403])("keep the status %i, whatever the body says", (status) =>
    Effect.gen(function* () {
      const { connection, server } = yield* start()
      const sending = yield* send(connection, modern(1, "tools/list"))
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code: -32000, message: "log in first" } })
      yield* (yield* server.expect("POST")).reply(status, { "content-type": "application/json" }, body)
      const reason = yield* failed(sending)
      expect(reason).toMatchObject({
        _tag: "TransportFailure",
        status,
        message: expect.stringContaining("log in first")
      })
    })
  )

  it.live("are told for notifications too [HTTP-11]", () =>
    Effect.gen(function* () {
      const { connection, server } = yield* startQuietSession()
      const sending = yield* send(connection, listChanged)
      const body = JSON.stringify({ jsonrpc: "2.0", error: { code: -32600, message: "not now" } })
      yield* (yield* server.expect("POST")).reply(400, { "content-type": "application/json" }, body)
      expect(yield* failed(sending)).toMatchObject({ status: 400, message: expect.stringContaining("not now") })
    })
  )

  it.live("in a stream: what is malformed is handed up, and fails the request when it was its answer", () =>
    Effect.gen(function* () {
      const { connection, received, server } = yield* start()
      const sending = yield* send(connection, modern(1, "tools/list"))
      const post = yield* server.expect("POST")
      yield* post.openStream()
      yield* post.write('data: {oops\n\nevent: ping\ndata: {"jsonrpc":"2.0","method":"other"}\n\n')
      expect(yield* received).toBeInstanceOf(JsonRpc.Malformed)
      yield* post.event({ jsonrpc: "2.0", id: 1, result: "not an object" })
      expect(yield* failed(sending)).toMatchObject({ _tag: "DecodeFailure" })
      expect(yield* received).toMatchObject({ _tag: "Malformed", id: 1 })
      yield* post.closed
    })
  )
})

describe("limits", () => {
  it.live.each([true, false])("on the bytes of a JSON reply, length known: %s", (isKnown) =>
    Effect.gen(function* () {
      const { connection, received, server } = yield* start({ maxMessageBytes: 1000 })
      const lengthOf = (body: string) =>
        isKnown ? { "content-length": body.length } : { "transfer-encoding": "chunked" }
      const reply = (post: ScriptedHttpServer.Received, length: number) => {
        const body = JSON.stringify(JsonRpc.result(1, { text: "x".repeat(length) }))
        return post.reply(200, { "content-type": "application/json", ...lengthOf(body) }, body)
      }
      const fitting = yield* send(connection, modern(1, "tools/list"))
      yield* reply(yield* server.expect("POST"), 900)
      yield* succeeded(fitting)
      yield* received
      const tooLong = yield* send(connection, modern(1, "tools/list"))
      yield* reply(yield* server.expect("POST"), 1000)
      expect(yield* failed(tooLong)).toMatchObject({ _tag: "LimitExceeded", limit: "maxMessageBytes" })
    })
  )

  it.live("on the length of an event", () =>
    Effect.gen(function* () {
      const { connection, server } = yield* start({ maxMessageBytes: 1000 })
      const sending = yield* send(connection, modern(1, "tools/list"))
      const post = yield* server.expect("POST")
      yield* post.openStream()
      yield* post.write(`data: ${"x".repeat(2000)}`)
      expect(yield* failed(sending)).toMatchObject({ _tag: "LimitExceeded", limit: "maxMessageBytes" })
      yield* post.closed
    })
  )

  it.effect("on the time to the beginning of a reply", () =>
    Effect.gen(function* () {
      const { connection, server } = yield* start({ answerTimeout: "5 seconds" })
      const sending = yield* send(connection, modern(1, "tools/list"))
      const post = yield* server.expect("POST")
      yield* TestClock.adjust("5 seconds")
      expect(yield* failed(sending)).toMatchObject({ _tag: "Timeout", method: "tools/list", after: 5000 })
      yield* post.closed
    })
  )

  it.live("a receiver that is slow holds the sender up", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedHttpServer.make
      const context = yield* Layer.build(
        Layer.provide(StreamableHttpClient.layer({ url: server.url }), NodeHttpClient.layerUndici)
      )
      const connection = yield* ClientTransport.pipe(
        Effect.flatMap((transport) => transport.connect),
        Effect.provideContext(context)
      )
      const latch = yield* Deferred.make<void>()
      const seen: Array<JsonRpc.Incoming> = []
      yield* Effect.forkScoped(
        connection.run((message) => {
          seen.push(message)
          return Deferred.await(latch)
        })
      )
      const sending = yield* send(connection, modern(1, "tools/call"))
      const post = yield* server.expect("POST")
      yield* post.openStream()
      // Far more than sockets hold by themselves.
      let written = 0
      const writing = yield* Effect.forkScoped(
        Effect.forEach(Array.from({ length: 400 }), () =>
          Effect.tap(post.event(JsonRpc.notification("n", { filler: "x".repeat(100_000) })), () =>
            Effect.sync(() => written++)
          )
        )
      )
      let quietTurns = 0
      for (let before = -1; quietTurns < 50; before = written) {
        yield* turn
        quietTurns = written === before ? quietTurns + 1 : 0
      }
      expect(seen).toHaveLength(1)
      expect(written).toBeLessThan(400)
      yield* Deferred.succeed(latch, undefined)
      yield* Fiber.join(writing)
      yield* post.event(JsonRpc.result(1, {}))
      yield* succeeded(sending)
      expect(seen).toHaveLength(401)
    })
  )
})

describe("headers of the caller", () => {
  it.live("go with every request, and may be made anew for each", () =>
    Effect.gen(function* () {
      let count = 0
      const headers = Effect.sync(() => ({ Authorization: Redacted.make(`Bearer ${++count}`), Accept: "text/plain" }))
      const { connection, get, notification, post, server } = yield* startSession({ headers })
      expect([post, notification, get].map((request) => request.headers.authorization)).toEqual([
        "Bearer 1",
        "Bearer 2",
        "Bearer 3"
      ])
      // They never replace what the protocol says.
      expect(post.headers.accept).toBe("application/json, text/event-stream")
      const sending = yield* send(connection, JsonRpc.request(1, "ping"))
      const ping = yield* server.expect("POST", "ping")
      expect(ping.headers.authorization).toBe("Bearer 4")
      yield* ping.replyResult({})
      yield* succeeded(sending)
    })
  )

  it.live("that HTTP does not allow are refused without being told", () =>
    Effect.gen(function* () {
      const { connection, server } = yield* start({ headers: { Authorization: Redacted.make("secret\nX-Evil: 1") } })
      const reason = yield* failure(connection.send(modern(1, "tools/list")))
      expect(reason).toMatchObject({ _tag: "TransportFailure", message: expect.stringContaining("Authorization") })
      expect(JSON.stringify(reason)).not.toContain("secret")
      expect(yield* server.waiting).toBe(0)
    })
  )

  it.live("fail the message when they cannot be had", () =>
    Effect.gen(function* () {
      const unusable = yield* start({ url: "file:///etc/passwd" }).pipe(Effect.flip)
      expect(unusable.reason._tag).toBe("TransportFailure")
      const { connection } = yield* start({ headers: Effect.fail(unusable) })
      expect(yield* Effect.flip(connection.send(modern(1, "tools/list")))).toBe(unusable)
    })
  )
})

describe("sockets", () => {
  it.live("are used again after JSON, after events and after notifications", () =>
    Effect.gen(function* () {
      const { connection, received, server } = yield* startQuietSession()
      const before = yield* server.sockets
      for (let id = 1; id <= 10; id++) {
        const sending = yield* send(connection, JsonRpc.request(id, "tools/call"))
        const post = yield* server.expect("POST", "tools/call")
        if (id % 2 === 0) {
          yield* post.replyResult({})
        } else {
          yield* post.openStream()
          yield* post.event(JsonRpc.result(id, {}))
          yield* post.end
        }
        yield* succeeded(sending)
        yield* received
        const notifying = yield* send(connection, listChanged)
        yield* (yield* server.expect("POST")).reply(202)
        yield* succeeded(notifying)
      }
      expect((yield* server.sockets) - before).toBeLessThanOrEqual(2)
    })
  )
})
