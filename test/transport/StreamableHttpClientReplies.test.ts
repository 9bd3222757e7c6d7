/**
 * What a server may reply with that is no answer, and what is too much or too slow.
 */
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as NodeHttpSender from "../../src/node/HttpSender.ts"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import * as StreamableHttpClient from "../../src/transport/StreamableHttpClient.ts"
import { ClientTransport } from "../../src/transport/Transport.ts"
import { start, send, succeeded, failed, modern, listChanged, turn, startQuietSession } from "./HttpClientHarness.ts"
import * as ScriptedHttpServer from "./ScriptedHttpServer.ts"

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
  ] as const)("fail at once: %s [BUG-37]", ([_name, status, headers, body, words]) =>
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

/** Replies with a text of that length; the length of the body is told before it or not. */
const replyOfLength = (post: ScriptedHttpServer.Received, length: number, isKnown: boolean) => {
  const body = JSON.stringify(JsonRpc.result(1, { text: "x".repeat(length) }))
  const framing = isKnown ? { "content-length": body.length } : { "transfer-encoding": "chunked" }
  return post.reply(200, { "content-type": "application/json", ...framing }, body)
}

describe("limits", () => {
  it.live.each([true, false])("on the bytes of a JSON reply, length known: %s", (isKnown) =>
    Effect.gen(function* () {
      const { connection, received, server } = yield* start({ maxMessageBytes: 1000 })
      const fitting = yield* send(connection, modern(1, "tools/list"))
      yield* replyOfLength(yield* server.expect("POST"), 900, isKnown)
      yield* succeeded(fitting)
      yield* received
      const tooLong = yield* send(connection, modern(1, "tools/list"))
      yield* replyOfLength(yield* server.expect("POST"), 1000, isKnown)
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
        Layer.provide(StreamableHttpClient.layerSender({ url: server.url }), NodeHttpSender.layer)
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
