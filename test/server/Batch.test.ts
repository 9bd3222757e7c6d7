/**
 * Batches from and to a client of 2025-03-26, over a connection and over HTTP; and how every other revision refuses them.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, type Scope } from "effect"
import { McpServer, Peer, Progress, Tool } from "mcp-effect"
import { ScriptedPeer } from "mcp-effect/testing"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import { demo } from "../support/Demo.ts"
import { Gate } from "../support/Gate.ts"
import { hosts, impatient, node } from "../support/HttpHosts.ts"
import { at, initializeParams, modernMeta } from "../support/RawClient.ts"
import { isPending, RawHttp, type Reply } from "../support/RawHttp.ts"
import { validateMessage } from "../protocol/OfficialSchema.ts"

const version = "2025-03-26"
const others = ["2025-11-25", "2025-06-18", "2024-11-05"] as const

const request = (id: unknown, method: string, params: object = {}) => ({ jsonrpc: "2.0", id, method, params })
const notification = (method: string, params: object = {}) => ({ jsonrpc: "2.0", method, params })
const call = (id: unknown, name: string, more: object = {}) => request(id, "tools/call", { name, ...more })
const echo = (id: unknown, text: string) => call(id, "echo", { arguments: { text } })
const cancel = (requestId: unknown) => notification("notifications/cancelled", { requestId })
const initialize = (id: unknown) => request(id, "initialize", initializeParams({}, version))

/** What an answer comes to: its id, and its text or the code of its error. */
const gist = (answer: unknown) => [
  at(answer, "id"),
  at(answer, "error", "code") ?? at(answer, "result", "content", 0, "text")
]

const serverOf = (gate: Gate) =>
  McpServer.make({
    name: "gated",
    version: "1",
    logging: false,
    tools: [
      Tool.handle(Tool.make("wait"), () => Effect.as(gate.work, "waited")),
      Tool.handle(Tool.make("step"), () => Effect.as(Progress.report({ progress: 1 }), "stepped")),
      Tool.handle(Tool.make("think"), () =>
        Effect.map(
          Peer.sample({ messages: [{ role: "user", content: { type: "text", text: "Think" } }], maxTokens: 10 }),
          ({ model }) => model
        )
      ),
      Tool.handle(Tool.make("where"), () => Effect.map(Peer.roots(), (roots) => String(roots.length))),
      Tool.handle(Tool.make("fail"), () => Effect.die(new Error("inside")))
    ]
  })

/** A client after its handshake. */
const handshake = (server: McpServer.McpServer<never>, revision: string = version) =>
  Effect.gen(function* () {
    const peer = yield* ScriptedPeer.client(server)
    const capabilities = { sampling: {}, roots: {} }
    yield* peer.sendRaw(JSON.stringify(request("i", "initialize", initializeParams(capabilities, revision))))
    yield* peer.expect({ id: "i", result: { protocolVersion: revision } })
    yield* peer.notify("notifications/initialized")
    return peer
  })
const say = (peer: ScriptedPeer.ScriptedPeer, messages: unknown) => peer.sendRaw(JSON.stringify(messages))
const nextBatch = (peer: ScriptedPeer.ScriptedPeer) =>
  Effect.map(peer.next, (batch) => {
    if (!(batch instanceof JsonRpc.Batch)) return expect.fail(`Not a batch: ${JSON.stringify(batch)}`)
    // The schema has no way to say that an id could not be read.
    const judged = batch.messages.filter((message) => "id" in message && message.id !== undefined)
    expect(validateMessage(version, "server", judged)).toEqual([])
    return batch.messages
  })

describe("a connection", () => {
  it.effect("[BASE-15] answers a batch with one array", () =>
    Effect.gen(function* () {
      const peer = yield* handshake(demo)
      yield* say(peer, [echo(1, "a"), notification("notifications/none"), call("x", "nothing"), echo(2, "b"), 7])
      expect((yield* nextBatch(peer)).map(gist)).toEqual([
        [1, "a"],
        ["x", JsonRpc.ErrorCode.InvalidParams],
        [2, "b"],
        [undefined, JsonRpc.ErrorCode.InvalidRequest]
      ])
      yield* say(peer, [notification("notifications/none")])
      yield* say(peer, echo(3, "alone"))
      expect(gist(yield* peer.next)).toEqual([3, "alone"])
    })
  )

  it.effect("[BASE-15] what is said during a batch does not wait for its answers", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const peer = yield* handshake(serverOf(gate))
      yield* say(peer, [call(1, "wait"), call(2, "step", { _meta: { progressToken: "p" } }), call(3, "fail")])
      yield* peer.expectNotification("notifications/progress", { params: { progressToken: "p", progress: 1 } })
      yield* gate.started
      yield* gate.open
      const failed = [3, 'The tool "fail" failed unexpectedly']
      const gists = (yield* nextBatch(peer)).map(gist)
      expect(gists).toEqual(expect.arrayContaining([[1, "waited"], [2, "stepped"], failed]))
      expect(gists).toHaveLength(3)
    })
  )

  it.effect("[BASE-15] questions that are asked during a batch can be answered in a batch", () =>
    Effect.gen(function* () {
      const peer = yield* handshake(serverOf(new Gate()))
      yield* say(peer, [call(1, "think"), call(2, "where")])
      const questions = [yield* peer.next, yield* peer.next].filter(JsonRpc.isRequest)
      const answers = questions.map(({ id, method }) => ({
        jsonrpc: "2.0",
        id,
        result:
          method === "roots/list"
            ? { roots: [] }
            : { role: "assistant", content: { type: "text", text: "hm" }, model: "m" }
      }))
      expect(questions.map(({ method }) => method)).toEqual(["sampling/createMessage", "roots/list"])
      yield* say(peer, answers)
      expect((yield* nextBatch(peer)).map(gist)).toEqual([
        [1, "m"],
        [2, "0"]
      ])
    })
  )

  it.effect("[BASE-15][CANC-01] a cancelled request is left out of the answers", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const peer = yield* handshake(serverOf(gate))
      yield* say(peer, [call(1, "wait"), call(2, "step")])
      yield* gate.started
      yield* say(peer, [cancel(1)])
      yield* gate.interrupted
      expect((yield* nextBatch(peer)).map(gist)).toEqual([[2, "stepped"]])
    })
  )

  it.effect("[BASE-16] initialize is refused in a batch, before and after the handshake", () =>
    Effect.gen(function* () {
      const early = yield* ScriptedPeer.client(demo)
      yield* say(early, [initialize(1), request(2, "ping")])
      yield* early.expect({ id: undefined, error: { code: JsonRpc.ErrorCode.InvalidRequest } })
      yield* early.expectNothing
      yield* say(early, initialize(1))
      yield* early.expect({ id: 1, result: { protocolVersion: version } })
      yield* say(early, [initialize(3), request(4, "ping")])
      expect((yield* nextBatch(early)).map((answer) => [at(answer, "id"), at(answer, "error", "code")])).toEqual([
        [3, JsonRpc.ErrorCode.InvalidRequest],
        [4, undefined]
      ])
    })
  )

  it.effect("[BASE-17] a request of a modern revision is refused in a batch", () =>
    Effect.gen(function* () {
      const peer = yield* handshake(demo)
      yield* say(peer, [request(1, "tools/list", { _meta: modernMeta() }), request(2, "ping")])
      const answers = yield* nextBatch(peer)
      expect(answers.map((answer) => at(answer, "error", "code"))).toEqual([
        JsonRpc.ErrorCode.InvalidRequest,
        undefined
      ])
    })
  )

  for (const revision of others) {
    it.effect(`[BASE-17] a batch is refused in ${revision}`, () =>
      Effect.gen(function* () {
        const peer = yield* handshake(demo, revision)
        yield* say(peer, [echo(1, "a"), echo(2, "b")])
        yield* peer.expect({ id: undefined, error: { code: JsonRpc.ErrorCode.InvalidRequest } })
        yield* say(peer, echo(3, "alone"))
        expect(gist(yield* peer.next)).toEqual([3, "alone"])
        yield* peer.expectNothing
      })
    )
  }
})

/** A client with a session in a revision. */
const connect = (
  target: { readonly send: (request: Request) => Promise<Response>; readonly url: string },
  revision: string = version
): Effect.Effect<RawHttp, never, Scope.Scope> =>
  Effect.gen(function* () {
    const client = new RawHttp(target.send, target.url, "2025-11-25")
    const reply = yield* post(client, request("i", "initialize", initializeParams({ sampling: {} }, revision)))
    expect(at(yield* reply.json, "result", "protocolVersion")).toBe(revision)
    client.session = reply.headers.get("mcp-session-id") ?? undefined
    yield* post(client, notification("notifications/initialized"))
    return client
  })

const post = (
  client: RawHttp,
  body: unknown,
  more: { readonly [name: string]: string } = {}
): Effect.Effect<Reply, never, Scope.Scope> =>
  client.fetch("POST", {
    body: JSON.stringify(body),
    headers: {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-session-id": client.session,
      ...more
    }
  })

const answersIn = (reply: Reply): Effect.Effect<ReadonlyArray<unknown>> =>
  Effect.map(reply.text, (text) => JSON.parse(text) as ReadonlyArray<unknown>)

for (const host of hosts) {
  describe(`Streamable HTTP, ${host.name}`, () => {
    it.effect("[BASE-15][HTTP-08][HTTP-12] a batch with requests is answered with one JSON array", () =>
      Effect.gen(function* () {
        const client = yield* connect(yield* host.start(demo))
        const reply = yield* post(client, [echo(1, "a"), notification("notifications/none"), echo(2, "b")])
        expect([reply.status, reply.type]).toEqual([200, "application/json"])
        const answers = yield* answersIn(reply)
        expect(answers.map(gist)).toEqual([
          [1, "a"],
          [2, "b"]
        ])
        expect(validateMessage(version, "server", answers)).toEqual([])
        const alone = yield* post(client, [echo(3, "c")])
        expect((yield* answersIn(alone)).map(gist)).toEqual([[3, "c"]])
      })
    )

    it.effect("[HTTP-08][HTTP-11] a batch without requests is accepted with nothing in the body", () =>
      Effect.gen(function* () {
        const client = yield* connect(yield* host.start(demo))
        for (const batch of [
          [notification("notifications/none"), cancel(1)],
          [{ jsonrpc: "2.0", id: 7, result: {} }]
        ]) {
          const reply = yield* post(client, batch)
          expect([reply.status, yield* reply.text]).toEqual([202, ""])
        }
      })
    )

    it.effect("[BASE-15] with something to say before the answers the response is a stream, one message an event", () =>
      Effect.gen(function* () {
        const gate = new Gate()
        const client = yield* connect(yield* host.start(serverOf(gate)))
        yield* impatient
        const reply = yield* post(client, [call(1, "step", { _meta: { progressToken: "p" } }), call(2, "wait")])
        expect([reply.status, reply.type]).toEqual([200, "text/event-stream"])
        expect(yield* reply.nextMessage).toMatchObject({ method: "notifications/progress" })
        yield* gate.open
        const answers = yield* reply.messages
        expect(answers.map(gist).toSorted()).toEqual([
          [1, "stepped"],
          [2, "waited"]
        ])
      })
    )
  })
}

describe("Streamable HTTP", () => {
  for (const revision of others) {
    it.effect(`[BASE-17] a batch is refused with 400 in ${revision}`, () =>
      Effect.gen(function* () {
        const client = yield* connect(yield* node.start(demo), revision)
        for (const batch of [[echo(1, "a"), echo(2, "b")], [notification("notifications/none")]]) {
          const reply = yield* post(client, batch)
          expect(reply.status).toBe(400)
          const error = yield* reply.json
          expect(error).not.toHaveProperty("id")
          expect(at(error, "error", "code")).toBe(JsonRpc.ErrorCode.InvalidRequest)
        }
      })
    )
  }

  it.effect("[BASE-17] a batch is refused with 400 in 2026-07-28", () =>
    Effect.gen(function* () {
      const running = yield* node.start(demo)
      const client = new RawHttp(running.send, running.url, "2026-07-28")
      const batch = [1, 2].map((id) => request(id, "tools/list", { _meta: modernMeta() }))
      const reply = yield* post(client, batch, { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" })
      expect([reply.status, at(yield* reply.json, "error", "code")]).toEqual([400, JsonRpc.ErrorCode.InvalidRequest])
      const only = yield* node.start(McpServer.make({ name: "new", version: "1", revisions: ["2026-07-28"] }))
      const bare = yield* post(new RawHttp(only.send, only.url, "2026-07-28"), batch)
      expect([bare.status, at(yield* bare.json, "error", "code")]).toEqual([400, JsonRpc.ErrorCode.InvalidRequest])
    })
  )

  it.effect("[BASE-16] initialize in a batch opens no session, and is refused in one", () =>
    Effect.gen(function* () {
      const running = yield* node.start(demo)
      const opening = yield* post(new RawHttp(running.send, running.url, "2025-11-25"), [initialize(1)])
      expect([opening.status, opening.headers.get("mcp-session-id")]).toEqual([400, null])
      expect(at(yield* opening.json, "error", "code")).toBe(JsonRpc.ErrorCode.InvalidRequest)
      const client = yield* connect(running)
      const reply = yield* post(client, [initialize(2), request(3, "ping")])
      const answers = yield* answersIn(reply)
      expect([reply.status, reply.headers.get("mcp-session-id")]).toEqual([200, null])
      expect(answers.map((answer) => [at(answer, "id"), at(answer, "error", "code")])).toEqual([
        [2, JsonRpc.ErrorCode.InvalidRequest],
        [3, undefined]
      ])
    })
  )

  it.effect("[BASE-17] a modern request can't pass in a batch, where no header speaks for it", () =>
    Effect.gen(function* () {
      const client = yield* connect(yield* node.start(demo))
      const reply = yield* post(client, [
        request(1, "tools/call", { name: "echo", arguments: { text: "a" }, _meta: modernMeta() })
      ])
      expect((yield* answersIn(reply)).map(gist)).toEqual([[1, JsonRpc.ErrorCode.InvalidRequest]])
    })
  )

  it.effect("a batch needs a session, and the right one", () =>
    Effect.gen(function* () {
      const client = yield* connect(yield* node.start(demo))
      client.session = "unknown"
      expect((yield* post(client, [request(1, "ping")])).status).toBe(404)
    })
  )

  it.effect("limits.batchMessages: more in one batch are refused with 400, with or without requests among them", () =>
    Effect.gen(function* () {
      const small = McpServer.make({ name: "small", version: "1", limits: { batchMessages: 2 } })
      const client = yield* connect(yield* node.start(small))
      for (const message of [request(1, "ping"), notification("notifications/none")]) {
        const reply = yield* post(client, [message, message, message])
        expect([reply.status, at(yield* reply.json, "error", "code")]).toEqual([400, JsonRpc.ErrorCode.LimitExceeded])
      }
      expect((yield* post(client, [request(1, "ping"), request(2, "ping")])).status).toBe(200)
    })
  )

  it.effect("[CANC-01] a cancelled request is left out, and the stream of a batch that was all cancelled ends", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const client = yield* connect(yield* node.start(serverOf(gate)))
      yield* impatient
      const both = yield* Effect.forkScoped(post(client, [call(1, "wait"), call(2, "step")]))
      yield* gate.started
      yield* post(client, cancel(1))
      expect((yield* answersIn(yield* Fiber.join(both))).map(gist)).toEqual([[2, "stepped"]])
      const one = yield* Effect.forkScoped(post(client, [call(3, "wait")]))
      while (gate.begun < 2) yield* isPending(Effect.never)
      yield* post(client, [cancel(3)])
      expect(yield* (yield* Fiber.join(one)).messages).toEqual([])
    })
  )

  it.effect("[HTTP-13] the answers to a batch can be taken up again after the connection was lost", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const client = yield* connect(yield* node.start(serverOf(gate)))
      yield* impatient
      const reply = yield* post(client, [call(1, "step", { _meta: { progressToken: "p" } }), call(2, "wait")])
      const event = yield* reply.nextEvent
      expect(event?.id).toBeDefined()
      yield* reply.hangUp
      yield* gate.open
      const resumed = yield* client.listen({ "last-event-id": event?.id, "mcp-protocol-version": version })
      expect((yield* resumed.messages).map(gist).toSorted()).toEqual([
        [1, "stepped"],
        [2, "waited"]
      ])
    })
  )

  it.effect("[BASE-15] questions that are asked during a batch can be answered in a batch", () =>
    Effect.gen(function* () {
      const client = yield* connect(yield* node.start(serverOf(new Gate())))
      const reply = yield* post(client, [call(1, "think"), call(2, "think")])
      const questions = [yield* reply.nextMessage, yield* reply.nextMessage]
      const thought = { role: "assistant", content: { type: "text", text: "hm" }, model: "m" }
      const answers = questions.map((question) => ({ jsonrpc: "2.0", id: question?.id, result: thought }))
      expect((yield* post(client, answers)).status).toBe(202)
      expect((yield* reply.messages).map(gist).toSorted()).toEqual([
        [1, "m"],
        [2, "m"]
      ])
    })
  )
})
