/**
 * Shutting down: nothing new is taken, what is under way may end for a while, streams end as their revision asks.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { WebSocket as RawSocket } from "@effect/platform-node/NodeWS"
import { describe, expect, it } from "@effect/vitest"
import { Clock, Context, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { TestClock } from "effect/testing"
import { Catalog, InMemory, McpServer, Peer, Shutdown, Tool, Transport, WebSocket } from "mcp-effect"
import { Socket, StreamableHttp } from "mcp-effect/node"
import { createServer } from "node:http"
import { connect as dial } from "node:net"
import { Gate } from "../support/Gate.ts"
import { hosts } from "../support/HttpHosts.ts"
import { at, eras, legacy, modern, over, settle } from "../support/RawClient.ts"
import { rawRequest } from "../support/rawRequest.ts"
import { connect, RawHttp } from "../support/RawHttp.ts"

const serverOf = (gate: Gate) =>
  Effect.map(Catalog.make([Tool.handle(Tool.make("slow"), () => Effect.as(gate.work, "done"))]), (tools) =>
    McpServer.make({ name: "s", version: "1", tools, limits: { closing: "1 second" } })
  )

const listening = { notifications: { toolsListChanged: true } }

/** A server in memory, in a scope that the test closes. */
const inMemory = Effect.fnUntraced(function* (gate: Gate, options?: McpServer.LayerOptions) {
  const scope = yield* Scope.make()
  const served = McpServer.layer(yield* serverOf(gate), options).pipe(Layer.provideMerge(InMemory.layer))
  const context = yield* Layer.buildWithScope(served, scope)
  const { connect: open } = Context.get(context, Transport.ClientTransport)
  const close = Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
  return { open, close }
})

for (const era of eras) {
  describe(`closing McpServer.layer in ${era}`, () => {
    it.effect("lets a call under way end, refuses new ones, and then hangs up", () =>
      Effect.gen(function* () {
        const gate = new Gate()
        const { close, open } = yield* inMemory(gate)
        const client = yield* over(yield* open, { era })
        yield* client.start("tools/call", { name: "slow" }, "slow")
        yield* gate.started
        const closing = yield* close
        expect(yield* client.error("tools/call", { name: "slow" })).toMatchObject({
          code: -32603,
          message: expect.stringContaining("shutting down")
        })
        expect(closing.pollUnsafe()).toBeUndefined()
        yield* gate.open
        expect(at(yield* client.answerTo("slow"), "result", "content", 0, "text")).toBe("done")
        yield* Fiber.join(closing)
        expect(gate).toMatchObject({ begun: 1, finished: 1, stopped: 0 })
      })
    )

    it.effect("interrupts what is not done after the grace period, and answers nothing to it", () =>
      Effect.gen(function* () {
        const gate = new Gate()
        const { close, open } = yield* inMemory(gate, { gracePeriod: "3 seconds" })
        const client = yield* over(yield* open, { era })
        yield* client.start("tools/call", { name: "slow" }, "slow")
        yield* gate.started
        const closing = yield* close
        yield* TestClock.adjust("2999 millis")
        expect(gate.stopped).toBe(0)
        yield* TestClock.adjust("1 millis")
        yield* Fiber.join(closing)
        expect(gate).toMatchObject({ begun: 1, finished: 0, stopped: 1 })
        expect(client.received.some(({ id }) => id === "slow")).toBe(false)
      })
    )

    it.effect("serves nobody who comes later", () =>
      Effect.gen(function* () {
        const gate = new Gate()
        const { close, open } = yield* inMemory(gate)
        const client = yield* over(yield* open, { era })
        yield* client.start("tools/call", { name: "slow" })
        yield* gate.started
        const closing = yield* close
        const late = yield* open
        // Its end is told to it, though a call of another keeps the server up.
        yield* late.run(() => Effect.void)
        yield* gate.open
        yield* Fiber.join(closing)
      })
    )
  })
}

it.effect("[SUBS-09] [SUBS-10] a listener is told at once, not after the calls under way", () =>
  Effect.gen(function* () {
    const gate = new Gate()
    const { close, open } = yield* inMemory(gate)
    const client = yield* over(yield* open, { era: modern })
    yield* client.start("subscriptions/listen", listening, "listen")
    yield* client.nextCalled("notifications/subscriptions/acknowledged")
    yield* client.start("tools/call", { name: "slow" }, "slow")
    yield* gate.started
    const closing = yield* close
    expect(at(yield* client.answerTo("listen"), "result", "resultType")).toBe("complete")
    expect(at(yield* client.nextCalled("notifications/cancelled"), "params", "requestId")).toBe("listen")
    yield* gate.open
    yield* client.answerTo("slow")
    yield* Fiber.join(closing)
  })
)

it.effect("an answer that a call under way waits for still reaches it", () =>
  Effect.gen(function* () {
    const ask = Tool.handle(Tool.make("ask"), () => Effect.map(Peer.roots(), (roots) => `${roots.length} roots`))
    const scope = yield* Scope.make()
    const served = McpServer.layer(McpServer.make({ name: "s", version: "1", tools: [ask] })).pipe(
      Layer.provideMerge(InMemory.layer)
    )
    const context = yield* Layer.buildWithScope(served, scope)
    const { connect: open } = Context.get(context, Transport.ClientTransport)
    const client = yield* over(yield* open, { era: legacy, capabilities: { roots: {} } })
    yield* client.start("tools/call", { name: "ask" }, "ask")
    const question = yield* client.nextCalled("roots/list")
    const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
    yield* settle
    yield* client.answer(question, { roots: [{ uri: "file:///a" }] })
    expect(at(yield* client.answerTo("ask"), "result", "content", 0, "text")).toBe("1 roots")
    yield* Fiber.join(closing)
  })
)

it.live("[SUBS-10] over TCP: the call ends, the listener is told, nobody new is served", () =>
  Effect.gen(function* () {
    const gate = new Gate()
    const scope = yield* Scope.make()
    const served = McpServer.layer(yield* serverOf(gate)).pipe(
      Layer.provideMerge(Layer.orDie(Socket.layerServerTcp({ port: 0 })))
    )
    const { port } = Context.get(yield* Layer.buildWithScope(served, scope), Socket.Listening)
    const transport = yield* Layer.build(Socket.layerClientTcp({ port }))
    const client = yield* over(yield* Context.get(transport, Transport.ClientTransport).connect, { era: modern })
    yield* client.start("subscriptions/listen", listening, "listen")
    yield* client.nextCalled("notifications/subscriptions/acknowledged")
    yield* client.start("tools/call", { name: "slow" }, "slow")
    yield* gate.started
    const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
    yield* client.answerTo("listen")
    yield* client.nextCalled("notifications/cancelled")
    yield* Effect.callback<void>((resume) => {
      const late = dial({ port, host: "127.0.0.1" })
      late.on("error", () => {})
      late.on("close", () => resume(Effect.void))
      late.resume()
      late.end()
    })
    yield* gate.open
    yield* client.answerTo("slow")
    yield* Fiber.join(closing)
  })
)

for (const host of hosts) {
  describe(`shutting down ${host.name}`, () => {
    it.live("is not ready first, then takes nothing new, and lets what is under way end", () =>
      Effect.gen(function* () {
        const gate = new Gate()
        const scope = yield* Scope.make()
        const server = yield* serverOf(gate)
        const options = { readyPath: "/ready", drainDelay: "300 millis", gracePeriod: "1 minute" } as const
        const target = yield* Scope.provide(host.start(server, options), scope)
        const client = yield* connect(target, modern)
        const get = Effect.suspend(() => Effect.map(client.fetch("GET", { path: "/ready" }), ({ status }) => status))
        expect(yield* get).toBe(200)
        // Whoever asks a server by another name may know this, but nothing else.
        if (host.name !== "toWebHandler") {
          const url = new URL("/ready", target.url).href
          expect((yield* rawRequest(url, { method: "GET", headers: ["Host", "10.0.0.1"] })).body).toBe("ready")
        }
        const calling = Effect.flatMap(client.call("slow"), (reply) => reply.answer)
        const slow = yield* Effect.forkChild(calling)
        yield* gate.started
        yield* Scope.close(scope, Exit.void).pipe(Effect.forkDetach({ startImmediately: true }))
        if (host.name !== "layerRoute") {
          expect(yield* get).toBe(503)
          expect((yield* client.request("tools/list")).status).toBe(200)
          yield* Effect.sleep("400 millis")
          expect(yield* get).toBe(503)
          expect((yield* client.request("tools/list")).status).toBe(503)
        }
        yield* gate.open
        expect(at(yield* Fiber.join(slow), "result", "content", 0, "text")).toBe("done")
      })
    )
  })
}

describe("Shutdown.graceful", () => {
  it.live("[SUBS-09] ends all streams of an HttpRouter application before its server waits for them", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const server = yield* serverOf(gate)
      const scope = yield* Scope.make()
      const routes = Layer.mergeAll(
        StreamableHttp.layerRoute(server, { path: "/mcp", sse: {} }),
        WebSocket.layerRoute(server, { path: "/socket" })
      )
      const app = HttpRouter.serve(routes, { disableListenLog: true, disableLogger: true }).pipe(
        Shutdown.graceful,
        Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
      )
      const { address } = Context.get(yield* Layer.buildWithScope(app, scope), HttpServer.HttpServer)
      const authority = `127.0.0.1:${"port" in address ? address.port : 0}`
      const target = { url: `http://${authority}/mcp`, send: (request: Request) => fetch(request) }

      const listener = yield* (yield* connect(target, modern)).request("subscriptions/listen", listening)
      yield* listener.nextEvent
      const session = yield* connect(target, legacy)
      const standalone = yield* session.listen()
      yield* standalone.nextEvent
      const oldest = yield* new RawHttp(target.send, target.url, legacy).fetch("GET", {
        path: "/sse",
        headers: { accept: "text/event-stream" }
      })
      const socket = new RawSocket(`ws://${authority}/socket`, ["mcp"])
      const hungUp = new Promise<number>((resolve) => socket.once("close", resolve))
      yield* Effect.promise(() => new Promise((resolve) => socket.once("open", resolve)))
      const slow = yield* Effect.forkChild(Effect.flatMap(session.call("slow"), (reply) => reply.answer))
      yield* gate.started

      const began = yield* Clock.currentTimeMillis
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      expect(at(yield* listener.answer, "result", "resultType")).toBe("complete")
      yield* gate.open
      expect(at(yield* Fiber.join(slow), "result", "content", 0, "text")).toBe("done")
      yield* standalone.messages
      expect(yield* oldest.text).toContain("event: endpoint")
      expect(yield* Effect.promise(() => hungUp)).toBe(1001)
      yield* Fiber.join(closing)
      expect((yield* Clock.currentTimeMillis) - began).toBeLessThan(5_000)
    })
  )
})
