import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { McpClient, McpError } from "../../src/index.ts"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import { MetaKey, type SubscriptionFilter } from "../../src/protocol/index.ts"
import type { ScriptedPeer } from "../../src/testing/index.ts"
import { ClientTransport } from "../../src/transport/Transport.ts"
import { connectLegacy, connectModern, discovered, identity } from "./scripted.ts"

const acknowledge = (peer: ScriptedPeer.ScriptedPeer, id: JsonRpc.RequestId, notifications: SubscriptionFilter) =>
  peer.notify("notifications/subscriptions/acknowledged", {
    notifications,
    _meta: { [MetaKey.subscriptionId]: id }
  })

const tagged = (id: JsonRpc.RequestId, params: JsonRpc.Members = {}) => ({
  ...params,
  _meta: { [MetaKey.subscriptionId]: id }
})

const ignore = () => Effect.void

/** Opens a subscription, of which the server honours everything. */
const open = (peer: ScriptedPeer.ScriptedPeer, client: McpClient.Client, filter: McpClient.ChangeFilter) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const fiber = yield* Effect.forkScoped(Scope.provide(client.subscribe(filter), scope))
    const request = yield* peer.expectRequest("subscriptions/listen")
    yield* acknowledge(peer, request.id, request.params?.notifications as SubscriptionFilter)
    return { request, scope, changes: yield* Fiber.join(fiber) }
  })

const acknowledged = (id: JsonRpc.RequestId) =>
  JsonRpc.notification(
    "notifications/subscriptions/acknowledged",
    tagged(id, { notifications: { toolsListChanged: true } })
  )

const cut = Effect.fail(McpError.transport("The event stream ended"))

/** A client of a server that can be listened to and nothing else; `listen` says how that goes. */
const listenTo = (
  listen: (
    id: JsonRpc.RequestId,
    receive: (message: JsonRpc.Incoming) => Effect.Effect<void>
  ) => Effect.Effect<void, McpError>
) => {
  let receive: (message: JsonRpc.Incoming) => Effect.Effect<void> = ignore
  const transport = ClientTransport.of({
    connect: Effect.succeed({
      send: (message) => {
        if (!("method" in message) || !("id" in message)) return Effect.void
        return message.method === "server/discover"
          ? receive(JsonRpc.result(message.id, discovered()))
          : listen(message.id, receive)
      },
      run: (onMessage) => {
        receive = onMessage
        return Effect.never
      }
    })
  })
  return Effect.provideService(McpClient.make(identity), ClientTransport, transport)
}

describe("changes of a modern server", () => {
  it.effect("[SUBS-01] [SUBS-02] [SUBS-07] come by one request each, told apart by its id", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      const first = yield* open(peer, client, { tools: true, uris: ["a://1", "a://1"] })
      expect(first.request.params).toMatchObject({
        notifications: { toolsListChanged: true, resourceSubscriptions: ["a://1"] },
        _meta: { [MetaKey.protocolVersion]: "2026-07-28" }
      })
      const second = yield* open(peer, client, { tools: true, prompts: true, resources: true })
      yield* peer.notify("notifications/tools/list_changed", tagged(second.request.id))
      yield* peer.notify("notifications/tools/list_changed", tagged(first.request.id))
      yield* peer.notify("notifications/resources/updated", tagged(first.request.id, { uri: "a://1" }))
      yield* peer.notify("notifications/prompts/list_changed", tagged(second.request.id))
      yield* peer.notify("notifications/resources/list_changed", tagged(second.request.id))
      yield* peer.notify("notifications/tools/list_changed", tagged("nobody"))
      expect(yield* Stream.runCollect(Stream.take(first.changes, 2))).toEqual([
        { _tag: "ToolsChanged" },
        { _tag: "ResourceUpdated", uri: "a://1" }
      ])
      expect(yield* Stream.runCollect(Stream.take(second.changes, 3))).toEqual([
        { _tag: "ToolsChanged" },
        { _tag: "PromptsChanged" },
        { _tag: "ResourcesChanged" }
      ])
    })
  )

  it.effect("[SUBS-13] [CANC-06] end with their scope, which cancels the request", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      const { request, scope } = yield* open(peer, client, { tools: true })
      yield* TestClock.adjust("1 day")
      yield* peer.expectNothing
      yield* Scope.close(scope, Exit.void)
      yield* peer.expectNotification("notifications/cancelled", { params: { requestId: request.id } })
    })
  )

  it.effect("[SUBS-06] [SUBS-14] go on with what is acknowledged, and fail when that is nothing", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      const fiber = yield* Effect.forkScoped(
        Effect.scoped(Effect.flip(client.subscribe({ prompts: true, uris: ["a://1"] })))
      )
      const refused = yield* peer.expectRequest("subscriptions/listen")
      yield* acknowledge(peer, refused.id, {})
      expect((yield* Fiber.join(fiber)).reason).toMatchObject({
        _tag: "Unsupported",
        message: /promptsListChanged, a:\/\/1/
      })
      yield* peer.expectNotification("notifications/cancelled", { params: { requestId: refused.id } })
      const partly = yield* Effect.forkScoped(client.subscribe({ tools: true, prompts: true }))
      const taken = yield* peer.expectRequest("subscriptions/listen")
      yield* acknowledge(peer, taken.id, { toolsListChanged: true })
      yield* Fiber.join(partly)
    })
  )

  it.effect("[SUBS-09] end when the server ends them in good order", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      const { changes, request } = yield* open(peer, client, { tools: true })
      yield* peer.notify("notifications/tools/list_changed", tagged(request.id))
      yield* peer.respond(request, { resultType: "complete", _meta: { [MetaKey.subscriptionId]: request.id } })
      expect(yield* Stream.runCollect(changes)).toEqual([{ _tag: "ToolsChanged" }])
      yield* peer.expectNothing
    })
  )

  it.effect("[SUBS-10] end when the server cancels them instead", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      const { changes, request } = yield* open(peer, client, { tools: true })
      yield* peer.notify("notifications/cancelled", { requestId: request.id })
      expect(yield* Stream.runCollect(changes)).toEqual([])
    })
  )

  it.effect("fail when the server does not know the method", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      const fiber = yield* Effect.forkScoped(Effect.flip(Stream.runCollect(client.changes({ tools: true }))))
      yield* peer.refuse(yield* peer.expectRequest("subscriptions/listen"), -32601)
      expect((yield* Fiber.join(fiber)).reason).toMatchObject({ code: -32601 })
    })
  )

  it.effect("fail when the connection ends", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      const { changes } = yield* open(peer, client, { tools: true })
      yield* peer.close
      expect((yield* Effect.flip(Stream.runCollect(changes))).reason._tag).toBe("Closed")
    })
  )

  it.effect("[BUG-38] are asked for more and more rarely when the server cuts every stream as soon as it is open", () =>
    Effect.gen(function* () {
      let listens = 0
      const client = yield* listenTo((id, receive) => {
        listens++
        return Effect.andThen(receive(acknowledged(id)), Effect.andThen(Effect.yieldNow, cut))
      })
      yield* client.subscribe({ tools: true })
      yield* TestClock.adjust("10 minutes")
      expect(listens).toBeGreaterThan(15)
      expect(listens).toBeLessThan(30)
    })
  )

  it.effect("[SUBS-11] are listened to again when the stream was cut, with growing pauses, and not for ever", () =>
    Effect.gen(function* () {
      const listens: Array<{ readonly acknowledge: Effect.Effect<void>; readonly cut: () => void }> = []
      const client = yield* listenTo((id, receive) =>
        Effect.callback((resume) => {
          listens.push({ acknowledge: Effect.suspend(() => receive(acknowledged(id))), cut: () => resume(cut) })
        })
      )
      const last = () => listens.at(-1) as (typeof listens)[number]
      const acknowledgeLast = Effect.suspend(() => last().acknowledge)
      const fiber = yield* Effect.forkScoped(client.subscribe({ tools: true }))
      yield* Effect.yieldNow
      yield* acknowledgeLast
      const changes = yield* Fiber.join(fiber)
      const seen = yield* Effect.forkScoped(
        Effect.flip(Stream.runForEach(changes, (change) => Effect.logDebug(change)))
      )
      last().cut()
      yield* TestClock.adjust("499 millis")
      expect(listens).toHaveLength(1)
      yield* TestClock.adjust("200 millis")
      expect(listens).toHaveLength(2)
      yield* acknowledgeLast
      for (let attempt = 0; attempt < 7; attempt++) {
        last().cut()
        yield* TestClock.adjust("1 minute")
      }
      // Twice it was open; then six more times in vain, the last of which nobody waits for.
      expect(listens).toHaveLength(8)
      expect((yield* Fiber.join(seen)).reason._tag).toBe("TransportFailure")
    })
  )
})

describe("changes of a legacy server", () => {
  it.effect("[RES-09] come by themselves for lists, and by subscription for resources, asked for once", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectLegacy()
      const scope = yield* Scope.make()
      const first = yield* Effect.forkScoped(Scope.provide(client.subscribe({ tools: true, uris: ["a://1"] }), scope))
      yield* peer.respond(yield* peer.expectRequest("resources/subscribe", { params: { uri: "a://1" } }), {})
      const changes = yield* Fiber.join(first)
      const other = yield* Scope.make()
      yield* Scope.provide(client.subscribe({ uris: ["a://1"] }), other)
      yield* peer.notify("notifications/prompts/list_changed")
      yield* peer.notify("notifications/tools/list_changed")
      yield* peer.notify("notifications/resources/updated", { uri: "a://2" })
      yield* peer.notify("notifications/resources/updated", { uri: "a://1/part" })
      expect(yield* Stream.runCollect(Stream.take(changes, 2))).toEqual([
        { _tag: "ToolsChanged" },
        { _tag: "ResourceUpdated", uri: "a://1/part" }
      ])
      yield* Scope.close(other, Exit.void)
      yield* peer.expectNothing
      yield* Scope.close(scope, Exit.void)
      yield* peer.expectRequest("resources/unsubscribe", { params: { uri: "a://1" } })
    })
  )

  it.effect("[LIFE-11] of kinds that the server did not declare are not subscribed to", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectLegacy(
        {},
        { capabilities: { tools: {}, resources: { listChanged: true } } }
      )
      const { reason } = yield* Effect.flip(Stream.runCollect(client.changes({ tools: true, uris: ["a://1"] })))
      expect(reason).toMatchObject({ _tag: "Unsupported" })
      yield* Effect.scoped(client.subscribe({ resources: true, uris: ["a://1"] }))
      yield* peer.expectNothing
    })
  )

  it.effect("fail when the connection ends", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectLegacy()
      const changes = yield* client.subscribe({ tools: true })
      yield* peer.close
      expect((yield* Effect.flip(Stream.runCollect(changes))).reason._tag).toBe("Closed")
    })
  )
})
