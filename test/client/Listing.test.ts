import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import type { McpClient } from "../../src/index.ts"
import { connectLegacy, connectModern } from "./scripted.ts"

const tool = (name: string) => ({ name, inputSchema: { type: "object" } })

const annotated = (name: string, type: string, header: string) => ({
  name,
  inputSchema: { type: "object", properties: { a: { type, "x-mcp-header": header } } }
})

const collect = (client: McpClient.Client) => Effect.forkScoped(Stream.runCollect(client.listTools))

describe("a list", () => {
  it.effect("[PAGE-01] [PAGE-05] is all pages, and ends where there is no cursor", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectLegacy()
      const fiber = yield* collect(client)
      const first = yield* peer.expectRequest("tools/list")
      expect(first.params?.cursor).toBeUndefined()
      yield* peer.respond(first, { tools: [tool("a"), tool("b")], nextCursor: "page 2" })
      const second = yield* peer.expectRequest("tools/list", { params: { cursor: "page 2" } })
      yield* peer.respond(second, { tools: [tool("c")] })
      expect((yield* Fiber.join(fiber)).map(({ name }) => name)).toEqual(["a", "b", "c"])
    })
  )

  it.effect("[PAGE-04] [BUG-100] goes on at an empty cursor", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectModern()
      const fiber = yield* collect(client)
      yield* peer.respond(yield* peer.expectRequest("tools/list"), { tools: [tool("a")], nextCursor: "" })
      yield* peer.respond(yield* peer.expectRequest("tools/list", { params: { cursor: "" } }), { tools: [tool("b")] })
      expect((yield* Fiber.join(fiber)).map(({ name }) => name)).toEqual(["a", "b"])
    })
  )

  it.effect("[PAGE-04] [BUG-102] ends at a cursor that is null", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectLegacy()
      const fiber = yield* collect(client)
      yield* peer.respond(yield* peer.expectRequest("tools/list"), { tools: [tool("a")], nextCursor: null })
      expect(yield* Fiber.join(fiber)).toHaveLength(1)
    })
  )

  it.effect("[PAGE-02] that comes round to the same cursor fails", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectLegacy()
      const fiber = yield* Effect.forkScoped(Effect.flip(Stream.runCollect(client.listPrompts)))
      for (const nextCursor of ["x", "y", "x"]) {
        yield* peer.respond(yield* peer.expectRequest("prompts/list"), { prompts: [], nextCursor })
      }
      expect((yield* Fiber.join(fiber)).reason).toMatchObject({ _tag: "DecodeFailure", message: /same cursor/ })
      yield* peer.expectNothing
    })
  )

  it.effect("has a limit of pages and one of items (limits.pages, limits.items)", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectLegacy({ limits: { pages: 2, items: 3 } })
      const resources = yield* Effect.forkScoped(Effect.flip(Stream.runCollect(client.listResources)))
      for (const nextCursor of ["1", "2"]) {
        yield* peer.respond(yield* peer.expectRequest("resources/list"), { resources: [], nextCursor })
      }
      expect((yield* Fiber.join(resources)).reason).toMatchObject({ _tag: "LimitExceeded", limit: "pages" })
      const tools = yield* Effect.forkScoped(Effect.flip(Stream.runCollect(client.listTools)))
      yield* peer.respond(yield* peer.expectRequest("tools/list"), { tools: ["a", "b", "c", "d"].map(tool) })
      expect((yield* Fiber.join(tools)).reason).toMatchObject({ _tag: "LimitExceeded", limit: "items" })
    })
  )

  it.effect("is fetched no further than it is read", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectLegacy()
      const fiber = yield* Effect.forkScoped(Stream.runCollect(Stream.take(client.listResourceTemplates, 1)))
      yield* peer.respond(yield* peer.expectRequest("resources/templates/list"), {
        resourceTemplates: [{ uriTemplate: "file:///{path}", name: "files" }],
        nextCursor: "more"
      })
      expect(yield* Fiber.join(fiber)).toHaveLength(1)
      yield* peer.expectNothing
    })
  )

  it.effect("[LIFE-11] of a legacy server that did not declare it is not asked for", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectLegacy({}, { capabilities: { tools: {} } })
      for (const list of [
        Stream.runDrain(client.listPrompts),
        Stream.runDrain(client.listResources),
        Stream.runDrain(client.listResourceTemplates)
      ]) {
        const { reason } = yield* Effect.flip(list)
        expect(reason).toMatchObject({ _tag: "Unsupported", message: /did not declare/ })
      }
      yield* peer.expectNothing
    })
  )

  it.effect(
    "[HDR-11] [HDR-08] [HDR-09] leaves out tools with an annotation that is not valid, from 2026-07-28 on",
    () =>
      Effect.gen(function* () {
        const tools = [
          annotated("good", "string", "Region"),
          annotated("object", "object", "Region"),
          annotated("blank", "string", "a b")
        ]
        const modern = yield* connectModern()
        const listing = yield* collect(modern.client)
        yield* modern.peer.respond(yield* modern.peer.expectRequest("tools/list"), { tools })
        expect((yield* Fiber.join(listing)).map(({ name }) => name)).toEqual(["good"])
        const { reason } = yield* Effect.flip(modern.client.callTool("blank", { a: "x" }))
        expect(reason).toMatchObject({ _tag: "Unsupported", message: /x-mcp-header/ })
        yield* modern.peer.expectNothing

        const legacy = yield* connectLegacy()
        const legacyListing = yield* collect(legacy.client)
        yield* legacy.peer.respond(yield* legacy.peer.expectRequest("tools/list"), { tools })
        expect(yield* Fiber.join(legacyListing)).toHaveLength(3)
      })
  )
})
