/**
 * HTTP+SSE (2024-11-05), server side, on all three hosts.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { CallContext, McpClient, McpServer, Tool } from "mcp-effect"
import { StreamableHttp } from "mcp-effect/node"
import type { HttpRequest } from "../../src/transport/httpServer/HttpMessage.ts"
import * as Sse from "../../src/transport/Sse.ts"
import { demo } from "../support/Demo.ts"
import { Gate } from "../support/Gate.ts"
import { hosts, impatient, joinInTime, node, type Running } from "../support/HttpHosts.ts"
import { initializeParams } from "../support/RawClient.ts"

const serverOf = <R>(...tools: ReadonlyArray<Tool.Handled<R>>) => McpServer.make({ name: "s", version: "1", tools })

/** An event stream that is open. */
interface Stream {
  readonly status: number
  readonly headers: Headers
  /** The next event, or comment; `undefined` at the end. */
  readonly next: Effect.Effect<Sse.Event | undefined>
  readonly hangUp: Effect.Effect<void>
}

const connect = (
  running: Running,
  headers: Record<string, string> = {},
  path = "/sse"
): Effect.Effect<Stream, never, Scope.Scope> =>
  Effect.gen(function* () {
    const controller = new AbortController()
    const init = { headers: { accept: "text/event-stream", ...headers }, signal: controller.signal }
    const response = yield* Effect.promise(() => running.send(new Request(new URL(path, running.url), init)))
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    const parser = new Sse.Parser()
    const events: Array<Sse.Event> = []
    const next: Effect.Effect<Sse.Event | undefined> = Effect.suspend(() => {
      const event = events.shift()
      if (event !== undefined) return Effect.succeed(event)
      return Effect.flatMap(
        Effect.promise(async () => (await reader?.read())?.value),
        (text) => {
          if (text === undefined) return Effect.undefined
          if (text.startsWith(": keep")) events.push({ id: undefined, event: "comment", data: text.trim() })
          events.push(...parser.push(text))
          return next
        }
      )
    })
    const hangUp = Effect.promise(async () => {
      await reader?.cancel().catch(() => {})
      controller.abort()
    })
    yield* Effect.addFinalizer(() => hangUp)
    return { status: response.status, headers: response.headers, next, hangUp }
  })

/** A client that has its endpoint. */
const open = (running: Running, headers: Record<string, string> = {}) =>
  Effect.gen(function* () {
    const stream = yield* connect(running, headers)
    expect([stream.status, stream.headers.get("content-type")]).toEqual([200, "text/event-stream"])
    const first = yield* stream.next
    expect(first?.event).toBe("endpoint")
    const endpoint = new URL(first?.data ?? "", new URL("/sse", running.url))
    const post = (message: unknown, options: { readonly headers?: Record<string, string>; readonly url?: URL } = {}) =>
      postTo(running, options.url ?? endpoint, message, options.headers)
    const answer = Effect.map(stream.next, (event) => {
      expect(event?.event).toBe("message")
      return JSON.parse(event?.data ?? "") as { readonly id: unknown; readonly result: { readonly content: unknown } }
    })
    const initialize = Effect.gen(function* () {
      yield* post(request(0, "initialize", initializeParams({}, "2024-11-05")))
      const result = yield* answer
      yield* post({ jsonrpc: "2.0", method: "notifications/initialized" })
      return result
    })
    return { ...stream, endpoint, post, answer, initialize }
  })

const postTo = (running: Running, url: URL, message: unknown, headers: Record<string, string> = {}) =>
  Effect.promise(async () => {
    const body = typeof message === "string" ? message : JSON.stringify(message)
    const init = { method: "POST", headers: { "content-type": "application/json", ...headers }, body }
    const response = await running.send(new Request(url, init))
    return [response.status, await response.text()] as const
  })

const request = (id: unknown, method: string, params: object = {}) => ({ jsonrpc: "2.0", id, method, params })
const call = (id: unknown, name: string, args: object = {}) => request(id, "tools/call", { name, arguments: args })
const ping = (id: unknown) => request(id, "ping")

for (const host of hosts) {
  describe(`HTTP+SSE on ${host.name}`, () => {
    it.effect(
      "[SSE24-01][SSE24-02][SSE24-03] names an endpoint first; what is posted there is answered in the stream",
      () =>
        Effect.gen(function* () {
          const client = yield* open(yield* host.start(demo, { sse: {} }))
          expect(client.endpoint.pathname).toBe("/messages")
          expect(client.endpoint.searchParams.get("sessionId")).toMatch(/^[\w-]{32}$/)
          expect(client.headers.get("x-accel-buffering")).toBe("no")
          expect(yield* client.post(request(0, "initialize", initializeParams({}, "2024-11-05")))).toEqual([202, ""])
          expect(yield* client.answer).toMatchObject({ id: 0, result: { protocolVersion: "2024-11-05" } })
          expect(yield* client.post({ jsonrpc: "2.0", method: "notifications/initialized" })).toEqual([202, ""])
          const text = "é漢🙂\u2028\u0000"
          expect(yield* client.post(call("a", "echo", { text }))).toEqual([202, ""])
          expect(yield* client.answer).toMatchObject({ id: "a", result: { content: [{ text }] } })
        })
    )

    it.effect("[SSE24-04] refuses other origins and hosts, for the stream and for messages", () =>
      Effect.gen(function* () {
        const running = yield* host.start(demo, { sse: {} })
        const evil = { origin: "https://evil.example" }
        expect((yield* connect(running, evil)).status).toBe(403)
        const client = yield* open(running)
        expect((yield* client.post(ping(1), { headers: evil }))[0]).toBe(403)
        expect((yield* client.post(ping(2), { headers: { origin: "http://localhost:1" } }))[0]).toBe(202)
        expect(yield* client.answer).toMatchObject({ id: 2 })
      })
    )

    it.effect("[BUG-68] without the id of a session nothing is taken, and nobody else hears of it", () =>
      Effect.gen(function* () {
        const running = yield* host.start(demo, { sse: {} })
        const client = yield* open(running)
        const [missing, text] = yield* client.post(ping(1), { url: new URL("/messages", running.url) })
        expect(missing).toBe(400)
        expect(text).toContain("sessionId")
        for (const id of ["wrong", ""]) {
          const url = new URL(`/messages?sessionId=${id}`, running.url)
          expect((yield* client.post(ping(2), { url }))[0]).toBe(404)
        }
        const other = yield* open(running)
        yield* other.post(ping("theirs"))
        yield* client.post(ping("mine"))
        expect(yield* client.answer).toMatchObject({ id: "mine" })
        expect(yield* other.answer).toMatchObject({ id: "theirs" })
      })
    )

    it.effect("[BUG-69] handlers see the headers of the POST", () =>
      Effect.gen(function* () {
        const who = Tool.handle(Tool.make("who"), () =>
          Effect.map(CallContext.CallContext, ({ headers }) => headers?.["x-t"] ?? "none")
        )
        const client = yield* open(yield* host.start(serverOf(who), { sse: {} }), { "x-t": "stream" })
        yield* client.initialize
        yield* client.post(call(1, "who"), { headers: { "x-t": "1" } })
        expect(yield* client.answer).toMatchObject({ result: { content: [{ text: "1" }] } })
      })
    )

    it.effect("refuses what is no message, and the session goes on", () =>
      Effect.gen(function* () {
        const client = yield* open(yield* host.start(demo, { sse: {}, maximumBodyBytes: 200 }))
        const statusOf = (...args: Parameters<typeof client.post>) =>
          Effect.map(client.post(...args), ([status]) => status)
        expect(yield* statusOf("nonsense")).toBe(400)
        expect(yield* statusOf({ jsonrpc: "2.0", id: {} })).toBe(400)
        expect(yield* statusOf(ping(1), { headers: { "content-type": "text/plain" } })).toBe(415)
        expect(yield* statusOf(ping("x".repeat(200)))).toBe(413)
        expect(yield* statusOf(ping(2))).toBe(202)
        expect(yield* client.answer).toMatchObject({ id: 2 })
      })
    )

    it.live("ends with its stream: handlers are interrupted, and the session is gone", () =>
      Effect.gen(function* () {
        const gate = new Gate()
        const slow = Tool.handle(Tool.make("slow"), () => Effect.as(gate.work, ""))
        const client = yield* open(yield* host.start(serverOf(slow), { sse: {} }))
        yield* client.initialize
        yield* client.post(call(1, "slow"))
        yield* gate.started
        yield* client.hangUp
        yield* gate.interrupted
        expect((yield* client.post(ping(2)))[0]).toBe(404)
      })
    )

    it.effect("[SSE24-05] is not served unless it is asked for", () =>
      Effect.gen(function* () {
        const running = yield* host.start(demo)
        // The web handler has no paths: there it is a GET of an endpoint that needs a session.
        expect((yield* connect(running)).status).toBe(host.name === "toWebHandler" ? 400 : 404)
        const modern = yield* host.start(McpServer.make({ name: "s", version: "1", revisions: ["2026-07-28"] }), {
          sse: {}
        })
        expect((yield* connect(modern)).status).toBe(host.name === "toWebHandler" ? 405 : 404)
      })
    )

    it.effect("may have paths of its own, that of the endpoint among them", () =>
      Effect.gen(function* () {
        const running = yield* host.start(demo, { sse: { path: "/mcp", messagesPath: "/old/messages" } })
        const stream = yield* connect(running, {}, "/mcp")
        expect((yield* stream.next)?.data).toMatch(/^\/old\/messages\?sessionId=/)
        expect((yield* connect(running, { "mcp-session-id": "x" }, "/mcp")).status).toBe(404)
        const [status] = yield* postTo(running, new URL(running.url), ping(1), {
          accept: "application/json, text/event-stream"
        })
        expect(status).toBe(400)
      })
    )

    it.effect("gets a comment while nothing happens", () =>
      Effect.gen(function* () {
        const client = yield* open(yield* host.start(demo, { sse: {}, keepAlive: "5 seconds" }))
        const comment = yield* Effect.forkChild(client.next)
        expect((yield* joinInTime(comment))?.data).toBe(": keep-alive")
      })
    )
  })
}

const clientOf = (revision: string, layer: ReturnType<typeof StreamableHttp.layerClient>) =>
  Effect.flatMap(Layer.build(layer), (context) =>
    Effect.provide(McpClient.make({ name: "c", version: "1", revisions: [revision] }), context)
  )

describe("HTTP+SSE", () => {
  it.live("[SSE24-06] one server serves every revision at once, over both kinds of HTTP", () =>
    Effect.gen(function* () {
      const { url } = yield* node.start(demo, { sse: {} })
      const sse = new URL("/sse", url)
      const legacy = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
      const streamable = [...legacy.slice(1), "2026-07-28"]
      const clients = yield* Effect.all(
        [
          ...legacy.map((revision) => clientOf(revision, StreamableHttp.layerClientSse({ url: sse }))),
          ...streamable.map((revision) => clientOf(revision, StreamableHttp.layerClient({ url })))
        ],
        { concurrency: "unbounded" }
      )
      expect(clients.map(({ server }) => server.revision)).toEqual([...legacy, ...streamable])
      const sums = yield* Effect.forEach(clients, (client, index) => client.callTool("echo", { text: String(index) }), {
        concurrency: "unbounded"
      })
      expect(sums.map(({ content }) => content[0])).toMatchObject(clients.map((_, index) => ({ text: String(index) })))
      for (const client of clients) {
        const seen: Array<number> = []
        yield* client.callTool("count", {}, { onProgress: ({ progress }) => void seen.push(progress) })
        expect(seen).toEqual([1, 2])
      }
    })
  )

  it.live("answers a newer client at the old path in the new way", () =>
    Effect.gen(function* () {
      const { url } = yield* node.start(demo, { sse: {} })
      const layer = yield* Layer.build(StreamableHttp.layerClient({ url: new URL("/sse", url) }))
      const client = yield* Effect.provide(McpClient.make({ name: "c", version: "1" }), layer)
      expect(client.server.revision).toBe("2026-07-28")
    })
  )

  it.live("a session belongs to the principal that opened it", () =>
    Effect.gen(function* () {
      const http = yield* StreamableHttp.make(demo, { sse: {} })
      const ask = (method: string, url: string, subject: string | undefined, body = "") =>
        http.handle({
          method,
          url,
          headers: { "content-type": "application/json" },
          body: () => Effect.succeed(new TextEncoder().encode(body)),
          principal: subject === undefined ? undefined : { subject }
        } satisfies HttpRequest)
      const { body } = yield* ask("GET", "/sse", "alice")
      if (body === undefined || typeof body === "string") throw new Error("not a stream")
      const endpoint = /data: (.*)/.exec((yield* body.next) ?? "")?.[1] ?? ""
      const statusFor = (subject: string | undefined) =>
        Effect.map(ask("POST", endpoint, subject, JSON.stringify(ping(1))), ({ status }) => status)
      expect(yield* statusFor("bob")).toBe(404)
      expect(yield* statusFor(undefined)).toBe(404)
      expect(yield* statusFor("alice")).toBe(202)
      // Behind a prefix the endpoint is behind it too.
      const prefixed = yield* ask("GET", "/api/v1/sse/?a=b", "alice")
      expect(typeof prefixed.body === "object" ? yield* prefixed.body.next : "").toContain(
        "data: /api/v1/messages?sessionId="
      )
      expect((yield* ask("DELETE", "/messages", "alice")).status).toBe(405)
    })
  )

  it.effect("never more than so many: who has not introduced itself goes first", () =>
    Effect.gen(function* () {
      const running = yield* node.start(demo, { sse: {}, maximumSessions: 1 })
      yield* impatient
      const first = yield* open(running)
      const second = yield* open(running)
      expect(yield* first.next).toBeUndefined()
      yield* second.initialize
      expect((yield* connect(running)).status).toBe(503)
      yield* second.hangUp
    })
  )

  it.effect("who never introduces itself is hung up on", () =>
    Effect.gen(function* () {
      const running = yield* node.start(demo, { sse: {}, keepAlive: "1 hour" })
      const idle = yield* open(running)
      const used = yield* open(running)
      yield* used.initialize
      yield* TestClock.adjust("1 minute")
      expect(yield* idle.next).toBeUndefined()
      yield* TestClock.adjust("10 minutes")
      yield* used.post(ping(1))
      expect(yield* used.answer).toMatchObject({ id: 1 })
    })
  )

  it.live("[BUG-127] at shutdown an answer under way is still given, then the stream ends", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const slow = Tool.handle(Tool.make("slow"), () => Effect.as(gate.work, "done"))
      const scope = yield* Scope.make()
      const running = yield* Scope.provide(node.start(serverOf(slow), { sse: {} }), scope)
      const client = yield* open(running)
      yield* client.initialize
      yield* client.post(call(1, "slow"))
      yield* gate.started
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      yield* gate.open
      expect(yield* client.answer).toMatchObject({ id: 1, result: { content: [{ text: "done" }] } })
      expect(yield* client.next).toBeUndefined()
      yield* Fiber.join(closing)
    })
  )

  it.live("two requests with one id are not confused", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const slow = Tool.handle(Tool.make("slow"), () => Effect.as(gate.work, "done"))
      const client = yield* open(yield* node.start(serverOf(slow), { sse: {} }))
      yield* client.initialize
      yield* client.post(call(1, "slow"))
      yield* gate.started
      yield* client.post(ping(1))
      expect(yield* client.answer).toMatchObject({ id: 1, error: { code: -32600 } })
      yield* gate.open
      expect(yield* client.answer).toMatchObject({ id: 1, result: { content: [{ text: "done" }] } })
    })
  )

  it.live("a cancelled request leaves nothing to wait for at shutdown", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const slow = Tool.handle(Tool.make("slow"), () => Effect.as(gate.work, "done"))
      const scope = yield* Scope.make()
      const running = yield* Scope.provide(node.start(serverOf(slow), { sse: {}, gracePeriod: "1 hour" }), scope)
      const client = yield* open(running)
      yield* client.initialize
      yield* client.post(call(1, "slow"))
      yield* gate.started
      yield* client.post({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } })
      yield* gate.interrupted
      yield* Scope.close(scope, Exit.void)
      expect(yield* client.next).toBeUndefined()
    })
  )
})
