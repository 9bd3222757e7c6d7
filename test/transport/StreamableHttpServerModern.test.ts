/**
 * Streamable HTTP from 2026-07-28: headers that mirror the body, statuses, listen streams.
 */
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Schema } from "effect"
import { Catalog, McpServer, Peer, Tool } from "mcp-effect"
import type { Json } from "../protocol/OfficialSchema.ts"
import { demo } from "../support/Demo.ts"
import { Gate } from "../support/Gate.ts"
import { hosts, joinInTime, node } from "../support/HttpHosts.ts"
import { at, legacy, modern, modernMeta } from "../support/RawClient.ts"
import { connect, isPending, type RawHttp } from "../support/RawHttp.ts"
import { rawRequest } from "../support/rawRequest.ts"

const modernOnly = McpServer.make({ name: "new", version: "1", tools: demo.tools ?? [], revisions: [modern] })

/** Status and error code of an answer to a call of `echo` with some headers changed. */
const refusalOf = (client: RawHttp, headers: { readonly [name: string]: string | undefined }, params: Json = {}) =>
  Effect.gen(function* () {
    const message = { name: "echo", arguments: { text: "a" }, ...params }
    const reply = yield* client.request("tools/call", message, { headers })
    const answer = yield* reply.answer
    return [reply.status, at(answer, "error", "code")]
  })

const version = (value: string | undefined) => ({ "mcp-protocol-version": value })

describe("the version of a request", () => {
  it.effect("[META-14][BUG-141][HTTP-36][HTTP-38] header and `_meta` are both there, and the same", () =>
    Effect.gen(function* () {
      const client = yield* connect(yield* node.start(demo), modern)
      expect(yield* refusalOf(client, version(undefined))).toEqual([400, -32020])
      for (const other of [legacy, "2026-07-29", "banana", ""]) {
        expect(yield* refusalOf(client, version(other))).toEqual([400, -32020])
      }
      const { "io.modelcontextprotocol/clientCapabilities": _, ...noCapabilities } = modernMeta()
      const bare = { jsonrpc: "2.0", id: 1, method: "tools/list" }
      for (const params of [undefined, {}, { _meta: {} }, { _meta: noCapabilities }]) {
        const reply = yield* client.post({ ...bare, ...(params && { params }) })
        expect([reply.status, at(yield* reply.json, "error", "code")]).toEqual([400, -32602])
      }
      const { "io.modelcontextprotocol/clientInfo": __, ...anonymous } = modernMeta()
      expect((yield* client.post({ ...bare, params: { _meta: anonymous } })).status).toBe(200)
    })
  )

  it.effect("[ERR-10][HTTP-36][HTTP-38][VER-02] one that is not spoken is refused with those that are", () =>
    Effect.gen(function* () {
      const client = yield* connect(yield* node.start(demo), modern)
      for (const version of ["2026-07-29", "1999-01-01", "banana"]) {
        const _meta = { "io.modelcontextprotocol/protocolVersion": version }
        const reply = yield* client.request("tools/list", { _meta }, { headers: { "mcp-protocol-version": version } })
        expect(reply.status).toBe(400)
        expect(yield* reply.json).toMatchObject({
          error: { code: -32022, data: { supported: expect.arrayContaining([modern, legacy]), requested: version } }
        })
      }
    })
  )

  it.effect("[BUG-47] a server without the older revisions tells their clients what it speaks", () =>
    Effect.gen(function* () {
      const client = yield* connect(yield* node.start(modernOnly), legacy, { initialize: false, judged: false })
      const params = { protocolVersion: legacy, capabilities: {}, clientInfo: { name: "a", version: "1" } }
      const reply = yield* client.request("initialize", params)
      expect(reply.status).toBe(400)
      expect(yield* reply.json).toMatchObject({
        error: { code: -32022, data: { supported: [modern], requested: legacy } }
      })
      expect((yield* client.request("tools/list")).status).toBe(400)
      const headers = { "mcp-session-id": "a", "last-event-id": "b" }
      const current = yield* connect(yield* node.start(modernOnly), modern)
      const ignored = yield* current.request("tools/list", {}, { headers })
      expect([ignored.status, ignored.headers.get("mcp-session-id")]).toEqual([200, null])
    })
  )
})

describe("headers that mirror the body", () => {
  it.effect("[HDR-05][HDR-22][ERR-08][BUG-139][BUG-141] say the same as it, or nothing runs", () =>
    Effect.gen(function* () {
      const ran: Array<string> = []
      const tool = (name: string) => Tool.handle(Tool.make(name), () => Effect.sync(() => void ran.push(name)))
      const server = McpServer.make({ name: "s", version: "1", tools: [tool("delete_all"), tool("read_only")] })
      const client = yield* connect(yield* node.start(server), modern)
      for (const headers of [
        { "mcp-name": "read_only" },
        { "mcp-name": "DELETE_ALL" },
        { "mcp-name": undefined },
        { "mcp-name": "=?base64?!!!?=" },
        { "mcp-name": `=?base64?${btoa("read_only")}?=` },
        { "mcp-method": "tools/list" },
        { "mcp-method": "TOOLS/CALL" },
        { "mcp-method": undefined }
      ]) {
        expect(yield* refusalOf(client, headers, { name: "delete_all", arguments: {} })).toEqual([400, -32020])
      }
      expect(ran).toEqual([])
      const encoded = { "mcp-name": `=?base64?${btoa("delete_all")}?=` }
      expect(yield* refusalOf(client, encoded, { name: "delete_all", arguments: {} })).toEqual([200, undefined])
      expect(ran).toEqual(["delete_all"])
    })
  )

  it.effect("[HDR-04][BUG-139] names in any case, values as they are, and none of them twice", () =>
    Effect.gen(function* () {
      const { url } = yield* node.start(demo)
      const params = { name: "echo", arguments: { text: "a" }, _meta: modernMeta() }
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })
      const standard = ["HOST", "localhost", "CONTENT-TYPE", "application/json", "accept", "*/*"]
      const mirrored = ["mCP-pROTOCOL-vERSION", modern, "MCP-METHOD", "tools/call", "mcp-NAME", "echo"]
      const good = yield* rawRequest(url, { headers: [...standard, ...mirrored], body })
      expect(good.status).toBe(200)
      for (const twice of [
        ["Mcp-Name", "echo"],
        ["Mcp-Name", "other"],
        ["Mcp-Method", "tools/call"],
        ["MCP-Protocol-Version", modern]
      ]) {
        const reply = yield* rawRequest(url, { headers: [...standard, ...mirrored, ...twice], body })
        expect([reply.status, at(JSON.parse(reply.body), "error", "code")]).toEqual([400, -32020])
      }
    })
  )

  it.effect(
    "[HDR-16][HDR-18][HDR-05] annotated arguments are compared after decoding; absent ones are not expected",
    () =>
      Effect.gen(function* () {
        const seen: Array<unknown> = []
        const Place = Tool.make("place", {
          input: Schema.Struct({
            region: Schema.optionalKey(Schema.String.annotate({ "x-mcp-header": "Region" })),
            count: Schema.optionalKey(Schema.Int.annotate({ "x-mcp-header": "Count" }))
          })
        })
        const server = McpServer.make({
          name: "s",
          version: "1",
          tools: [Tool.handle(Place, (input) => Effect.sync(() => void seen.push(input)))]
        })
        const client = yield* connect(yield* node.start(server), modern)
        const call = (args: Json, headers: { readonly [name: string]: string | undefined }) =>
          refusalOf(client, headers, { name: "place", arguments: args })
        for (const [args, headers] of [
          [{ count: 42 }, {}],
          [{ count: 42 }, { "mcp-param-count": "43" }],
          [{ count: 42 }, { "mcp-param-count": "forty-two" }],
          [{ count: 42 }, { "mcp-param-count": "=?base64?!?=" }],
          [{ region: "é" }, { "mcp-param-region": `=?base64?${btoa("e")}?=` }]
        ] as const) {
          expect(yield* call(args, headers)).toEqual([400, -32020])
        }
        expect(seen).toEqual([])
        for (const [args, headers] of [
          [{}, {}],
          [{ count: 42 }, { "mcp-param-count": "42" }],
          [{ count: 42 }, { "mcp-param-count": "42.0" }],
          [{ count: 42 }, { "mcp-param-count": `=?base64?${btoa("42")}?=` }],
          [{ region: "é" }, { "mcp-param-region": `=?base64?${Buffer.from("é").toString("base64")}?=` }]
        ] as const) {
          expect(yield* call(args, headers)).toEqual([200, undefined])
        }
        expect(seen).toHaveLength(5)
      })
  )
})

describe("statuses", () => {
  it.effect("[ERR-03][ERR-02][VER-14] an unknown method is 404", () =>
    Effect.gen(function* () {
      const client = yield* connect(yield* node.start(demo), modern)
      for (const method of ["no/such", "initialize", "ping", "logging/setLevel", "resources/subscribe"]) {
        const reply = yield* client.request(method)
        expect([reply.status, at(yield* reply.json, "error", "code")]).toEqual([404, -32601])
      }
    })
  )

  it.effect("[ERR-09][BUG-122] a capability that is missing is 400, with what would be needed", () =>
    Effect.gen(function* () {
      const running = yield* node.start(demo)
      for (const [capabilities, works] of [
        [{}, false],
        [{ elicitation: {} }, true],
        [{ elicitation: { url: {} } }, false]
      ] as const) {
        const client = yield* connect(running, modern, { capabilities })
        const reply = yield* client.call("greet")
        const answer = yield* reply.json
        if (works) expect(at(answer, "result", "resultType")).toBe("input_required")
        else {
          expect(reply.status).toBe(400)
          expect(at(answer, "error")).toMatchObject({
            code: -32021,
            data: { requiredCapabilities: { elicitation: { form: {} } } }
          })
        }
      }
    })
  )

  it.effect("an error after the stream has begun comes as an event", () =>
    Effect.gen(function* () {
      const Late = Tool.handle(Tool.make("late"), () =>
        Effect.andThen(Effect.logError("first"), Effect.as(Peer.roots(), ""))
      )
      const client = yield* connect(
        yield* node.start(McpServer.make({ name: "s", version: "1", tools: [Late] })),
        modern
      )
      const reply = yield* client.call("late", {}, { _meta: { "io.modelcontextprotocol/logLevel": "error" } })
      expect([reply.status, reply.type]).toEqual([200, "text/event-stream"])
      const messages = yield* reply.messages
      expect(messages.map((message) => message.method ?? at(message, "error", "code"))).toEqual([
        "notifications/message",
        -32021
      ])
    })
  )
})

describe("listen streams", () => {
  const changing = Effect.gen(function* () {
    const tools = yield* Catalog.make([Tool.handle(Tool.make("one"), () => Effect.succeed(""))])
    return {
      server: McpServer.make({ name: "s", version: "1", tools }),
      change: tools.set(Tool.handle(Tool.make("two"), () => Effect.succeed("")))
    }
  })
  const wish = { notifications: { toolsListChanged: true } }

  for (const host of hosts) {
    it.effect(`[SUBS-04][SUBS-03][BUG-34] acknowledge at once and carry changes (${host.name})`, () =>
      Effect.gen(function* () {
        const { change, server } = yield* changing
        const client = yield* connect(yield* host.start(server), modern)
        const stream = yield* client.request("subscriptions/listen", wish)
        expect([stream.status, stream.type]).toEqual([200, "text/event-stream"])
        const acknowledged = yield* stream.nextMessage
        expect(acknowledged?.params).toMatchObject(wish)
        yield* change
        expect(yield* stream.nextMessage).toMatchObject({ method: "notifications/tools/list_changed" })
        yield* stream.hangUp
      })
    )

    // An application with a route decides itself when its connections are closed, before its layers are.
    if (host.name === "layerRoute") continue

    it.effect(`[BUG-127] end with their result at shutdown (${host.name})`, () =>
      Effect.gen(function* () {
        const { server } = yield* changing
        const closing = yield* Deferred.make<Fiber.Fiber<ReadonlyArray<Json>>>()
        const life = Effect.gen(function* () {
          const client = yield* connect(yield* host.start(server), modern)
          const listening = yield* Deferred.make<void>()
          const reading = Effect.flatMap(client.request("subscriptions/listen", wish), (stream) =>
            Effect.andThen(Deferred.succeed(listening, undefined), stream.messages)
          )
          const messages = yield* Effect.forkDetach(Effect.scoped(reading))
          yield* Deferred.await(listening)
          yield* Effect.addFinalizer(() => Deferred.succeed(closing, messages))
        })
        const running = yield* Effect.forkScoped(Effect.scoped(life))
        const messages = yield* Fiber.join(yield* Deferred.await(closing))
        expect(messages).toHaveLength(2)
        expect(messages.at(-1)?.result).toMatchObject({ resultType: "complete" })
        yield* joinInTime(running)
      })
    )
  }

  it.effect("[BUG-54][SUBS-08] hear nothing of other requests", () =>
    Effect.gen(function* () {
      const client = yield* connect(yield* node.start({ ...demo, tools: (yield* changing).server.tools }), modern)
      const full = yield* connect(yield* node.start(demo), modern)
      const stream = yield* client.request("subscriptions/listen", wish)
      yield* stream.nextMessage
      const noisy = yield* full.call("count", {}, { _meta: { progressToken: "A-secret" } })
      expect(yield* noisy.messages).toHaveLength(3)
      expect(yield* isPending(stream.nextMessage)).toBe(true)
    })
  )

  it.effect("[SUBS-13][HTTP-18] closing one ends what it ran", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const tools: Catalog.Catalog<Tool.Handled<never>> = {
        list: Effect.succeed([]),
        find: () => Effect.undefined,
        changes: Effect.acquireRelease(
          Effect.as(
            Effect.forkScoped(gate.work, { startImmediately: true }),
            yield* (yield* changing).server.tools!.changes!
          ),
          () => Effect.void
        )
      }
      const client = yield* connect(yield* node.start(McpServer.make({ name: "s", version: "1", tools })), modern)
      const stream = yield* client.request("subscriptions/listen", wish)
      yield* stream.nextMessage
      yield* gate.started
      yield* stream.hangUp
      yield* gate.interrupted
    })
  )
})
