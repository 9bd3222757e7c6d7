/**
 * The client's side of a session over Streamable HTTP: its headers, the listening stream, resumption.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Logger } from "effect"
import { TestClock } from "effect/testing"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import {
  atOnce,
  start,
  send,
  succeeded,
  failure,
  failed,
  initialize,
  cancel,
  listChanged,
  waitForRequest,
  anHourOfSilence,
  startSession,
  startQuietSession
} from "./HttpClientHarness.ts"

describe("sessions", () => {
  it.live("send their headers exactly once [HTTP-29] [HTTP-34] [BUG-49]", () =>
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

  it.live("post notifications, answers and cancellations; any 2xx will do [HTTP-06] [BUG-46]", () =>
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

  it.live("send an answer once more when the connection was cut, and nothing else", () =>
    Effect.gen(function* () {
      const { connection, server } = yield* startQuietSession()
      const answering = yield* send(connection, JsonRpc.result("s", {}))
      yield* (yield* server.expect("POST")).reset
      const again = yield* server.expect("POST")
      expect(again.json).toEqual(JsonRpc.result("s", {}))
      yield* again.reply(202)
      yield* succeeded(answering)
      const calling = yield* send(connection, JsonRpc.request(1, "tools/call"))
      yield* (yield* server.expect("POST", "tools/call")).reset
      expect(yield* failed(calling)).toMatchObject({ _tag: "TransportFailure" })
      expect(yield* server.waiting).toBe(0)
    })
  )

  it.live("do not wait for the end of what a notification gets back [BUG-46]", () =>
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

  it.live("are lost with a 404, for every later message too [HTTP-31] [HTTP-32] [BUG-30]", () =>
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
  it.live("brings what the server says by itself, while other things go on [HTTP-22] [BUG-34]", () =>
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

  it.effect.each([405, 404, 406, 400])("is not asked for again after status %i [BUG-57]", (status) =>
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

  it.live("comes back after a cut, with the last event id where there is one [HTTP-27] [BUG-61]", () =>
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

  it.effect("is asked for more and more rarely, then no more, when nothing comes [BUG-38]", () =>
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
  it.effect("[BUG-38] is not tried without pause for ever, though the server says retry: 0 and nothing else", () =>
    Effect.gen(function* () {
      const { get, server } = yield* startSession({ reconnect: { initial: "1 second", attempts: 4 } })
      let request = get
      let waited = 0
      for (let attempt = 0; attempt < 12; attempt++) {
        yield* request.reply(200, { "content-type": "text/event-stream" }, `id: ${attempt}\nretry: 0\ndata:\n\n`)
        waited += yield* waitForRequest(server, 50)
        request = yield* server.expect("GET")
      }
      expect(waited).toBeGreaterThanOrEqual(7000)
      yield* request.reply(405)
    }).pipe(Effect.provide(Logger.layer([])))
  )

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
