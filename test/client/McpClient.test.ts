import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Logger, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { McpClient, McpError } from "../../src/index.ts"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import { MetaKey } from "../../src/protocol/index.ts"
import { ClientTransport } from "../../src/transport/Transport.ts"
import { connectLegacy, connectModern, exchange, identity, initialized } from "./scripted.ts"

const ignore = () => Effect.void

/** The level of log messages that a modern request asks for. */
const levelOf = ({ params }: JsonRpc.Request): unknown => {
  const meta = params?._meta as JsonRpc.Members | undefined
  return meta?.[MetaKey.logLevel]
}

/** An HTTP server, as far as a client can tell: sessions get lost when `lose` is called. */
const forgetful = () => {
  const sent: Array<string> = []
  let lost = false
  const transport = ClientTransport.of({
    connect: Effect.sync(() => {
      let receive: (message: JsonRpc.Incoming) => Effect.Effect<void> = ignore
      return {
        send: (message) => {
          if (!("method" in message)) return Effect.void
          sent.push(message.method)
          const isInitialize = message.method === "initialize"
          if (lost && !isInitialize) return Effect.fail(McpError.transport("gone", { status: 404 }))
          if (!("id" in message)) return Effect.void
          const answer = Effect.suspend(() => {
            if (isInitialize) lost = false
            return receive(JsonRpc.result(message.id, isInitialize ? initialized() : { content: [] }))
          })
          return Effect.andThen(Effect.yieldNow, answer)
        },
        run: (onMessage) => {
          receive = onMessage
          return Effect.never
        }
      }
    })
  })
  const client = Effect.provideService(McpClient.make({ ...identity, prior: "legacy" }), ClientTransport, transport)
  return {
    client,
    sent,
    lose: () => {
      lost = true
      sent.length = 0
    }
  }
}

describe("what a server tells by itself", () => {
  it.effect("is in the stream of notifications, until the connection ends", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectLegacy()
      const fiber = yield* Effect.forkScoped(Stream.runCollect(client.notifications), { startImmediately: true })
      yield* Effect.yieldNow
      yield* peer.notify("notifications/tools/list_changed")
      yield* peer.notify("notifications/made/up", {})
      yield* peer.notify("notifications/message", { level: "shouting", data: 1 })
      yield* peer.notify("notifications/message", { level: "error", data: { a: 1 }, logger: "db" })
      yield* peer.close
      expect(yield* Fiber.join(fiber)).toEqual([
        { method: "notifications/tools/list_changed", params: {} },
        { method: "notifications/message", params: { level: "error", data: { a: 1 }, logger: "db" } }
      ])
      expect((yield* client.ended).reason._tag).toBe("Closed")
    })
  )

  it.effect("[BUG-26] [BASE-09] about the connection is logged, and calls that wait are not touched", () => {
    const logged: Array<unknown> = []
    const logger = Logger.make(({ logLevel, message }) => void logged.push([logLevel, message]))
    return Effect.gen(function* () {
      const { client, peer } = yield* connectLegacy()
      const fiber = yield* Effect.forkScoped(client.callTool("slow"))
      const call = yield* peer.expectRequest("tools/call")
      yield* peer.sendRaw('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}')
      yield* peer.sendRaw('{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}')
      yield* peer.sendRaw('{"jsonrpc":"2.0","id":99,"result":{}}')
      yield* peer.sendRaw('{"jsonrpc":"2.0","result":{}}')
      yield* peer.respond(call, { content: [] })
      expect(yield* Fiber.join(fiber)).toEqual({ content: [] })
      expect(logged).toHaveLength(2)
      expect(logged[0]).toEqual(["Warn", [expect.stringContaining("no request"), expect.anything()]])
    }).pipe(Effect.provide(Logger.layer([logger])))
  })
})

describe("an answer with an id that only looks like that of the request", () => {
  it.effect("[BUG-21] [BUG-23] [BASE-06] answers nothing: the right one does, or the time limit", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectLegacy({ timeout: "5 seconds" })
      const answered = yield* Effect.forkScoped(client.callTool("a"))
      const { id } = yield* peer.expectRequest("tools/call")
      for (const other of [`${id}`, "", " ", `0x${id}`]) {
        yield* peer.send({ jsonrpc: "2.0", id: other, result: { content: [{ type: "text", text: other }] } })
      }
      yield* peer.send({ jsonrpc: "2.0", id, result: { content: [] } })
      expect(yield* Fiber.join(answered)).toEqual({ content: [] })

      const unanswered = yield* Effect.forkScoped(Effect.flip(client.callTool("b")))
      const request = yield* peer.expectRequest("tools/call")
      yield* peer.send({ jsonrpc: "2.0", id: `${request.id}`, result: { content: [] } })
      yield* TestClock.adjust("5 seconds")
      expect((yield* Fiber.join(unanswered)).reason._tag).toBe("Timeout")
    })
  )
})

describe("logs", () => {
  it.effect("[LOG-02] [LOG-05] of a legacy server are set for the session", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectLegacy()
      const { request } = yield* exchange(peer, client.setLogLevel("warning"), "logging/setLevel", {})
      expect(request.params).toEqual({ level: "warning" })
      const fiber = yield* Effect.forkScoped(Stream.runCollect(Stream.take(client.logs, 1)), {
        startImmediately: true
      })
      yield* Effect.yieldNow
      yield* peer.notify("notifications/message", { level: "error", data: "x" })
      expect(yield* Fiber.join(fiber)).toEqual([{ level: "error", data: "x" }])
    })
  )

  it.effect("[META-13] of a modern server are asked for with every request, or with one", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      const call = (options: McpClient.RequestOptions = {}) =>
        Effect.map(exchange(peer, client.callTool("t", {}, options), "tools/call", { content: [] }), ({ request }) =>
          levelOf(request)
        )
      expect(yield* call()).toBeUndefined()
      yield* client.setLogLevel("warning")
      expect(yield* call()).toBe("warning")
      expect(yield* call({ logLevel: "debug" })).toBe("debug")
      yield* client.setLogLevel(undefined)
      expect(yield* call()).toBeUndefined()
      yield* peer.expectNothing
    })
  )

  it.effect("[LIFE-11] of a legacy server without logging are not asked for", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectLegacy({}, { capabilities: {} })
      expect((yield* Effect.flip(client.setLogLevel("info"))).reason._tag).toBe("Unsupported")
      yield* peer.expectNothing
    })
  )
})

describe("requests of one era", () => {
  it.effect("[VER-14] are not sent in the other", () =>
    Effect.gen(function* () {
      const modern = yield* connectModern()
      expect((yield* Effect.flip(modern.client.ping)).reason._tag).toBe("Unsupported")
      yield* modern.peer.expectNothing
      const legacy = yield* connectLegacy()
      expect((yield* Effect.flip(legacy.client.discover)).reason._tag).toBe("Unsupported")
      yield* legacy.peer.expectNothing
      yield* exchange(legacy.peer, legacy.client.ping, "ping", {})
    })
  )

  it.effect("[COMP-02] [COMP-03] complete is the same in both", () =>
    Effect.gen(function* () {
      for (const connect of [connectLegacy, connectModern]) {
        const { client, peer } = yield* connect()
        const complete = client.complete(
          { type: "ref/prompt", name: "p" },
          { name: "language", value: "py" },
          { framework: "flask" }
        )
        const { request, value } = yield* exchange(peer, complete, "completion/complete", {
          completion: { values: ["python"], hasMore: false }
        })
        expect(value).toEqual({ values: ["python"], hasMore: false })
        expect(request.params).toMatchObject({
          ref: { type: "ref/prompt", name: "p" },
          argument: { name: "language", value: "py" },
          context: { arguments: { framework: "flask" } }
        })
      }
    })
  )

  it.effect("[META-10] carry what the caller puts into _meta, but not in place of the protocol's own", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      const meta = { "com.example/x": 1, [MetaKey.protocolVersion]: "1999-01-01" }
      const { request } = yield* exchange(peer, client.callTool("t", {}, { meta }), "tools/call", { content: [] })
      expect(request.params?._meta).toMatchObject({ "com.example/x": 1, [MetaKey.protocolVersion]: "2026-07-28" })
    })
  )

  it.effect("[BASE-04] [BASE-05] have ids of their own", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      const ids = new Set<JsonRpc.RequestId>()
      for (let call = 0; call < 5; call++) {
        const { request } = yield* exchange(peer, client.callTool("t"), "tools/call", { content: [] })
        ids.add(request.id)
      }
      expect(ids.size).toBe(5)
    })
  )

  it.effect("are retried once in a revision that a -32022 lists", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      const fiber = yield* Effect.forkScoped(Effect.flip(client.callTool("t")))
      for (let time = 0; time < 2; time++) {
        yield* peer.refuse(yield* peer.expectRequest("tools/call"), -32022, "Unsupported", {
          supported: ["2026-07-28"],
          requested: "2026-07-28"
        })
      }
      expect((yield* Fiber.join(fiber)).reason).toMatchObject({ code: -32022 })
      yield* peer.expectNothing
    })
  )
})

describe("a connection", () => {
  it.effect("that ends fails what waits and what comes later, once", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectLegacy()
      const calls = [client.callTool("a"), client.callTool("b")]
      const fibers = yield* Effect.forEach(calls, (call) => Effect.forkScoped(Effect.flip(call)))
      yield* peer.expectRequest("tools/call")
      yield* peer.expectRequest("tools/call")
      yield* peer.close
      for (const fiber of fibers) expect((yield* Fiber.join(fiber)).reason._tag).toBe("Closed")
      expect((yield* Effect.flip(client.callTool("c"))).reason._tag).toBe("Closed")
    })
  )

  it.effect("lives as long as the scope of its client", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { client, peer } = yield* Scope.provide(connectModern(), scope)
      const fiber = yield* Effect.forkScoped(Effect.flip(client.callTool("a")))
      yield* peer.expectRequest("tools/call")
      yield* Scope.close(scope, Exit.void)
      expect((yield* Fiber.join(fiber)).reason._tag).toBe("Closed")
      yield* peer.closed
    })
  )

  it.effect("that can't be opened fails the layer", () =>
    Effect.gen(function* () {
      const transport = ClientTransport.of({ connect: Effect.fail(McpError.transport("no such program")) })
      const layer = Layer.provide(McpClient.layer(identity), Layer.succeed(ClientTransport, transport))
      const error = yield* Effect.flip(Effect.scoped(Layer.build(layer)))
      expect(error.reason).toMatchObject({ _tag: "TransportFailure", message: "no such program" })
    })
  )
})

describe("a legacy session that the server has forgotten", () => {
  it.effect("[HTTP-32] [BUG-30] is opened anew, once for all who need it, and the calls are made again", () =>
    Effect.gen(function* () {
      const { client, lose, sent } = forgetful()
      const connected = yield* client
      yield* connected.setLogLevel("error")
      yield* connected.subscribe({ uris: ["a://1"] })
      lose()
      yield* Effect.all([connected.callTool("a"), connected.callTool("b")], { concurrency: "unbounded" })
      expect(sent.filter((method) => method === "initialize")).toHaveLength(1)
      expect(sent.slice(sent.indexOf("notifications/initialized"))).toEqual([
        "notifications/initialized",
        "logging/setLevel",
        "resources/subscribe",
        "tools/call",
        "tools/call"
      ])
    })
  )
})
