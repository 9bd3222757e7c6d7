/**
 * Being told of changes: `subscriptions/listen` from 2026-07-28, session-wide notifications and `resources/subscribe`
 * before.
 */
import { describe, expect, it } from "@effect/vitest"
import { Context, Deferred, Effect, Exit, Layer, PubSub, Scope, Stream } from "effect"
import { Catalog, InMemory, McpServer, type Middleware, Progress, Resource, Tool, Transport } from "mcp-effect"
import type { Json } from "../protocol/OfficialSchema.ts"
import { at, legacy, modern, modernMeta, over, serve, settle } from "../support/RawClient.ts"

const tool = (name: string) => Tool.handle(Tool.make(name), () => Effect.succeed(name))
const idKey = "io.modelcontextprotocol/subscriptionId"

const toolsChanged = "notifications/tools/list_changed"
const resourcesChanged = "notifications/resources/list_changed"
const updated = "notifications/resources/updated"
const acknowledged = "notifications/subscriptions/acknowledged"

/** A server where tools, resources and the resource `r:u` can change. */
const changing = Effect.gen(function* () {
  const tools = yield* Catalog.make([tool("one")])
  const pubsub = yield* PubSub.unbounded<void>()
  const running = { count: 0 }
  const changes = Stream.unwrap(Effect.map(PubSub.subscribe(pubsub), Stream.fromSubscription)).pipe((stream) =>
    Stream.unwrap(
      Effect.map(
        Effect.acquireRelease(
          Effect.sync(() => running.count++),
          () => Effect.sync(() => running.count--)
        ),
        () => stream
      )
    )
  )
  const resources = yield* Catalog.make<Resource.Any<never>>([
    Resource.make("r:u", { name: "u", changes }, Effect.succeed("u")),
    Resource.make("r:still", { name: "still" }, Effect.succeed("still"))
  ])
  return {
    server: McpServer.make({ name: "s", version: "1", tools, resources }),
    running,
    changeTools: tools.set(tool("two")),
    changeResources: resources.set(Resource.make("r:new", { name: "new" }, Effect.succeed(""))),
    updateU: Effect.asVoid(PubSub.publish(pubsub, undefined))
  }
})

const listen = (notifications: Json) => ({ notifications })

/** What came after a point, as method and subscription id. */
const since = (messages: ReadonlyArray<Json>, start: number) =>
  messages.slice(start).map((message) => [message.method, at(message, "params", "_meta", idKey)])

describe("subscriptions/listen", () => {
  it.effect("does not keep a server from ending with its input [STDIO-09]", () =>
    Effect.gen(function* () {
      const { running, server } = yield* changing
      const heard = yield* Deferred.make<void>()
      const ended = yield* Deferred.make<void>()
      const connection: Transport.Connection = {
        send: () => Effect.asVoid(Deferred.succeed(heard, undefined)),
        run: (onMessage) =>
          Effect.andThen(
            onMessage({
              jsonrpc: "2.0",
              id: 1,
              method: "subscriptions/listen",
              params: { notifications: { resourceSubscriptions: ["r:u"] }, _meta: modernMeta() }
            }),
            Deferred.await(heard)
          ),
        readsAfterEnd: true
      }
      const transport = Layer.succeed(Transport.ServerTransport, {
        run: (serve) => Effect.andThen(serve(connection), Deferred.succeed(ended, undefined))
      })
      yield* Layer.build(Layer.provide(McpServer.layer(server), transport))
      // The clock stands still: whoever waited for a while would wait for ever.
      yield* Deferred.await(ended)
      expect(running.count).toBe(0)
    })
  )

  it.effect("[SUBS-04][META-18][BUG-147] the acknowledgement is first and says what is honoured", () =>
    Effect.gen(function* () {
      const { server } = yield* changing
      const client = yield* (yield* serve(server))()
      yield* client.start(
        "subscriptions/listen",
        listen({
          toolsListChanged: true,
          promptsListChanged: true,
          resourcesListChanged: false,
          resourceSubscriptions: ["r:u", "r:none", "r:u", "r:still"]
        }),
        "s1"
      )
      expect(client.received).toEqual([
        {
          jsonrpc: "2.0",
          method: acknowledged,
          params: {
            notifications: { toolsListChanged: true, resourceSubscriptions: ["r:u"] },
            _meta: { [idKey]: "s1" }
          }
        }
      ])
    })
  )

  it.effect("[SUBS-03][META-18][RES-10][BUG-147] each listener gets what it asked for, under its own id", () =>
    Effect.gen(function* () {
      const { changeResources, changeTools, server, updateU } = yield* changing
      const client = yield* (yield* serve(server))()
      yield* client.start("subscriptions/listen", listen({ toolsListChanged: true }), "s1")
      yield* client.start("subscriptions/listen", listen({ toolsListChanged: true, resourceSubscriptions: ["r:u"] }), 2)
      yield* settle
      const start = client.received.length
      yield* changeTools
      yield* settle
      expect(new Set(since(client.received, start).map(String))).toEqual(
        new Set([`${toolsChanged},s1`, `${toolsChanged},2`])
      )
      const ids = client.called(toolsChanged).map((message) => at(message, "params", "_meta", idKey))
      expect(ids).toContain("s1")
      expect(ids).toContain(2)
      const next = client.received.length
      yield* updateU
      yield* changeResources
      yield* settle
      expect(since(client.received, next)).toEqual([[updated, 2]])
      expect(at(client.called(updated)[0], "params", "uri")).toBe("r:u")
    })
  )

  it.effect("[BUG-147][SUBS-13] cancelling one listener leaves the other", () =>
    Effect.gen(function* () {
      const { changeTools, running, server, updateU } = yield* changing
      const client = yield* (yield* serve(server))()
      yield* client.start(
        "subscriptions/listen",
        listen({ toolsListChanged: true, resourceSubscriptions: ["r:u"] }),
        "s1"
      )
      yield* client.start("subscriptions/listen", listen({ toolsListChanged: true }), "s2")
      yield* settle
      expect(running.count).toBe(1)
      yield* client.notify("notifications/cancelled", { requestId: "s1" })
      yield* settle
      expect(running.count).toBe(0)
      const start = client.received.length
      yield* changeTools
      yield* updateU
      yield* settle
      expect(since(client.received, start)).toEqual([[toolsChanged, "s2"]])
    })
  )

  it.effect("[BUG-147] no change is lost around the acknowledgement", () =>
    Effect.gen(function* () {
      const { changeTools, server, updateU } = yield* changing
      const connect = yield* serve(server)
      // Whoever changes something when the acknowledgement arrives has been listening since then.
      const client = yield* connect()
      const seen = yield* Effect.forkScoped(
        Effect.andThen(client.nextCalled(acknowledged), Effect.andThen(updateU, changeTools)),
        { startImmediately: true }
      )
      yield* client.start("subscriptions/listen", listen({ toolsListChanged: true, resourceSubscriptions: ["r:u"] }), 1)
      yield* settle
      expect(seen.pollUnsafe()).toBeDefined()
      expect(client.called(updated)).toHaveLength(1)
      expect(client.called(toolsChanged)).toHaveLength(1)
    })
  )

  it.effect("[BUG-146] where nothing can be honoured the request ends at once", () =>
    Effect.gen(function* () {
      const server = McpServer.make({ name: "s", version: "1", tools: [tool("one")] })
      const client = yield* (yield* serve(server))()
      yield* client.start(
        "subscriptions/listen",
        listen({ toolsListChanged: true, resourceSubscriptions: ["a:b"] }),
        "s"
      )
      const answer = yield* client.answerTo("s")
      expect(answer.result).toMatchObject({ resultType: "complete", _meta: { [idKey]: "s" } })
      expect(client.received[0]).toMatchObject({ method: acknowledged, params: { notifications: {} } })
      yield* client.start("subscriptions/listen", listen({}), "t")
      expect((yield* client.answerTo("t")).result).toMatchObject({ resultType: "complete" })
    })
  )

  it.effect("[SUBS-08][LOG-03] no progress and no logs on a listen stream", () =>
    Effect.gen(function* () {
      const { changeTools, server } = yield* changing
      const noise = Effect.andThen(Progress.report({ progress: 1 }), Effect.logError("loud"))
      const noisy = {
        ...server,
        middleware: [((_, next) => Effect.andThen(noise, next)) satisfies Middleware.Middleware]
      }
      const client = yield* (yield* serve(noisy))()
      const _meta = { progressToken: 1 }
      yield* client.start("subscriptions/listen", { ...listen({ toolsListChanged: true }), _meta }, "s")
      yield* changeTools
      yield* client.result("tools/list")
      yield* settle
      expect(client.called("notifications/message")).toEqual([])
      expect(client.called("notifications/progress")).toEqual([])
    })
  )

  it.effect("a filter that is missing or malformed is refused", () =>
    Effect.gen(function* () {
      const { server } = yield* changing
      const client = yield* (yield* serve(server))()
      for (const params of [{}, { notifications: null }, { notifications: { toolsListChanged: "yes" } }]) {
        expect((yield* client.error("subscriptions/listen", params)).code).toBe(-32602)
      }
    })
  )

  it.effect("[SUBS-10][CANC-07][BUG-127] at shutdown a listener gets its result, then the cancellation", () =>
    Effect.gen(function* () {
      const { server } = yield* changing
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(
        McpServer.layer(server).pipe(Layer.provideMerge(InMemory.layer)),
        scope
      )
      const client = yield* over(yield* Context.get(context, Transport.ClientTransport).connect, { era: modern })
      yield* client.start("subscriptions/listen", listen({ toolsListChanged: true }), "s")
      yield* client.nextCalled(acknowledged)
      yield* Scope.close(scope, Exit.void)
      yield* settle
      expect(client.received.slice(1)).toEqual([
        {
          jsonrpc: "2.0",
          id: "s",
          result: {
            resultType: "complete",
            _meta: { [idKey]: "s", "io.modelcontextprotocol/serverInfo": { name: "s", version: "1" } }
          }
        },
        { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "s" } }
      ])
    })
  )

  it.effect("[SUBS-12] a new connection starts with no subscriptions", () =>
    Effect.gen(function* () {
      const { changeTools, running, server, updateU } = yield* changing
      const connect = yield* serve(server)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const first = yield* connect()
          yield* first.start("subscriptions/listen", listen({ resourceSubscriptions: ["r:u"] }), 1)
          yield* settle
          expect(running.count).toBe(1)
        })
      )
      yield* settle
      expect(running.count).toBe(0)
      const second = yield* connect()
      yield* changeTools
      yield* updateU
      yield* settle
      expect(second.received).toEqual([])
    })
  )
})

describe("changes in 2025-11-25", () => {
  it.effect("every initialized client is told once of a list that changed, and of nothing before that", () =>
    Effect.gen(function* () {
      const { changeTools, server } = yield* changing
      const connect = yield* serve(server)
      const early = yield* connect({ era: legacy, initialize: false })
      const [one, other] = [yield* connect({ era: legacy }), yield* connect({ era: legacy })]
      yield* changeTools
      yield* settle
      for (const client of [one, other]) expect(client.called(toolsChanged)).toHaveLength(1)
      expect(early.received).toEqual([])
      expect(one.called(resourcesChanged)).toEqual([])
    })
  )

  it.effect("resources/subscribe runs the changes once, until unsubscribe", () =>
    Effect.gen(function* () {
      const { running, server, updateU } = yield* changing
      const connect = yield* serve(server)
      const [client, other] = [yield* connect({ era: legacy }), yield* connect({ era: legacy })]
      for (let times = 0; times < 2; times++) {
        expect(yield* client.result("resources/subscribe", { uri: "r:u" })).toEqual({})
      }
      expect(running.count).toBe(1)
      yield* updateU
      yield* settle
      expect(client.called(updated)).toEqual([{ jsonrpc: "2.0", method: updated, params: { uri: "r:u" } }])
      expect(yield* client.result("resources/unsubscribe", { uri: "r:u" })).toEqual({})
      expect(yield* client.result("resources/unsubscribe", { uri: "r:u" })).toEqual({})
      expect(running.count).toBe(0)
      yield* updateU
      yield* settle
      expect(client.called(updated)).toHaveLength(1)
      expect(other.called(updated)).toEqual([])
      expect((yield* client.error("resources/subscribe", { uri: "r:none" })).code).toBe(-32002)
    })
  )

  it.effect("limits.subscriptions: one client may not subscribe to more", () =>
    Effect.gen(function* () {
      const { server } = yield* changing
      const client = yield* (yield* serve({ ...server, limits: { ...server.limits, subscriptions: 1 } }))({
        era: legacy
      })
      expect(yield* client.result("resources/subscribe", { uri: "r:u" })).toEqual({})
      expect((yield* client.error("resources/subscribe", { uri: "r:still" })).message).toContain("at most 1")
      yield* client.result("resources/unsubscribe", { uri: "r:u" })
      expect(yield* client.result("resources/subscribe", { uri: "r:still" })).toEqual({})
    })
  )
})
