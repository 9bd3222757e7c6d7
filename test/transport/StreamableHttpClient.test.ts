/**
 * The client's side of Streamable HTTP on real sockets, without a session above it: over each HTTP client, and in the
 * modern era.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import * as NodeHttpSender from "../../src/node/HttpSender.ts"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import * as HttpSender from "../../src/transport/HttpSender.ts"
import {
  open,
  start,
  send,
  succeeded,
  failure,
  failed,
  version,
  modern,
  initialize,
  initialized,
  cancel,
  listChanged,
  startSession,
  startQuietSession
} from "./HttpClientHarness.ts"
import * as ScriptedHttpServer from "./ScriptedHttpServer.ts"

const senders = [
  ["mcp-effect/node", NodeHttpSender.layer],
  ["undici", Layer.provide(HttpSender.layer, NodeHttpClient.layerUndici)],
  ["fetch", Layer.provide(HttpSender.layer, FetchHttpClient.layer)],
  ["node:http", Layer.provide(HttpSender.layer, NodeHttpClient.layerNodeHttp)]
] as const

describe.each(senders)("over %s", (_name, sender) => {
  it.live("posts every message by itself and takes JSON [HTTP-06] [HTTP-07] [HTTP-12] [BUG-35][BUG-44]", () =>
    Effect.gen(function* () {
      const { connection, received, server } = yield* start({ sender })
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

  it.live("takes events, in order, up to the answer [HTTP-12] [BUG-62][BUG-64]", () =>
    Effect.gen(function* () {
      const { connection, received, server } = yield* start({ sender })
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

  it.live("closes the exchange when it is interrupted [CANC-06] [BUG-80]", () =>
    Effect.gen(function* () {
      const { connection, server } = yield* start({ sender })
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

  it.live("follows a redirect to the same origin with everything in it [BUG-51]", () =>
    Effect.gen(function* () {
      const { connection, received, server } = yield* start({ sender, headers: { Authorization: "Bearer x" } })
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

  it.live("does not follow a redirect to another origin [BUG-51]", () =>
    Effect.gen(function* () {
      const { connection, server } = yield* start({ sender, headers: { Authorization: "Bearer x" } })
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
      const { connection } = yield* open(server, { sender })
      const reason = yield* failure(connection.send(modern(1, "tools/list")))
      expect(reason).toMatchObject({ _tag: "TransportFailure", message: expect.stringContaining("ECONNREFUSED") })
    })
  )

  it.live("fails what is open when it is closed, and aborts it", () =>
    Effect.gen(function* () {
      const { close, connection, running, server } = yield* startSession({ sender })
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
