/**
 * Streamable HTTP, server side: what all three hosts have in common, on real sockets where they have some.
 */
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { McpServer, Tool } from "mcp-effect"
import type { Json } from "../protocol/OfficialSchema.ts"
import { demo } from "../support/Demo.ts"
import { Gate } from "../support/Gate.ts"
import { hosts, impatient, joinInTime } from "../support/HttpHosts.ts"
import { at, eras, legacy, modern, modernMeta } from "../support/RawClient.ts"
import { connect } from "../support/RawHttp.ts"

const serverOf = <R>(...tools: ReadonlyArray<Tool.Handled<R>>) => McpServer.make({ name: "s", version: "1", tools })

const inPieces = (whole: Uint8Array) =>
  new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const byte of whole) controller.enqueue(new Uint8Array([byte]))
      controller.close()
    }
  })

for (const host of hosts) {
  for (const era of eras) {
    describe(`${host.name} in ${era}`, () => {
      it.effect(
        "[HTTP-01][HTTP-02][HTTP-12][BUG-51] a quick answer is one JSON object, with and without a last slash",
        () =>
          Effect.gen(function* () {
            const running = yield* host.start(demo)
            const client = yield* connect(running, era)
            for (const path of ["/mcp", "/mcp/", "/mcp?a=b"]) {
              const text = "é漢🙂\u2028\u0000"
              const reply = yield* client.request("tools/call", { name: "echo", arguments: { text } }, { path })
              expect([reply.status, reply.type]).toEqual([200, "application/json"])
              expect(at(yield* reply.json, "result", "content", 0, "text")).toBe(text)
            }
          })
      )

      it.effect("[HTTP-12] what is said before the answer makes it a stream, which ends with the answer", () =>
        Effect.gen(function* () {
          const client = yield* connect(yield* host.start(demo), era)
          const reply = yield* client.call("count", {}, { _meta: { progressToken: "t" } })
          expect([reply.status, reply.type]).toEqual([200, "text/event-stream"])
          expect(reply.headers.get("x-accel-buffering")).toBe("no")
          expect(reply.headers.get("cache-control")).toContain("no-cache")
          const messages = yield* reply.messages
          expect(messages.map((message) => message.method ?? "answer")).toEqual([
            "notifications/progress",
            "notifications/progress",
            "answer"
          ])
        })
      )

      it.effect("[HTTP-12] an answer that takes long becomes a stream by itself", () =>
        Effect.gen(function* () {
          const gate = new Gate()
          const slow = serverOf(Tool.handle(Tool.make("slow"), () => Effect.as(gate.work, "done")))
          const client = yield* connect(yield* host.start(slow), era)
          const waiting = yield* Effect.forkScoped(client.call("slow"), { startImmediately: true })
          yield* gate.started
          yield* TestClock.adjust("100 millis")
          const reply = yield* Fiber.join(waiting)
          expect(reply.type).toBe("text/event-stream")
          yield* gate.open
          expect(at(yield* reply.answer, "result", "content", 0, "text")).toBe("done")
        })
      )

      it.effect("[HTTP-11][BUG-47] a notification is accepted without a body", () =>
        Effect.gen(function* () {
          const client = yield* connect(yield* host.start(demo), era)
          for (const more of [{}, { params: {} }, { params: { a: 1 } }]) {
            for (const method of ["notifications/initialized", "notifications/whatever"]) {
              const reply = yield* client.post({ jsonrpc: "2.0", method, ...more })
              expect([reply.status, yield* reply.text]).toEqual([202, ""])
            }
          }
        })
      )

      it.effect("[BASE-17][BUG-24][BUG-27][HTTP-11] what is no message is refused with 400 and no id", () =>
        Effect.gen(function* () {
          const client = yield* connect(yield* host.start(demo), era)
          const ping = { jsonrpc: "2.0", method: "tools/list", params: {} }
          for (const [body, code] of [
            ["{oops", -32700],
            ["", -32700],
            [new Uint8Array([0x22, 0xff, 0x22]), -32700],
            [JSON.stringify([{ ...ping, id: 1 }]), -32600],
            ["7", -32600],
            ["null", -32600],
            [JSON.stringify({ ...ping, id: null }), -32600],
            [JSON.stringify({ ...ping, id: 1.5 }), -32600],
            [JSON.stringify({ ...ping, id: true }), -32600],
            [JSON.stringify({ ...ping, id: {} }), -32600]
          ] as const) {
            const reply = yield* client.fetch("POST", { body, headers: client.headersOf({ method: "tools/list" }) })
            const error = yield* reply.json
            expect([reply.status, at(error, "error", "code")]).toEqual([400, code])
            expect(error).not.toHaveProperty("id")
          }
          const wrongType = yield* client.request("tools/list", {}, { headers: { "content-type": "text/plain" } })
          expect(wrongType.status).toBe(415)
          expect(yield* wrongType.json).not.toHaveProperty("id")
        })
      )

      it.effect("[ERR-14] an error keeps the id of the request whenever that could be read", () =>
        Effect.gen(function* () {
          const client = yield* connect(yield* host.start(demo), era)
          for (const [message, code] of [
            [client.message("no/such", {}, "a"), -32601],
            [client.message("tools/call", { name: "nothing" }, "b"), -32602],
            [client.message("resources/read", {}, "c"), -32602],
            [{ jsonrpc: "1.0", id: "d", method: "tools/list" }, -32600],
            [{ jsonrpc: "2.0", id: "e", method: "tools/list", params: [] }, -32600]
          ] as const) {
            const reply = yield* client.post(message)
            expect(yield* reply.json).toMatchObject({ id: message.id, error: { code } })
          }
        })
      )

      it.effect("[BUG-52] a body may come in any pieces, and is whole or refused", () =>
        Effect.gen(function* () {
          const client = yield* connect(yield* host.start(demo), era)
          const message = client.message("tools/call", { name: "echo", arguments: { text: "你好🙂" } })
          const bytes = new TextEncoder().encode(JSON.stringify(message))
          const whole = yield* client.fetch("POST", { body: inPieces(bytes), headers: client.headersOf(message) })
          expect(at(yield* whole.json, "result", "content", 0, "text")).toBe("你好🙂")
          const cut = bytes.slice(0, new TextDecoder("latin1").decode(bytes).indexOf("\u00f0\u009f") + 2)
          const refused = yield* client.fetch("POST", { body: inPieces(cut), headers: client.headersOf(message) })
          expect([refused.status, at(yield* refused.json, "error", "code")]).toEqual([400, -32700])
        })
      )

      it.effect("a body over the limit is refused with 413, told of its length or not", () =>
        Effect.gen(function* () {
          const client = yield* connect(yield* host.start(demo, { maximumBodyBytes: 1000 }), era)
          const message = client.message("tools/call", { name: "echo", arguments: { text: "a".repeat(2000) } })
          const told = yield* client.post(message)
          expect(told.status).toBe(413)
          const body = new Blob([JSON.stringify(message)]).stream()
          const streamed = yield* client.fetch("POST", { body, headers: client.headersOf(message) })
          expect(streamed.status).toBe(413)
          const small = yield* client.request("tools/list", {})
          expect(small.status).toBe(200)
        })
      )

      it.effect("[HTTP-03][HTTP-04][BUG-133] a page from elsewhere is refused, whatever it asks for", () =>
        Effect.gen(function* () {
          const client = yield* connect(yield* host.start(demo), era)
          for (const origin of [
            "https://evil.example",
            "http://localhost.evil.example",
            "null",
            "http://127.0.0.1@evil.example"
          ]) {
            const message = client.message("tools/list")
            for (const method of ["POST", "GET", "DELETE", "OPTIONS"]) {
              const reply = yield* client.fetch(method, {
                headers: { ...client.headersOf(message), origin },
                ...(method === "POST" && { body: JSON.stringify(message) })
              })
              expect(reply.status).toBe(403)
            }
          }
          for (const origin of ["http://localhost:5173", "http://127.0.0.1:3000", "https://localhost"]) {
            expect((yield* client.request("tools/list", {}, { headers: { origin } })).status).toBe(200)
          }
        })
      )

      it.effect("[BUG-47] verbs that it has no use for get 405 and the ones it has", () =>
        Effect.gen(function* () {
          const client = yield* connect(yield* host.start(demo), era)
          for (const method of ["PUT", "PATCH", "OPTIONS"]) {
            const reply = yield* client.fetch(method)
            expect([reply.status, reply.headers.get("allow")]).toEqual([405, "POST, GET, DELETE"])
          }
          const single = McpServer.make({ name: "new", version: "1", tools: [], revisions: [modern] })
          const running = yield* host.start(single)
          const only = yield* connect(running, modern)
          for (const method of ["GET", "DELETE", "PUT", "OPTIONS"]) {
            const reply = yield* only.fetch(method, { headers: { accept: "text/event-stream", "mcp-session-id": "a" } })
            expect([reply.status, reply.headers.get("allow")]).toEqual([405, "POST"])
          }
        })
      )

      it.effect("[BUG-28] many requests with one id each get their own answer", () =>
        Effect.gen(function* () {
          const client = yield* connect(yield* host.start(demo), era, { judged: false })
          const texts = Array.from({ length: 8 }, (_, index) => `n${index}`)
          const answers = yield* Effect.forEach(
            texts,
            (text) =>
              Effect.flatMap(
                client.post(client.message("tools/call", { name: "echo", arguments: { text } }, 5)),
                (reply) => reply.answer
              ),
            { concurrency: "unbounded" }
          )
          expect(answers.map((answer) => at(answer, "result", "content", 0, "text"))).toEqual(texts)
        })
      )

      it.effect(
        era === legacy
          ? "leaving is not cancelling: the work goes on"
          : "[HTTP-18][BUG-78] who leaves cancels: the handler and what it waits for are interrupted",
        () =>
          Effect.gen(function* () {
            const gates = [new Gate(), new Gate()] as const
            const Slow = Tool.handle(Tool.make("slow"), () => Effect.as(gates[0].work, "done"))
            const Slower = Tool.handle(Tool.make("slower"), () => Effect.as(gates[1].work, "done"))
            const running = yield* host.start(serverOf(Slow, Slower))
            yield* impatient
            const client = yield* connect(running, era)
            // Before there is a response, and while one is streamed.
            const early = yield* Effect.forkScoped(client.call("slow"), { startImmediately: true })
            yield* gates[0].started
            yield* Fiber.interrupt(early)
            const late = yield* Effect.forkScoped(client.call("slower"), { startImmediately: true })
            yield* gates[1].started
            yield* TestClock.adjust("100 millis")
            yield* (yield* Fiber.join(late)).hangUp
            if (era === modern) {
              yield* gates[0].interrupted
              yield* gates[1].interrupted
              return
            }
            expect((yield* client.request("tools/list")).status).toBe(200)
            for (const gate of gates) {
              yield* gate.open
              expect(gate.stopped).toBe(0)
            }
          })
      )

      it.effect("[SUBS-15][BUG-39] an idle stream gets a comment now and then", () =>
        Effect.gen(function* () {
          const gate = new Gate()
          const slow = serverOf(Tool.handle(Tool.make("slow"), () => Effect.as(gate.work, "done")))
          const client = yield* connect(yield* host.start(slow, { keepAlive: "1 second" }), era)
          const waiting = yield* Effect.forkScoped(client.call("slow"), { startImmediately: true })
          yield* gate.started
          yield* TestClock.adjust("100 millis")
          const reply = yield* Fiber.join(waiting)
          const nextBeat: Effect.Effect<void> = Effect.flatMap(reply.nextEvent, (event) =>
            event?.comment === "keep-alive" ? Effect.void : nextBeat
          )
          for (let times = 0; times < 3; times++) {
            yield* TestClock.adjust("1 second")
            yield* nextBeat
          }
          yield* gate.open
          yield* reply.answer
        })
      )

      it.effect("[BUG-127] at shutdown an answer under way is still given, and the stream ends", () =>
        Effect.gen(function* () {
          const gate = new Gate()
          const slow = serverOf(Tool.handle(Tool.make("slow"), () => Effect.as(gate.work, "done")))
          const closing = yield* Deferred.make<Fiber.Fiber<Json>>()
          const life = Effect.gen(function* () {
            const target = yield* host.start(slow)
            const client = yield* connect(target, era)
            const calling = Effect.scoped(Effect.flatMap(client.call("slow"), (reply) => reply.answer))
            const answer = yield* Effect.forkDetach(calling)
            yield* gate.started
            yield* TestClock.adjust("100 millis")
            yield* Effect.addFinalizer(() => Deferred.succeed(closing, answer))
          })
          const running = yield* Effect.forkScoped(Effect.scoped(life))
          const answer = yield* Deferred.await(closing)
          yield* gate.open
          expect(at(yield* Fiber.join(answer), "result", "content", 0, "text")).toBe("done")
          yield* joinInTime(running)
        })
      )
    })
  }

  it.effect(`a server in either era takes the other's requests on the same endpoint (${host.name})`, () =>
    Effect.gen(function* () {
      const running = yield* host.start(demo)
      const client = yield* connect(running, legacy, { judged: false })
      const message = client.message("tools/list", { _meta: modernMeta() })
      const headers = { "mcp-protocol-version": modern, "mcp-method": "tools/list" }
      const reply = yield* client.post(message, { headers })
      expect(at(yield* reply.json, "result", "resultType")).toBe("complete")
      expect(reply.headers.get("mcp-session-id")).toBe(null)
      expect(at(yield* (yield* client.request("tools/list")).json, "result", "resultType")).toBe(undefined)
    })
  )
}
