/**
 * What all lists have in common: pages, cursors and cache hints.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { CallContext, Catalog, McpServer, Prompt, PromptMessage, Resource, Tool } from "mcp-effect"
import * as ServerPeer from "../../src/server/ServerPeer.ts"
import * as ServerRuntime from "../../src/server/ServerRuntime.ts"
import * as InMemory from "../../src/transport/InMemory.ts"
import type { Json } from "../protocol/OfficialSchema.ts"
import { demo } from "../support/Demo.ts"
import { at, eras, legacy, modern, open, over, type RawClient } from "../support/RawClient.ts"

const names = ["c", "a", "b"]
const tool = (name: string) => Tool.handle(Tool.make(name), () => Effect.succeed(name))

const ofPages = (pageSize: number, cache: McpServer.Options["cache"] = {}) =>
  McpServer.make({
    name: "pages",
    version: "1",
    pageSize,
    cache,
    tools: names.map(tool),
    prompts: names.map((name) => Prompt.make(name, {}, () => Effect.succeed([PromptMessage.user(name)]))),
    resources: [
      ...names.map((name) => Resource.make(`r:${name}`, { name }, Effect.succeed(name))),
      ...names.map((name) => Resource.template(`t:${name}/{x}`, { name }, () => Effect.succeed(name)))
    ]
  })

const lists = [
  ["tools/list", "tools"],
  ["prompts/list", "prompts"],
  ["resources/list", "resources"],
  ["resources/templates/list", "resourceTemplates"]
] as const

/** Every page of a list, and the names on it. */
const pages = (client: RawClient, method: string, member: string) =>
  Effect.gen(function* () {
    const found: Array<{ readonly result: Json; readonly names: ReadonlyArray<unknown> }> = []
    let cursor: unknown
    do {
      const result: Json = yield* client.result(method, cursor === undefined ? {} : { cursor })
      found.push({ result, names: (result[member] as ReadonlyArray<Json>).map(({ name }) => name) })
      cursor = result.nextCursor
    } while (cursor !== undefined)
    return found
  })

for (const era of eras) {
  describe(`lists in ${era}`, () => {
    it.effect("[PAGE-01][BUG-102] every list comes in pages, in order, and the last page has no cursor", () =>
      Effect.gen(function* () {
        for (const [size, expected] of [
          [10, [["c", "a", "b"]]],
          [3, [["c", "a", "b"]]],
          [2, [["c", "a"], ["b"]]],
          [1, [["c"], ["a"], ["b"]]]
        ] as const) {
          const client = yield* open(ofPages(size), { era })
          for (const [method, member] of lists) {
            const all = yield* pages(client, method, member)
            expect(all.map((page) => page.names)).toEqual(expected)
            expect(all.at(-1)?.result).not.toHaveProperty("nextCursor")
          }
        }
      })
    )

    it.effect("[PAGE-01][BUG-102] a cursor that the list did not give out is refused", () =>
      Effect.gen(function* () {
        const client = yield* open(ofPages(1), { era })
        for (const [method] of lists) {
          for (const cursor of ["garbage", "", "Z2FyYmFnZQ", "../..", 7, {}]) {
            expect((yield* client.error(method, { cursor })).code).toBe(-32602)
          }
        }
        const ofTools = (yield* client.result("tools/list")).nextCursor
        expect((yield* client.error("resources/list", { cursor: ofTools })).code).toBe(-32602)
      })
    )

    it.effect("a cursor stays good while other entries come and go", () =>
      Effect.gen(function* () {
        const tools = yield* Catalog.make(names.map(tool))
        const client = yield* open(McpServer.make({ name: "s", version: "1", pageSize: 2, tools }), { era })
        const { nextCursor } = yield* client.result("tools/list")
        yield* tools.remove("c")
        yield* tools.set(tool("d"))
        const rest = yield* client.result("tools/list", { cursor: nextCursor })
        expect((rest.tools as ReadonlyArray<Json>).map(({ name }) => name)).toEqual(["b", "d"])
      })
    )
  })
}

describe("cache hints in 2026-07-28", () => {
  it.effect("[CACHE-01][CACHE-02] every result that may be kept says for how long and for whom", () =>
    Effect.gen(function* () {
      const client = yield* open(demo)
      const kept = ["server/discover", ...lists.map(([method]) => method)]
      const results = yield* Effect.forEach(kept, (method) => client.result(method))
      results.push(yield* client.result("resources/read", { uri: "config://app" }))
      for (const result of results) expect(result).toMatchObject({ ttlMs: 0, cacheScope: "private" })
      const others = [yield* client.call("echo", { text: "a" }), yield* client.result("prompts/get", { name: "plain" })]
      for (const result of others) {
        expect(result).not.toHaveProperty("ttlMs")
        expect(result).not.toHaveProperty("cacheScope")
      }
    })
  )

  it.effect("[CACHE-02][CACHE-11] what the server chose is on every page, in whole milliseconds", () =>
    Effect.gen(function* () {
      const hints = { tools: { ttl: "1.5 seconds", scope: "public" }, resources: { ttl: 0.9 } } as const
      const client = yield* open(ofPages(1, hints))
      const tools = yield* pages(client, "tools/list", "tools")
      expect(tools.map(({ result }) => [result.ttlMs, result.cacheScope])).toEqual(names.map(() => [1500, "public"]))
      const resources = yield* pages(client, "resources/list", "resources")
      expect(resources.map(({ result }) => [result.ttlMs, result.cacheScope])).toEqual(names.map(() => [0, "private"]))
    })
  )

  it.effect("an older client sees no hints", () =>
    Effect.gen(function* () {
      const client = yield* open(ofPages(10, { tools: { ttl: 1000 } }), { era: legacy })
      expect(Object.keys(yield* client.result("tools/list"))).toEqual(["tools"])
    })
  )

  it.effect("[BUG-152][CACHE-07][CACHE-13] lists that differ by caller are private, and each sees its own only", () =>
    Effect.gen(function* () {
      const mine = Effect.map(CallContext.CallContext, ({ principal }) => principal?.subject ?? "nobody")
      const tools: Catalog.Catalog<Tool.Handled<never>> = {
        list: Effect.map(mine, (who) => [tool("shared"), tool(`${who}-1`), tool(`${who}-2`)]),
        find: (key) =>
          Effect.map(mine, (who) => (key === "shared" || key.startsWith(`${who}-`) ? tool(key) : undefined))
      }
      const server = McpServer.make({
        name: "s",
        version: "1",
        pageSize: 2,
        tools,
        cache: { tools: { scope: "public" } }
      })
      const runtime = yield* ServerRuntime.make({ ...server, cache: {} })
      const lenient = yield* ServerRuntime.make(server)
      const as = (subject: string, of = runtime) =>
        Effect.gen(function* () {
          const link = yield* InMemory.link
          const outlet = { ...link.server, principal: { subject } }
          const peer = yield* ServerPeer.open(of, outlet)
          yield* Effect.forkScoped(Effect.ignore(link.server.run((message) => peer.receive(message, outlet))))
          return yield* over(link.client, { era: modern })
        })
      for (const subject of ["ada", "alan"]) {
        const client = yield* as(subject)
        const all = yield* pages(client, "tools/list", "tools")
        expect(all.flatMap((page) => page.names)).toEqual(["shared", `${subject}-1`, `${subject}-2`])
        for (const { result } of all) expect(result).toMatchObject({ ttlMs: 0, cacheScope: "private" })
        expect(at(yield* client.call(`${subject}-1`), "content", 0, "text")).toBe(`${subject}-1`)
      }
      // Saying "public" opens nothing: who may call is decided for every call.
      const ada = yield* as("ada", lenient)
      expect((yield* ada.result("tools/list")).cacheScope).toBe("public")
      expect((yield* ada.error("tools/call", { name: "alan-1" })).code).toBe(-32602)
    })
  )
})
