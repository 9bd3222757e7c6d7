/**
 * What clients may cost an HTTP server. Each test is named by the option that sets its limit; past it there is the right
 * status and the right error, and everyone else is served.
 */
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer } from "effect"
import { McpServer, Tool } from "mcp-effect"
import { StreamableHttp } from "mcp-effect/node"
import * as Net from "node:net"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import { callers, jsonOf } from "./Callers.ts"
import { demo } from "../support/Demo.ts"
import { Gate } from "../support/Gate.ts"
import { impatient } from "../support/HttpHosts.ts"
import { at, initializeParams, legacy, modern } from "../support/RawClient.ts"
import { connect } from "../support/RawHttp.ts"

const waiting = (gate: Gate, limits: McpServer.Options["limits"] = {}) =>
  McpServer.make({
    name: "s",
    version: "1",
    limits,
    tools: [Tool.handle(Tool.make("wait"), () => Effect.as(gate.work, "done"))]
  })

const startNode = (options: Partial<StreamableHttp.NodeOptions>) =>
  Effect.map(Layer.build(StreamableHttp.layerNode(demo, { port: 0, ...options })), (context) => ({
    url: Context.get(context, StreamableHttp.Listening).url,
    send: (request: Request) => fetch(request)
  }))

const refusal = (status: number) => ({ status, code: JsonRpc.ErrorCode.LimitExceeded })

describe("requests", () => {
  it.effect("maximumRequests: 503 for whoever comes then, with a hint when to come again", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const host = yield* callers(waiting(gate), { maximumRequests: 2 })
      const call = { name: "wait" }
      const first = yield* Effect.forkChild(host.request("ada", "tools/call", call), { startImmediately: true })
      const session = yield* host.initialize("alan")
      const second = yield* Effect.forkChild(host.inSession(session, "alan", "tools/call", call), {
        startImmediately: true
      })
      const refused = yield* host.request("grace", "tools/list")
      expect({ status: refused.status, code: at(jsonOf(refused), "error", "code") }).toEqual(refusal(503))
      expect(at(jsonOf(refused), "id")).toBeDefined()
      expect(refused.headers["retry-after"]).toBe("1")
      // What needs no answer may be what those under way wait for.
      const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 99 } }
      const headers = { "mcp-session-id": session.headers["mcp-session-id"] }
      expect((yield* host.send("alan", "POST", cancel, headers)).status).toBe(202)
      yield* gate.open
      for (const fiber of [first, second]) expect((yield* Fiber.join(fiber)).status).toBe(200)
      expect((yield* host.request("grace", "tools/list")).status).toBe(200)
    })
  )

  it.effect("limits.requestsInFlight: 429 for a principal that has so many, in either era", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const host = yield* callers(waiting(gate, { requestsInFlight: 2 }))
      const session = yield* host.initialize("ada")
      const call = (era: string) =>
        era === modern
          ? host.request("ada", "tools/call", { name: "wait" })
          : host.inSession(session, "ada", "tools/call", { name: "wait" })
      const under = yield* Effect.forEach([modern, legacy], (era) =>
        Effect.forEach([1, 2], () => Effect.forkChild(call(era), { startImmediately: true }))
      )
      for (const era of [modern, legacy]) {
        const refused = yield* call(era)
        expect({ status: refused.status, code: at(jsonOf(refused), "error", "code") }).toEqual(refusal(429))
      }
      expect((yield* host.request("alan", "tools/list")).status).toBe(200)
      expect((yield* host.request(undefined, "tools/list")).status).toBe(200)
      yield* gate.open
      for (const fiber of under.flat()) expect((yield* Fiber.join(fiber)).status).toBe(200)
      expect((yield* host.request("ada", "tools/list")).status).toBe(200)
      expect((yield* host.inSession(session, "ada", "tools/list")).status).toBe(200)
    })
  )

  it.effect("limits.requestsInFlight: requests that were given up count no more", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const host = yield* callers(waiting(gate, { requestsInFlight: 1 }))
      const call = yield* Effect.forkChild(host.request("ada", "tools/call", { name: "wait" }), {
        startImmediately: true
      })
      expect((yield* host.request("ada", "tools/list")).status).toBe(429)
      yield* Fiber.interrupt(call)
      yield* gate.interrupted
      expect((yield* host.request("ada", "tools/list")).status).toBe(200)
    })
  )

  it.live("maximumBodyBytes: 413 without reading the rest, length known or not", () =>
    Effect.gen(function* () {
      const running = yield* startNode({ maximumBodyBytes: 100_000 })
      for (const framing of [`Content-Length: ${100 * 1024 * 1024}`, "Transfer-Encoding: chunked"]) {
        const head = ["POST /mcp HTTP/1.1", "Host: localhost", "Content-Type: application/json", framing]
        const { sent, text } = yield* flood(Number(new URL(running.url).port), `${head.join("\r\n")}\r\n\r\n`, framing)
        expect(text).toMatch(/^HTTP\/1.1 413 [\s\S]*-31429/)
        // The rest of what was written is in the buffers of the system.
        expect(sent).toBeLessThan(20 * 1024 * 1024)
      }
      const client = yield* connect(running, modern)
      expect((yield* client.request("tools/list")).status).toBe(200)
    })
  )

  it.live("maximumHeaderBytes: 431", () =>
    Effect.gen(function* () {
      const running = yield* startNode({ maximumHeaderBytes: 4096 })
      const client = yield* connect(running, modern)
      const list = (padding: number) =>
        client.request("tools/list", {}, { headers: { "x-padding": "x".repeat(padding) } })
      expect((yield* list(1000)).status).toBe(200)
      expect((yield* list(5000)).status).toBe(431)
      expect((yield* list(1000)).status).toBe(200)
    })
  )

  it.live("requestTimeout: 408 for a request that does not come to its end", () =>
    Effect.gen(function* () {
      const running = yield* startNode({ requestTimeout: "50 millis" })
      for (const request of [
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Sl",
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
      ]) {
        const { text } = yield* flood(Number(new URL(running.url).port), request)
        expect(text).toMatch(/^HTTP\/1.1 408 /)
      }
      const client = yield* connect(running, modern)
      expect((yield* client.request("tools/list")).status).toBe(200)
    })
  )
})

/** Writes a head, and then as much as the server takes of a body without end, until the server hangs up. */
const flood = (port: number, head: string, body?: string) =>
  Effect.callback<{ readonly sent: number; readonly text: string }>((resume) => {
    let text = ""
    const piece = Buffer.alloc(64 * 1024, "x")
    const socket = Net.connect(port, "127.0.0.1")
    const write = () => {
      if (body === undefined) return
      const chunk = body.startsWith("Content-Length")
        ? piece
        : Buffer.concat([Buffer.from("10000\r\n"), piece, Buffer.from("\r\n")])
      while (!socket.destroyed && socket.write(chunk)) continue
    }
    socket.on("data", (data) => (text += data.toString()))
    socket.on("drain", write)
    socket.on("error", () => {})
    socket.on("end", () => socket.destroy())
    socket.on("close", () => resume(Effect.succeed({ sent: socket.bytesWritten, text })))
    socket.write(head)
    write()
    return Effect.sync(() => socket.destroy())
  })

describe("sessions", () => {
  it.effect("maximumSessions: the one that idled longest makes room, and 503 when all are in use", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const host = yield* callers(waiting(gate), { maximumSessions: 2 })
      const [first, second] = [yield* host.initialize(undefined), yield* host.initialize(undefined)]
      const third = yield* host.initialize(undefined)
      expect((yield* host.inSession(first, undefined, "tools/list")).status).toBe(404)
      const calls = yield* Effect.forEach([second, third], (session) =>
        Effect.forkChild(host.inSession(session, undefined, "tools/call", { name: "wait" }), { startImmediately: true })
      )
      const refused = yield* host.initialize(undefined)
      expect({ status: refused.status, code: at(jsonOf(refused), "error", "code") }).toEqual(refusal(503))
      yield* gate.open
      for (const call of calls) expect((yield* Fiber.join(call)).status).toBe(200)
    })
  )

  it.effect("sessionsPerPrincipal: its own that idled longest makes room, and 429 when all of them are in use", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const host = yield* callers(waiting(gate), { sessionsPerPrincipal: 2 })
      const other = yield* host.initialize("alan")
      const [first, second] = [yield* host.initialize("ada"), yield* host.initialize("ada")]
      const third = yield* host.initialize("ada")
      expect((yield* host.inSession(first, "ada", "tools/list")).status).toBe(404)
      expect((yield* host.inSession(other, "alan", "tools/list")).status).toBe(200)
      const calls = yield* Effect.forEach([second, third], (session) =>
        Effect.forkChild(host.inSession(session, "ada", "tools/call", { name: "wait" }), { startImmediately: true })
      )
      const refused = yield* host.initialize("ada")
      expect({ status: refused.status, code: at(jsonOf(refused), "error", "code") }).toEqual(refusal(429))
      expect((yield* host.initialize("alan")).status).toBe(200)
      for (let times = 0; times < 5; times++) expect((yield* host.initialize(undefined)).status).toBe(200)
      yield* gate.open
      for (const call of calls) yield* Fiber.join(call)
      const headers = { "mcp-session-id": third.headers["mcp-session-id"] }
      expect((yield* host.send("ada", "DELETE", undefined, headers)).status).toBe(204)
      expect((yield* host.initialize("ada")).status).toBe(200)
      expect((yield* host.inSession(second, "ada", "tools/list")).status).toBe(200)
    })
  )

  it.effect("sessionsPerPrincipal: over HTTP+SSE, too", () =>
    Effect.gen(function* () {
      const host = yield* callers(demo, { sessionsPerPrincipal: 1, sse: {} })
      yield* impatient
      const open = (subject: string) => host.send(subject, "GET", undefined, {}, "/sse")
      const first = yield* open("ada")
      // Who has not introduced itself goes first.
      const second = yield* open("ada")
      expect([first.status, second.status]).toEqual([200, 200])
      expect(typeof first.body === "object" && first.body.isOpen).toBe(false)
      expect(typeof second.body === "object" && second.body.isOpen).toBe(true)
      const text = typeof second.body === "object" ? yield* second.body.next : ""
      const endpoint = /data: (.*)/.exec(text ?? "")?.[1]
      const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params: initializeParams({}, "2024-11-05") }
      expect((yield* host.send("ada", "POST", initialize, {}, endpoint)).status).toBe(202)
      const refused = yield* open("ada")
      expect({ status: refused.status, code: at(jsonOf(refused), "error", "code") }).toEqual(refusal(429))
      expect((yield* open("alan")).status).toBe(200)
    })
  )
})
