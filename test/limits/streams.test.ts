/**
 * Clients that open an event stream and do not read it: they hold up nobody else, and are dropped after a while.
 */
import { describe, expect, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Logger, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Catalog, McpServer, Progress, Tool } from "mcp-effect"
import { StreamableHttp } from "mcp-effect/node"
import * as Net from "node:net"
import * as EventStore from "../../src/transport/EventStore.ts"
import { EventStream } from "../../src/transport/httpServer/EventStream.ts"
import type { HttpResponse } from "../../src/transport/httpServer/HttpMessage.ts"
import { hosts } from "../support/HttpHosts.ts"
import { modern, modernMeta, settle } from "../support/RawClient.ts"
import { connect } from "../support/RawHttp.ts"
import { callers } from "./Callers.ts"

const tool = (name: string) => Tool.handle(Tool.make(name), () => Effect.succeed(name))

/** Collects the warnings of the server. */
const warnings = () => {
  const logged: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    if (logLevel === "Warn") logged.push(String(message))
  })
  return { logged, layer: Logger.layer([logger]) }
}

const streamOf = ({ body }: HttpResponse): EventStream => {
  if (!(body instanceof EventStream)) throw new Error("not a stream")
  return body
}

const count = (text: string, of: string): number => text.split(of).length - 1

/** Reads a stream as it comes. */
const read = (stream: EventStream) => {
  const seen = { text: "" }
  const reading = Stream.runForEach(stream.text, (text) => Effect.sync(() => (seen.text += text)))
  return Effect.as(Effect.forkScoped(reading, { startImmediately: true }), seen)
}

const changed = "notifications/tools/list_changed"

describe("readTimeout", () => {
  const { layer, logged } = warnings()
  it.effect("a listener that falls behind is dropped, with a reason; the others hear of every change at once", () =>
    Effect.gen(function* () {
      const tools = yield* Catalog.make([tool("one")])
      const host = yield* callers(McpServer.make({ name: "s", version: "1", tools }), { readTimeout: "20 seconds" })
      const listen = (subject: string) =>
        host.request(subject, "subscriptions/listen", { notifications: { toolsListChanged: true } })
      const slow = streamOf(yield* listen("slow"))
      const seen = yield* read(streamOf(yield* listen("fast")))
      for (let change = 1; change <= 200; change++) {
        yield* tools.set(tool(`tool-${change}`))
        yield* settle
        expect(count(seen.text, changed)).toBe(change)
      }
      expect(slow.isOpen).toBe(true)
      yield* TestClock.adjust("19 seconds")
      expect(slow.isOpen).toBe(true)
      yield* TestClock.adjust("1 second")
      expect(slow.isOpen).toBe(false)
      expect(slow.take()).toBeUndefined()
      expect(logged).toEqual([expect.stringMatching(/dropped.*20 seconds/)])
      yield* tools.set(tool("last"))
      yield* settle
      expect(count(seen.text, changed)).toBe(201)
      // It may come back, and is told of what comes then.
      const again = yield* read(streamOf(yield* listen("slow")))
      yield* tools.remove("last")
      yield* settle
      expect(count(again.text, changed)).toBe(1)
    }).pipe(Effect.provide(layer))
  )

  it.effect("a listener that reads slowly, but reads, stays", () =>
    Effect.gen(function* () {
      const tools = yield* Catalog.make([tool("one")])
      const host = yield* callers(McpServer.make({ name: "s", version: "1", tools }), { readTimeout: "20 seconds" })
      const notifications = { toolsListChanged: true }
      const stream = streamOf(yield* host.request("a", "subscriptions/listen", { notifications }))
      for (let round = 0; round < 5; round++) {
        for (let change = 0; change < 100; change++) {
          yield* tools.set(tool(`tool-${change}`))
          yield* settle
        }
        yield* TestClock.adjust("19 seconds")
        stream.take()
        yield* settle
      }
      yield* TestClock.adjust("10 minutes")
      expect(stream.isOpen).toBe(true)
    })
  )

  it.effect("the GET stream of a session is dropped alike; the client may take it up again where it stopped", () =>
    Effect.gen(function* () {
      const tools = yield* Catalog.make([tool("one")])
      const host = yield* callers(McpServer.make({ name: "s", version: "1", tools }), { keepAlive: "1 hour" })
      const session = yield* host.initialize("ada")
      const headers = { "mcp-session-id": session.headers["mcp-session-id"] }
      yield* host.send("ada", "POST", { jsonrpc: "2.0", method: "notifications/initialized" }, headers)
      const get = (more = {}) => Effect.map(host.send("ada", "GET", undefined, { ...headers, ...more }), streamOf)
      const stream = yield* get()
      for (let change = 1; change <= 100; change++) {
        yield* tools.set(tool(`tool-${change}`))
        yield* settle
      }
      const first = stream.take() ?? ""
      expect(count(first, changed)).toBeGreaterThan(50)
      for (let change = 1; change <= 100; change++) {
        yield* tools.set(tool(`tool-${change}`))
        yield* settle
      }
      yield* TestClock.adjust("30 seconds")
      expect(stream.isOpen).toBe(false)
      expect((yield* host.inSession(session, "ada", "tools/list")).status).toBe(200)
      const last = /id: (\S+)(?![\s\S]*id: )/.exec(first)?.[1]
      const seen = yield* read(yield* get({ "last-event-id": last }))
      yield* settle
      expect(count(seen.text, changed)).toBeGreaterThan(50)
      const before = count(seen.text, changed)
      yield* tools.remove("tool-1")
      yield* settle
      expect(count(seen.text, changed)).toBe(before + 1)
    }).pipe(Effect.provide(Logger.layer([])))
  )

  it.effect("[BUG-40] a new GET takes over from one that nobody reads, without waiting for it to be dropped", () =>
    Effect.gen(function* () {
      const tools = yield* Catalog.make([tool("one")])
      const host = yield* callers(McpServer.make({ name: "s", version: "1", tools }), { keepAlive: "1 hour" })
      const session = yield* host.initialize("ada")
      const headers = { "mcp-session-id": session.headers["mcp-session-id"] }
      yield* host.send("ada", "POST", { jsonrpc: "2.0", method: "notifications/initialized" }, headers)
      const get = () => Effect.map(host.send("ada", "GET", undefined, headers), streamOf)
      const dead = yield* get()
      for (let change = 1; change <= 100; change++) {
        yield* tools.set(tool(`tool-${change}`))
        yield* settle
      }
      const seen = yield* read(yield* get())
      yield* settle
      expect(dead.isOpen).toBe(false)
      const before = count(seen.text, changed)
      yield* tools.set(tool("last"))
      yield* settle
      expect(count(seen.text, changed)).toBe(before + 1)
    })
  )

  for (const host of hosts) {
    it.live(`a call whose stream nobody reads is interrupted, and its socket closed (${host.name})`, () =>
      Effect.gen(function* () {
        const stopped = yield* Deferred.make<void>()
        const Flood = Tool.handle(Tool.make("flood"), () =>
          Progress.report({ progress: 0, message: "x".repeat(1024 * 1024) }).pipe(
            Effect.andThen(Effect.yieldNow),
            Effect.repeat({ times: 10_000 }),
            Effect.as(""),
            Effect.ensuring(Deferred.succeed(stopped, undefined))
          )
        )
        const server = McpServer.make({ name: "s", version: "1", tools: [Flood, tool("other")] })
        const running = yield* host.start(server, { readTimeout: "50 millis" })
        const client = yield* connect(running, modern, { judged: false })
        const reply = yield* client.call("flood", {}, { _meta: { progressToken: 1 } })
        expect(reply.status).toBe(200)
        yield* Deferred.await(stopped)
        expect((yield* (yield* client.call("other")).answer).result).toBeDefined()
      }).pipe(Effect.provide(Logger.layer([])))
    )
  }

  it.live("over node:http the socket of a client that was dropped is closed", () =>
    Effect.gen(function* () {
      const Flood = Tool.handle(Tool.make("flood"), () =>
        Effect.as(
          Effect.forEach(
            Array.from({ length: 1000 }, (_, index) => index + 1),
            (progress) => Progress.report({ progress, message: "x".repeat(256 * 1024) }),
            { discard: true }
          ),
          ""
        )
      )
      const server = McpServer.make({ name: "s", version: "1", tools: [Flood] })
      const context = yield* Layer.build(StreamableHttp.layerNode(server, { port: 0, readTimeout: "50 millis" }))
      const { port } = Context.get(context, StreamableHttp.Listening)
      const params = { name: "flood", _meta: { ...modernMeta(), progressToken: 1 } }
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })
      const head = [
        "POST /mcp HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        `MCP-Protocol-Version: ${modern}`,
        "Mcp-Method: tools/call",
        "Mcp-Name: flood",
        `Content-Length: ${body.length}`
      ]
      const ended = yield* Effect.forkScoped(
        Effect.callback<number>((resume) => {
          const socket = Net.connect(port, "127.0.0.1")
          let bytes = 0
          socket.on("error", () => {})
          socket.on("close", () => resume(Effect.succeed(bytes)))
          socket.on("data", (data) => {
            bytes += data.length
          })
          // Reads nothing until the server has had enough, and then the rest: it comes to an end.
          socket.once("data", () => {
            socket.pause()
            setTimeout(() => socket.resume(), 300)
          })
          socket.write(`${head.join("\r\n")}\r\n\r\n${body}`)
          return Effect.sync(() => socket.destroy())
        })
      )
      expect(yield* Fiber.join(ended)).toBeLessThan(1000 * 256 * 1024)
    }).pipe(Effect.provide(Logger.layer([])))
  )
})

describe("EventStore", () => {
  const messages = (events: ReadonlyArray<EventStore.StoredEvent> | undefined) => events?.map(({ message }) => message)

  it.effect("maximumCharacters: the sessions that were told nothing for longest lose their events", () =>
    Effect.gen(function* () {
      const store = EventStore.make({ maximumCharacters: 100 })
      for (const session of ["a", "b", "c"]) yield* store.append(session, "0", session.repeat(30))
      yield* store.append("a", "0", "a".repeat(10))
      yield* store.append("c", "0", "c".repeat(10))
      expect(yield* store.after("b", "0", 0)).toBeUndefined()
      expect(messages(yield* store.after("a", "0", 0))).toEqual(["a".repeat(30), "a".repeat(10)])
      expect(messages(yield* store.after("c", "0", 1))).toEqual(["c".repeat(10)])
      // One session alone loses its oldest, and one event may be as large as it is.
      yield* store.append("c", "1", "d".repeat(500))
      expect(yield* store.after("c", "0", 0)).toBeUndefined()
      expect(messages(yield* store.after("c", "1", 0))).toEqual(["d".repeat(500)])
    })
  )

  it.effect("maximumAge: what is too old goes even where nothing is told any more", () =>
    Effect.gen(function* () {
      const store = EventStore.make({ maximumAge: "1 minute", maximumCharacters: 100 })
      yield* store.append("idle", "0", "x".repeat(90))
      yield* TestClock.adjust("2 minutes")
      expect(yield* store.after("idle", "0", 0)).toBeUndefined()
      yield* store.append("busy", "0", "y".repeat(90))
      yield* store.append("busy", "0", "z".repeat(10))
      expect(yield* store.after("busy", "0", 0)).toHaveLength(2)
    })
  )

  it.effect("[HTTP-26] no event id is given out twice, whatever was forgotten in between", () =>
    Effect.gen(function* () {
      const store = EventStore.make({ maximumAge: "1 minute", maximumEvents: 3 })
      const given: Array<number> = []
      for (let round = 0; round < 5; round++) {
        for (let times = 0; times < 2; times++) given.push(yield* store.append("s", "0", "standalone"))
        for (let times = 0; times < 5; times++) yield* store.append("s", `${round}`, "other")
        yield* TestClock.adjust("2 minutes")
      }
      expect(new Set(given).size).toBe(given.length)
      expect(given).toEqual(given.toSorted((a, b) => a - b))
      // An id from before says nothing about what came since.
      yield* store.append("s", "0", "new")
      expect(yield* store.after("s", "0", 1)).toBeUndefined()
      expect(messages(yield* store.after("s", "0", 0))).toEqual(["new"])
    })
  )

  it.effect("a GET without an event id is served although everything stored is gone", () =>
    Effect.gen(function* () {
      const tools = yield* Catalog.make([tool("one")])
      const server = McpServer.make({ name: "s", version: "1", tools })
      const host = yield* callers(server)
      const session = yield* host.initialize("ada")
      const headers = { "mcp-session-id": session.headers["mcp-session-id"] }
      yield* host.send("ada", "POST", { jsonrpc: "2.0", method: "notifications/initialized" }, headers)
      const stream = streamOf(yield* host.send("ada", "GET", undefined, headers))
      yield* tools.set(tool("two"))
      yield* settle
      expect(count(stream.take() ?? "", changed)).toBe(1)
      stream.gone()
      const seen = yield* read(streamOf(yield* host.send("ada", "GET", undefined, headers)))
      yield* tools.set(tool("three"))
      yield* settle
      expect(count(seen.text, changed)).toBe(1)
    }).pipe(Effect.provide(EventStore.layer({ maximumEvents: 0 })))
  )
})
