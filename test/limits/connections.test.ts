/**
 * What one client may cost a server over a connection. Each test is named by the option that sets its limit.
 */
import { describe, expect, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Logger, Queue, Stream } from "effect"
import { TestClock } from "effect/testing"
import { InMemory, McpServer, Progress, Resource, Tool, Transport } from "mcp-effect"
import { Socket } from "mcp-effect/node"
import * as Net from "node:net"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import { OutputQueue } from "../../src/transport/OutputQueue.ts"
import { demo } from "../support/Demo.ts"
import { Gate } from "../support/Gate.ts"
import { at, legacy, modern, open, over, type RawClient, serve, settle } from "../support/RawClient.ts"
import { callers, jsonOf } from "./Callers.ts"

const { LimitExceeded } = JsonRpc.ErrorCode

/** Serves clients that the transport does not know: each comes over a link of its own. */
const strangers = (server: McpServer.McpServer<never>) =>
  Effect.gen(function* () {
    const arrivals = yield* Queue.unbounded<Transport.Connection>()
    const transport = Layer.succeed(Transport.ServerTransport, {
      run: (attend) =>
        Effect.scopedWith((scope) =>
          Effect.forever(
            Effect.flatMap(Queue.take(arrivals), (connection) =>
              Effect.forkIn(Effect.andThen(attend(connection), hangUp.get(connection) ?? Effect.void), scope)
            )
          )
        )
    })
    const hangUp = new Map<Transport.Connection, Effect.Effect<void>>()
    yield* Layer.build(McpServer.layer(server).pipe(Layer.provide(transport)))
    return Effect.gen(function* () {
      const link = yield* InMemory.link
      const connection = { ...link.server, trusted: false }
      const ended = yield* Deferred.make<void>()
      hangUp.set(connection, Effect.asVoid(Deferred.succeed(ended, undefined)))
      yield* Queue.offer(arrivals, connection)
      return { connection: link.client, isOver: Effect.sync(() => Deferred.isDoneUnsafe(ended)) }
    })
  })

/** Answers every ping. */
const answerPings = (client: RawClient) =>
  Effect.forkScoped(
    Effect.forever(
      Effect.flatMap(client.nextCalled("ping"), ({ id }) => client.send({ jsonrpc: "2.0", id, result: {} }))
    )
  )

describe("limits.handshake", () => {
  const quiet = Logger.layer([])
  it.effect("who does not introduce itself is hung up on; pings and strange requests are no introduction", () =>
    Effect.gen(function* () {
      const connect = yield* strangers(demo)
      const [silent, chatty, older, newer] = yield* Effect.all([connect, connect, connect, connect])
      const rude = yield* over(chatty.connection, { era: legacy, initialize: false })
      const first = yield* over(older.connection, { era: legacy })
      const second = yield* over(newer.connection, { era: modern })
      yield* second.result("tools/list")
      yield* TestClock.adjust("29 seconds")
      yield* rude.result("ping")
      yield* rude.error("tools/list")
      expect(yield* silent.isOver).toBe(false)
      yield* TestClock.adjust("1 second")
      expect([yield* silent.isOver, yield* chatty.isOver]).toEqual([true, true])
      yield* TestClock.adjust("10 minutes")
      for (const client of [first, second]) expect(yield* client.result("tools/list")).toHaveProperty("tools")
    }).pipe(Effect.provide(quiet))
  )

  it.live("over TCP", () =>
    Effect.gen(function* () {
      const server = McpServer.make({ name: "s", version: "1", limits: { handshake: "30 millis" } })
      const layer = McpServer.layer(server).pipe(Layer.provideMerge(Socket.layerServerTcp({ port: 0 })))
      const { port } = Context.get(yield* Layer.build(layer), Socket.Listening)
      yield* Effect.callback<void>((resume) => {
        const socket = Net.connect(port, "127.0.0.1")
        socket.resume()
        socket.on("end", () => resume(Effect.void))
        return Effect.sync(() => socket.destroy())
      })
    }).pipe(Effect.provide(quiet))
  )

  it.effect("over HTTP+SSE", () =>
    Effect.gen(function* () {
      const host = yield* callers({ ...demo, limits: { ...demo.limits, handshake: "10 seconds" } }, { sse: {} })
      const { body } = yield* host.send(undefined, "GET", undefined, {}, "/sse")
      if (typeof body !== "object") throw new Error("not a stream")
      yield* TestClock.adjust("9 seconds")
      expect(body.isOpen).toBe(true)
      yield* TestClock.adjust("1 second")
      expect(body.isOpen).toBe(false)
    })
  )
})

describe("limits.idle", () => {
  it.effect(
    "[BUG-129] a client up to 2025-11-25 is asked whether it is there, and hung up on when it does not say",
    () =>
      Effect.gen(function* () {
        const asking = yield* Deferred.make<void>()
        const over_ = yield* Deferred.make<void>()
        const Wait = Tool.handle(Tool.make("wait"), () =>
          Effect.as(
            Effect.ensuring(
              Effect.andThen(Deferred.succeed(asking, undefined), Effect.never),
              Deferred.succeed(over_, undefined)
            ),
            ""
          )
        )
        const server = McpServer.make({ name: "s", version: "1", tools: [Wait], limits: { idle: "10 minutes" } })
        const connect = yield* strangers(server)
        const [gone, there] = yield* Effect.all([connect, connect])
        const silent = yield* over(gone.connection, { era: legacy })
        const client = yield* over(there.connection, { era: legacy })
        yield* answerPings(client)
        yield* silent.start("tools/call", { name: "wait" })
        yield* Deferred.await(asking)
        yield* TestClock.adjust("12 minutes")
        yield* settle
        expect([yield* gone.isOver, yield* there.isOver]).toEqual([true, false])
        expect(silent.called("ping").length).toBe(3)
        yield* Deferred.await(over_)
        yield* TestClock.adjust("1 hour")
        expect(client.called("ping").length).toBeGreaterThan(3)
        expect(yield* client.result("tools/list")).toHaveProperty("tools")
      }).pipe(Effect.provide(Logger.layer([])))
  )

  it.effect("a later client is hung up on when nothing of it is under way", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const server = McpServer.make({
        name: "s",
        version: "1",
        tools: [Tool.handle(Tool.make("wait"), () => Effect.as(gate.work, ""))],
        limits: { idle: "10 minutes" }
      })
      const connect = yield* strangers(server)
      const [idle, busy] = yield* Effect.all([connect, connect])
      yield* (yield* over(idle.connection)).result("tools/list")
      const client = yield* over(busy.connection)
      yield* client.start("tools/call", { name: "wait" }, "w")
      yield* gate.started
      yield* TestClock.adjust("21 minutes")
      expect([yield* idle.isOver, yield* busy.isOver]).toEqual([true, false])
      yield* gate.open
      expect(yield* client.answerTo("w")).toHaveProperty("result")
    }).pipe(Effect.provide(Logger.layer([])))
  )

  it.effect("does not hold for who started this process, or lives in it", () =>
    Effect.gen(function* () {
      const link = yield* InMemory.layer.pipe(Layer.build)
      yield* Layer.build(McpServer.layer(demo).pipe(Layer.provide(Layer.succeedContext(link))))
      const connection = yield* Context.get(link, Transport.ClientTransport).connect
      const client = yield* over(connection as Transport.Connection)
      yield* TestClock.adjust("1 day")
      expect(yield* client.result("tools/list")).toHaveProperty("tools")
      yield* TestClock.adjust("1 day")
      expect(yield* client.result("tools/list")).toHaveProperty("tools")
    })
  )
})

/** A resource that can be watched, once the gate is open. */
const watchable = (gate: Gate, watched: { count: number }) =>
  Resource.template(
    "r://{name}",
    {
      name: "r",
      changes: () =>
        Effect.gen(function* () {
          yield* Effect.acquireRelease(
            Effect.sync(() => watched.count++),
            () => Effect.sync(() => watched.count--)
          )
          yield* gate.work
          return Stream.never
        })
    },
    ({ name }) => Effect.succeed(name)
  )

describe("limits.subscriptions", () => {
  const watching = (subscriptions: number) => {
    const gate = new Gate()
    const watched = { count: 0 }
    const resources = [watchable(gate, watched)]
    return { gate, watched, server: McpServer.make({ name: "s", version: "1", resources, limits: { subscriptions } }) }
  }

  it.effect("many at once are no way around it, and what was given up frees its place", () =>
    Effect.gen(function* () {
      const { gate, server, watched } = watching(3)
      const client = yield* open(server, { era: legacy })
      for (let index = 0; index < 10; index++) {
        yield* client.start("resources/subscribe", { uri: `r://${index}` }, index)
      }
      yield* settle
      expect(watched.count).toBe(3)
      for (let index = 3; index < 10; index++) {
        expect(at(yield* client.answerTo(index), "error", "code")).toBe(LimitExceeded)
      }
      yield* client.notify("notifications/cancelled", { requestId: 0 })
      yield* settle
      expect(watched.count).toBe(2)
      yield* client.start("resources/subscribe", { uri: "r://new" }, "new")
      yield* gate.open
      for (const id of [1, 2, "new"]) expect(yield* client.answerTo(id)).toMatchObject({ result: {} })
      expect(watched.count).toBe(3)
    })
  )

  it.effect("the same resource twice at once is watched once, also when the first is given up", () =>
    Effect.gen(function* () {
      const { gate, server, watched } = watching(3)
      const client = yield* open(server, { era: legacy })
      for (const id of [1, 2]) yield* client.start("resources/subscribe", { uri: "r://a" }, id)
      yield* settle
      expect(watched.count).toBe(1)
      yield* client.notify("notifications/cancelled", { requestId: 1 })
      yield* settle
      yield* gate.open
      expect(yield* client.answerTo(2)).toMatchObject({ result: {} })
      expect(watched.count).toBe(1)
      yield* client.result("resources/unsubscribe", { uri: "r://a" })
      yield* settle
      expect(watched.count).toBe(0)
    })
  )

  it.effect("a subscription that is ended before it stands is answered, and watches nothing", () =>
    Effect.gen(function* () {
      const { server, watched } = watching(3)
      const client = yield* open(server, { era: legacy })
      yield* client.start("resources/subscribe", { uri: "r://a" }, 1)
      yield* settle
      yield* client.result("resources/unsubscribe", { uri: "r://a" })
      expect(yield* client.answerTo(1)).toMatchObject({ result: {} })
      yield* settle
      expect(watched.count).toBe(0)
    })
  )

  it.effect("a resource that can't be watched fails the subscription, and hangs nobody", () =>
    Effect.gen(function* () {
      const broken = Resource.make("r:a", { name: "a", changes: Effect.die("broken") }, Effect.succeed("a"))
      const client = yield* open(McpServer.make({ name: "s", version: "1", resources: [broken] }), { era: legacy })
      for (let times = 0; times < 2; times++) {
        expect((yield* client.error("resources/subscribe", { uri: "r:a" })).code).toBe(-32603)
      }
    }).pipe(Effect.provide(Logger.layer([])))
  )

  it.effect("holds for each subscriptions/listen: 429 over HTTP, and nothing is watched", () =>
    Effect.gen(function* () {
      const { gate, server, watched } = watching(3)
      yield* gate.open
      const host = yield* callers(server)
      const listen = (count: number) => {
        const resourceSubscriptions = Array.from({ length: count }, (_, index) => `r://${index}`)
        return host.request("ada", "subscriptions/listen", { notifications: { resourceSubscriptions } })
      }
      const refused = yield* listen(4)
      expect(refused.status).toBe(429)
      expect(at(jsonOf(refused), "error", "code")).toBe(LimitExceeded)
      expect(watched.count).toBe(0)
      const { body, status } = yield* listen(3)
      expect(status).toBe(200)
      expect(typeof body === "object" ? yield* body.next : "").toContain("r://2")
    })
  )
})

describe("limits.listeners", () => {
  const filter = { notifications: { resourceSubscriptions: ["r://a"] } }
  const listening = () => {
    const gate = new Gate()
    const resources = [watchable(gate, { count: 0 })]
    const server = McpServer.make({ name: "s", version: "1", resources, limits: { listeners: 2 } })
    return Effect.as(gate.open, server)
  }

  it.effect("over a connection", () =>
    Effect.gen(function* () {
      const connect = yield* serve(yield* listening())
      const [client, other] = [yield* connect(), yield* connect()]
      for (const id of ["a", "b"]) yield* client.start("subscriptions/listen", filter, id)
      expect((yield* client.error("subscriptions/listen", filter)).code).toBe(LimitExceeded)
      expect(yield* client.result("resources/list")).toHaveProperty("resources")
      yield* other.start("subscriptions/listen", filter, 1)
      expect(yield* other.nextCalled("notifications/subscriptions/acknowledged")).toBeDefined()
      yield* client.notify("notifications/cancelled", { requestId: "a" })
      yield* settle
      yield* client.start("subscriptions/listen", filter, "c")
      yield* settle
      expect(client.called("notifications/subscriptions/acknowledged")).toHaveLength(3)
    })
  )

  it.effect("over HTTP, for each principal: 429", () =>
    Effect.gen(function* () {
      const host = yield* callers(yield* listening())
      const listen = (subject: string) => host.request(subject, "subscriptions/listen", filter)
      const [first, second, third] = [yield* listen("ada"), yield* listen("ada"), yield* listen("ada")]
      expect([first, second, third].map(({ status }) => status)).toEqual([200, 200, 429])
      expect(at(jsonOf(third), "error", "code")).toBe(LimitExceeded)
      expect((yield* listen("alan")).status).toBe(200)
      expect((yield* host.request("ada", "resources/list")).status).toBe(200)
      if (typeof first.body === "object") first.body.gone()
      yield* settle
      expect((yield* listen("ada")).status).toBe(200)
    })
  )
})

describe("maxQueuedCharacters", () => {
  it.effect("is what may wait to be written; a single message may be larger", () =>
    Effect.gen(function* () {
      const output = new OutputQueue({ maxQueuedCharacters: 100_000 })
      yield* Effect.forkScoped(output.offer("x".repeat(500_000)), { startImmediately: true })
      const overflow = yield* Effect.forkScoped(Effect.flip(output.overflow), { startImmediately: true })
      expect(overflow.pollUnsafe()).toBeUndefined()
      const limit = { reason: { _tag: "LimitExceeded", limit: "maxQueuedCharacters" } }
      expect(yield* Effect.flip(output.offer("y"))).toMatchObject(limit)
      expect(yield* Fiber.join(overflow)).toMatchObject(limit)
      expect(yield* Effect.flip(output.offer("z"))).toMatchObject(limit)
    })
  )

  it.live("a client that asks for much and reads nothing is hung up on; another is served", () =>
    Effect.gen(function* () {
      const Large = Tool.handle(Tool.make("large"), () => Effect.as(Effect.yieldNow, "x".repeat(1024 * 1024)))
      const server = McpServer.make({ name: "s", version: "1", tools: [Large] })
      const transport = Socket.layerServerTcp({ port: 0, maxQueuedCharacters: 4 * 1024 * 1024, closeTimeout: 50 })
      const layer = McpServer.layer(server).pipe(Layer.provideMerge(transport))
      const { port } = Context.get(yield* Layer.build(layer), Socket.Listening)
      const meta = {
        "io.modelcontextprotocol/protocolVersion": modern,
        "io.modelcontextprotocol/clientCapabilities": {}
      }
      const call = (id: number) =>
        `${JSON.stringify(JsonRpc.request(id, "tools/call", { name: "large", _meta: meta }))}\n`
      const ask = (calls: number, reads: boolean) =>
        Effect.callback<number>((resume) => {
          const socket = Net.connect(port, "127.0.0.1")
          let bytes = 0
          socket.on("data", (data) => {
            bytes += data.length
            if (reads && bytes > 1024 * 1024) resume(Effect.succeed(bytes))
          })
          if (!reads) {
            socket.pause()
            setTimeout(() => socket.resume(), 300)
          }
          socket.on("error", () => {})
          socket.on("close", () => resume(Effect.succeed(bytes)))
          for (let id = 0; id < calls; id++) socket.write(call(id))
          return Effect.sync(() => socket.destroy())
        })
      expect(yield* ask(200, false)).toBeLessThan(100 * 1024 * 1024)
      expect(yield* ask(1, true)).toBeGreaterThan(1024 * 1024)
    }).pipe(Effect.provide(Logger.layer([])))
  )
})

describe("log messages", () => {
  it.effect("of a handler that does not wait are left out while the client does not read", () =>
    Effect.gen(function* () {
      const reading = yield* Deferred.make<void>()
      const said: Array<string> = []
      const Chatty = Tool.handle(Tool.make("chatty"), () =>
        Effect.gen(function* () {
          for (let times = 0; times < 1000; times++) yield* Effect.logWarning(`message ${times}`)
          yield* Effect.forkDetach(Effect.asVoid(Deferred.succeed(reading, undefined)))
          yield* Progress.report({ progress: 1 })
          yield* Effect.logWarning("after")
          return "done"
        })
      )
      const server = McpServer.make({ name: "s", version: "1", tools: [Chatty] })
      const transport = Layer.succeed(Transport.ServerTransport, {
        run: (attend) =>
          attend({
            send: (message) =>
              Effect.andThen(
                Deferred.await(reading),
                Effect.sync(() => said.push(JsonRpc.stringify(message)))
              ),
            run: (onMessage) =>
              Effect.gen(function* () {
                const call = { name: "chatty", _meta: { progressToken: 1 } }
                const params = { protocolVersion: legacy, capabilities: {}, clientInfo: { name: "c", version: "1" } }
                yield* Effect.forkDetach(onMessage(JsonRpc.request(0, "initialize", params)))
                yield* Effect.forkDetach(onMessage(JsonRpc.request(1, "tools/call", call)))
                return yield* Effect.never
              })
          })
      })
      yield* Layer.build(McpServer.layer(server).pipe(Layer.provide(transport)))
      yield* Deferred.await(reading)
      yield* settle
      const logs = said.filter((text) => text.includes("notifications/message"))
      expect(logs).toHaveLength(65)
      expect(logs[0]).toContain("message 0")
      expect(logs.at(-1)).toContain("after")
      expect(said.at(-1)).toContain("done")
    })
  )
})
