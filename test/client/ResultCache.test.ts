import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { Members } from "../../src/protocol/JsonRpc.ts"
import { connectModern, exchange } from "./scripted.ts"

const tool = { name: "t", inputSchema: { type: "object" } }
const page = (more: Members = {}): Members => ({ resultType: "complete", tools: [tool], ttlMs: 1000, ...more })
const contents = (uri: string, more: Members = {}): Members => ({
  contents: [{ uri, text: "x" }],
  ttlMs: 1000,
  cacheScope: "private",
  ...more
})

describe("a result that may be kept", () => {
  it.effect("[CACHE-03] [CACHE-08] is asked for again when its time is over, and not before", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      const list = Stream.runCollect(client.listTools)
      yield* exchange(peer, list, "tools/list", page())
      yield* TestClock.adjust("999 millis")
      expect(yield* list).toEqual([tool])
      yield* TestClock.adjust("1 millis")
      yield* peer.expectNothing
      const { value } = yield* exchange(peer, list, "tools/list", page({ tools: [] }))
      expect(value).toEqual([])
    })
  )

  it.effect("[CACHE-03] is not kept when its time is 0, negative or unsaid", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      for (const ttlMs of [0, -5, undefined]) {
        yield* exchange(peer, Stream.runCollect(client.listTools), "tools/list", page({ ttlMs }))
      }
      yield* exchange(peer, Stream.runCollect(client.listTools), "tools/list", page())
    })
  )

  it.effect("[CACHE-04] [CACHE-12] is kept for its own method and params: each page, each resource", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      const list = Stream.runCollect(client.listTools)
      const listing = yield* Effect.forkScoped(list)
      yield* peer.respond(yield* peer.expectRequest("tools/list"), page({ nextCursor: "2", ttlMs: 5000 }))
      yield* peer.respond(yield* peer.expectRequest("tools/list", { params: { cursor: "2" } }), page())
      yield* Fiber.join(listing)
      yield* TestClock.adjust("1 seconds")
      const again = yield* exchange(peer, list, "tools/list", page({ tools: [] }))
      expect(again.request.params?.cursor).toBe("2")
      expect(again.value).toEqual([tool])

      yield* exchange(peer, client.readResource("a://1"), "resources/read", contents("a://1"))
      const other = yield* exchange(peer, client.readResource("a://2"), "resources/read", contents("a://2"))
      expect(other.value.contents[0]?.uri).toBe("a://2")
      expect((yield* client.readResource("a://1")).contents[0]?.uri).toBe("a://1")
      yield* peer.expectNothing
    })
  )

  it.effect("[CACHE-05] [MRTR-20] is not kept when it took a question to get it", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      const fiber = yield* Effect.forkScoped(client.readResource("a://1"))
      yield* peer.respond(yield* peer.expectRequest("resources/read"), {
        resultType: "input_required",
        requestState: "s"
      })
      yield* peer.respond(yield* peer.expectRequest("resources/read"), contents("a://1"))
      yield* Fiber.join(fiber)
      yield* exchange(peer, client.readResource("a://1"), "resources/read", contents("a://1"))
    })
  )

  it.effect("[CACHE-10] is dropped when the server says that it has changed", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      const list = Stream.runCollect(client.listTools)
      yield* exchange(peer, list, "tools/list", page())
      yield* exchange(peer, client.readResource("a://1"), "resources/read", contents("a://1"))
      yield* exchange(peer, client.readResource("a://2"), "resources/read", contents("a://2"))
      yield* peer.notify("notifications/resources/updated", { uri: "a://1" })
      yield* client.readResource("a://2")
      yield* list
      yield* peer.expectNothing
      yield* exchange(peer, client.readResource("a://1"), "resources/read", contents("a://1"))
      yield* peer.notify("notifications/tools/list_changed")
      yield* exchange(peer, list, "tools/list", page())
    })
  )

  it.effect("is not kept when it was on its way while the change was told", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      const list = Stream.runCollect(client.listTools)
      const fiber = yield* Effect.forkScoped(list)
      const request = yield* peer.expectRequest("tools/list")
      yield* peer.notify("notifications/tools/list_changed")
      yield* peer.respond(request, page())
      yield* Fiber.join(fiber)
      yield* exchange(peer, list, "tools/list", page())
    })
  )

  it.effect("[CACHE-12] is dropped with its other pages when its cursor is no longer valid", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      const list = Stream.runCollect(client.listTools)
      const fiber = yield* Effect.forkScoped(Effect.flip(list))
      yield* peer.respond(yield* peer.expectRequest("tools/list"), page({ nextCursor: "2" }))
      yield* peer.refuse(yield* peer.expectRequest("tools/list"), -32602)
      expect((yield* Fiber.join(fiber)).reason).toMatchObject({ code: -32602 })
      const { request } = yield* exchange(peer, list, "tools/list", page())
      expect(request.params).not.toHaveProperty("cursor")
    })
  )

  it.effect("gives way to newer ones when the cache is full", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern({ cache: { capacity: 2 } })
      for (const uri of ["a://1", "a://2"]) {
        yield* exchange(peer, client.readResource(uri), "resources/read", contents(uri))
      }
      yield* client.readResource("a://1")
      yield* exchange(peer, client.readResource("a://3"), "resources/read", contents("a://3"))
      yield* client.readResource("a://1")
      yield* exchange(peer, client.readResource("a://2"), "resources/read", contents("a://2"))
    })
  )

  it.effect("is not kept when the client has no cache", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern({ cache: false })
      yield* exchange(peer, Stream.runCollect(client.listTools), "tools/list", page())
      yield* exchange(peer, Stream.runCollect(client.listTools), "tools/list", page())
    })
  )
})

describe("server/discover", () => {
  it.effect("[DISC-02] is kept from the probe on", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern({}, { ttlMs: 1000, instructions: "hi" })
      expect((yield* client.discover).instructions).toBe("hi")
      yield* peer.expectNothing
      yield* TestClock.adjust("1 seconds")
      const { value } = yield* exchange(peer, client.discover, "server/discover", {
        supportedVersions: ["2026-07-28"],
        capabilities: {}
      })
      expect(value.capabilities).toEqual({})
    })
  )
})
