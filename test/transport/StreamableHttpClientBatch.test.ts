/**
 * The client's side of batches over Streamable HTTP: one POST with several requests in it, and arrays in replies.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import type { Connection } from "../../src/transport/Transport.ts"
import { cancel, failed, listChanged, send, startSession, succeeded } from "./HttpClientHarness.ts"

const start = (revision = "2025-03-26") => Effect.tap(startSession({}, revision), ({ get }) => get.reply(405))
const ask = (id: JsonRpc.RequestId) => JsonRpc.request(id, "tools/call", { name: String(id) })
const answer = (id: JsonRpc.RequestId) => JsonRpc.result(id, { content: [] })
const noToIt = (id?: JsonRpc.RequestId) => JsonRpc.error(id, { code: -32600, message: "no" })

const sendAll = (connection: Connection, messages: ReadonlyArray<JsonRpc.Message>) =>
  Effect.forkScoped(Effect.result(connection.send(messages)), { startImmediately: true })

const batchOf = (message: JsonRpc.Incoming) =>
  message instanceof JsonRpc.Batch ? message.messages : expect.fail(`Not a batch: ${JSON.stringify(message)}`)

describe("a batch", () => {
  it.live("[HTTP-08] is one POST with the headers of the session, and its reply may be a JSON array", () =>
    Effect.gen(function* () {
      const { connection, received, server } = yield* start()
      const sending = yield* sendAll(connection, [ask(1), ask(2)])
      const post = yield* server.expect("POST")
      expect(JSON.parse(post.body)).toEqual([ask(1), ask(2)])
      expect(post.headers["mcp-session-id"]).toBe("session-1")
      expect(post.headers["content-type"]).toBe("application/json")
      expect(post.headers["mcp-method"]).toBeUndefined()
      yield* post.replyJson([answer(2), noToIt(1)])
      yield* succeeded(sending)
      expect(batchOf(yield* received)).toEqual([answer(2), noToIt(1)])
    })
  )

  for (const [form, events] of [
    ["one by one", [answer(2), listChanged, answer(1)]],
    ["in one array", [listChanged, [answer(2), answer(1)]]],
    ["in several arrays", [[answer(2)], [listChanged, answer(1)]]]
  ] as const) {
    it.live(`[HTTP-12] takes the answers ${form} from a stream, which is then done with`, () =>
      Effect.gen(function* () {
        const { connection, received, server } = yield* start()
        const sending = yield* sendAll(connection, [ask(1), ask(2)])
        const post = yield* server.expect("POST")
        yield* post.openStream()
        for (const event of events) {
          expect(sending.pollUnsafe()).toBeUndefined()
          yield* post.event(event)
          const message = yield* received
          expect(message instanceof JsonRpc.Batch ? message.messages : message).toEqual(event)
        }
        yield* succeeded(sending)
      })
    )
  }

  it.live("[HTTP-11] of answers or notifications needs no reply but that it was accepted", () =>
    Effect.gen(function* () {
      const { connection, server } = yield* start()
      const sending = yield* sendAll(connection, [answer("a"), answer("b")])
      const post = yield* server.expect("POST")
      expect(JSON.parse(post.body)).toEqual([answer("a"), answer("b")])
      yield* post.reply(202)
      yield* succeeded(sending)
    })
  )

  for (const [how, status] of [
    ["with 400", 400],
    ["with 200", 200]
  ] as const) {
    it.live(`that is refused as a whole ${how} is refused for every request in it`, () =>
      Effect.gen(function* () {
        const { connection, received, server } = yield* start()
        const sending = yield* sendAll(connection, [ask(1), listChanged, ask(2)])
        const post = yield* server.expect("POST")
        yield* post.reply(status, { "content-type": "application/json" }, JSON.stringify(noToIt()))
        expect([yield* received, yield* received]).toEqual([noToIt(1), noToIt(2)])
        yield* succeeded(sending)
      })
    )
  }

  it.live("fails when the reply leaves a request without its answer, after the others have got theirs", () =>
    Effect.gen(function* () {
      const { connection, received, server } = yield* start()
      const sending = yield* sendAll(connection, [ask(1), ask(2)])
      yield* (yield* server.expect("POST")).replyJson([answer(1)])
      expect(batchOf(yield* received)).toEqual([answer(1)])
      expect((yield* failed(sending))._tag).toBe("DecodeFailure")
      const again = yield* sendAll(connection, [ask(3), ask(4)])
      const post = yield* server.expect("POST")
      yield* post.openStream()
      yield* post.event(answer(3))
      expect(yield* received).toEqual(answer(3))
      yield* post.end
      expect((yield* failed(again))._tag).toBe("TransportFailure")
    })
  )

  it.live("does not wait for a request that was cancelled", () =>
    Effect.gen(function* () {
      const { connection, received, server } = yield* start()
      const sending = yield* sendAll(connection, [ask(1), ask(2), ask(3)])
      const post = yield* server.expect("POST")
      yield* post.openStream()
      yield* post.event(answer(3))
      expect(yield* received).toEqual(answer(3))
      const cancelling = yield* send(connection, cancel(1))
      yield* (yield* server.expect("POST", "notifications/cancelled")).reply(202)
      yield* succeeded(cancelling)
      expect(sending.pollUnsafe()).toBeUndefined()
      yield* post.event(answer(2))
      expect(yield* received).toEqual(answer(2))
      yield* succeeded(sending)
    })
  )

  it.live("a malformed answer spoils nothing but itself", () =>
    Effect.gen(function* () {
      const { connection, received, server } = yield* start()
      const sending = yield* sendAll(connection, [ask(1), ask(2)])
      const post = yield* server.expect("POST")
      yield* post.openStream()
      yield* post.event({ jsonrpc: "2.0", id: 1, result: 7 })
      expect(yield* received).toBeInstanceOf(JsonRpc.Malformed)
      yield* post.event(answer(2))
      expect(yield* received).toEqual(answer(2))
      yield* succeeded(sending)
    })
  )

  it.live("[HTTP-27] is taken up again when its stream is cut, for the answers that are missing", () =>
    Effect.gen(function* () {
      const { connection, received, server } = yield* start()
      const sending = yield* sendAll(connection, [ask(1), ask(2)])
      const post = yield* server.expect("POST")
      yield* post.openStream()
      yield* post.event(answer(1), "e-1")
      expect(yield* received).toEqual(answer(1))
      yield* post.reset
      const get = yield* server.expect("GET")
      expect(get.headers["last-event-id"]).toBe("e-1")
      yield* get.openStream()
      yield* get.event(answer(2), "e-2")
      expect(yield* received).toEqual(answer(2))
      yield* succeeded(sending)
    })
  )

  it.live("interrupting closes the one exchange", () =>
    Effect.gen(function* () {
      const { connection, server } = yield* start()
      const sending = yield* sendAll(connection, [ask(1), ask(2)])
      const post = yield* server.expect("POST")
      yield* Fiber.interrupt(sending)
      yield* post.closed
    })
  )
})

describe("an array", () => {
  it.live("[BASE-15] may answer a single request", () =>
    Effect.gen(function* () {
      const { connection, received, server } = yield* start()
      const sending = yield* send(connection, ask(1))
      yield* (yield* server.expect("POST")).replyJson([answer(1)])
      yield* succeeded(sending)
      expect(batchOf(yield* received)).toEqual([answer(1)])
    })
  )

  it.live("[BASE-17] is no answer in a later revision", () =>
    Effect.gen(function* () {
      const { connection, server } = yield* start("2025-06-18")
      const sending = yield* send(connection, ask(1))
      yield* (yield* server.expect("POST")).replyJson([answer(1)])
      expect((yield* failed(sending))._tag).toBe("DecodeFailure")
    })
  )
})
