/**
 * Streamable HTTP up to 2025-11-25: sessions, the GET stream, and streams that are taken up again.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { Catalog, McpServer, Peer, Progress, Tool } from "mcp-effect"
import * as EventStore from "../../src/transport/EventStore.ts"
import { demo } from "../support/Demo.ts"
import { Gate } from "../support/Gate.ts"
import { impatient, node } from "../support/HttpHosts.ts"
import { at, initializeParams, legacy } from "../support/RawClient.ts"
import { connect, isPending, type RawHttp, type Reply } from "../support/RawHttp.ts"

const serverOf = <R>(...tools: ReadonlyArray<Tool.Handled<R>>) => McpServer.make({ name: "s", version: "1", tools })

/** The next event that carries a message, with its id. */
const nextWithId = (
  reply: Reply
): Effect.Effect<{ readonly id: string | undefined; readonly data: string } | undefined> =>
  Effect.flatMap(reply.nextEvent, (event) =>
    event === undefined
      ? Effect.undefined
      : event.data === undefined || event.data === ""
        ? nextWithId(reply)
        : Effect.succeed({ id: event.id, data: event.data })
  )

/** Answers every ping that comes on a stream, and gives how many there were when it ends. */
const answerPings = (client: RawHttp, stream: Reply): Effect.Effect<number, never, Scope.Scope> =>
  Effect.gen(function* () {
    let pings = 0
    for (let next = yield* stream.nextMessage; next !== undefined; next = yield* stream.nextMessage) {
      if (next.method !== "ping") continue
      pings++
      yield* client.post({ jsonrpc: "2.0", id: next.id, result: {} })
    }
    return pings
  })

/** Lets minutes pass, and sockets move in between. */
const pass = (minutes: number): Effect.Effect<void> =>
  Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5))).pipe(
    Effect.andThen(TestClock.adjust("20 seconds")),
    Effect.repeat({ times: minutes * 3 - 1 })
  )

const Report = (gate: Gate) =>
  Tool.handle(Tool.make("report"), () =>
    Effect.gen(function* () {
      yield* Progress.report({ progress: 1 })
      yield* gate.work
      for (const progress of [2, 3]) yield* Progress.report({ progress })
      return "done"
    })
  )

describe("sessions", () => {
  it.effect("[SEC-09] ids are long, of visible ASCII, random, and given by initialize alone", () =>
    Effect.gen(function* () {
      const running = yield* node.start(demo)
      const ids = new Set<string>()
      for (let times = 0; times < 20; times++) {
        const client = yield* connect(running, legacy)
        expect(client.session).toMatch(/^[\x21-\x7e]{22,}$/)
        ids.add(client.session ?? "")
        expect((yield* client.request("tools/list")).headers.get("mcp-session-id")).toBe(null)
      }
      expect(ids.size).toBe(20)
    })
  )

  it.effect("[BUG-31][HTTP-31] 400 without an id, 404 with one that is unknown, and no stream in either case", () =>
    Effect.gen(function* () {
      const client = yield* connect(yield* node.start(demo), legacy)
      const request = (session: string | undefined) =>
        client.request("tools/list", {}, { headers: { "mcp-session-id": session } })
      for (const [session, status] of [
        [undefined, 400],
        ["nope", 404],
        [`${client.session}x`, 404],
        [client.session?.toLowerCase().toUpperCase(), 404]
      ] as const) {
        const reply = yield* request(session)
        expect([reply.status, reply.type]).toEqual([status, "application/json"])
        expect(yield* reply.json).toHaveProperty("error")
        expect((yield* client.listen({ "mcp-session-id": session })).status).toBe(status)
      }
      expect((yield* request(client.session)).status).toBe(200)
    })
  )

  it.effect("[BUG-32] an initialize that still names an old session opens a new one", () =>
    Effect.gen(function* () {
      const client = yield* connect(yield* node.start(demo), legacy)
      const old = client.session
      for (const stale of ["stale", old]) {
        const headers = { "mcp-session-id": stale }
        const reply = yield* client.request("initialize", initializeParams(), { headers })
        expect(reply.status).toBe(200)
        expect(reply.headers.get("mcp-session-id")).toBeTruthy()
        expect(reply.headers.get("mcp-session-id")).not.toBe(stale)
      }
    })
  )

  it.effect("an initialize that is refused leaves no session behind", () =>
    Effect.gen(function* () {
      const client = yield* connect(yield* node.start(demo), legacy, { initialize: false })
      const reply = yield* client.request("initialize", { protocolVersion: 7 })
      expect(at(yield* reply.json, "error", "code")).toBe(-32602)
      expect(reply.headers.get("mcp-session-id")).toBe(null)
    })
  )

  it.effect("[HTTP-31] DELETE ends a session: what runs is interrupted, its streams end, its id is gone", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const running = yield* node.start(serverOf(Tool.handle(Tool.make("slow"), () => Effect.as(gate.work, ""))))
      const client = yield* connect(running, legacy)
      const stream = yield* client.listen()
      yield* Effect.forkScoped(client.call("slow"), { startImmediately: true })
      yield* gate.started
      const ended = yield* client.fetch("DELETE", { headers: { "mcp-session-id": client.session } })
      expect(ended.status).toBeLessThan(300)
      yield* gate.interrupted
      expect(yield* stream.messages).toEqual([])
      expect((yield* client.request("tools/list")).status).toBe(404)
      const again = yield* client.fetch("DELETE", { headers: { "mcp-session-id": client.session } })
      expect(again.status).toBe(404)
    })
  )

  it.effect("[HTTP-36][BUG-50] a version that is not spoken is 400; none at all is taken as an old client", () =>
    Effect.gen(function* () {
      const client = yield* connect(yield* node.start(demo), legacy)
      const request = (version: string | undefined) =>
        client.request("tools/list", {}, { headers: { "mcp-protocol-version": version } })
      for (const version of ["1999-01-01", "banana", "2025-11-25x", ""]) {
        expect((yield* request(version)).status).toBe(400)
      }
      for (const version of [undefined, legacy]) expect((yield* request(version)).status).toBe(200)
      expect((yield* client.listen({ "mcp-protocol-version": "1999-01-01" })).status).toBe(400)
    })
  )

  it.effect("[BUG-123] idle sessions end after a while; one that is used, or listens, or works, does not", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const running = yield* node.start(serverOf(Tool.handle(Tool.make("slow"), () => Effect.as(gate.work, ""))), {
        sessionIdle: "10 minutes"
      })
      const [idle, used, listening, working] = yield* Effect.forEach([1, 2, 3, 4], () => connect(running, legacy))
      yield* Effect.forkScoped(answerPings(listening!, yield* listening!.listen()))
      yield* Effect.forkScoped(working!.call("slow"), { startImmediately: true })
      yield* gate.started
      for (let times = 0; times < 4; times++) {
        yield* pass(4)
        expect((yield* used!.request("tools/list")).status).toBe(200)
      }
      expect((yield* idle!.request("tools/list")).status).toBe(404)
      expect((yield* listening!.request("tools/list")).status).toBe(200)
      expect((yield* working!.request("tools/list")).status).toBe(200)
      yield* gate.open
    })
  )

  it.effect("[BUG-129] one whose client listens but answers no ping ends, and what the server asked is over", () =>
    Effect.gen(function* () {
      let isOver = false
      const over = Effect.sync(() => {
        isOver = true
      })
      const Ask = Tool.handle(Tool.make("ask"), () => Effect.as(Effect.ensuring(Peer.roots(), over), ""))
      const running = yield* node.start(serverOf(Ask), { sessionIdle: "4 minutes" })
      const silent = yield* connect(running, legacy, { capabilities: { roots: {} } })
      const alive = yield* connect(running, legacy)
      const stream = yield* silent.listen()
      const call = yield* silent.call("ask")
      expect(yield* call.nextMessage).toMatchObject({ method: "roots/list" })
      const pings = yield* Effect.forkScoped(answerPings(alive, yield* alive.listen()))
      yield* pass(9)
      expect((yield* stream.messages).filter(({ method }) => method === "ping")).toHaveLength(3)
      expect(isOver).toBe(true)
      expect((yield* silent.request("tools/list")).status).toBe(404)
      expect((yield* alive.request("tools/list")).status).toBe(200)
      yield* alive.fetch("DELETE", { headers: { "mcp-session-id": alive.session } })
      expect(yield* Fiber.join(pings)).toBeGreaterThan(0)
    })
  )

  it.effect("[BUG-123] there are never more than so many: the one that idled longest makes room", () =>
    Effect.gen(function* () {
      const running = yield* node.start(demo, { maximumSessions: 3 })
      const clients = yield* Effect.forEach([0, 1, 2], () => connect(running, legacy))
      yield* clients[0]!.request("tools/list")
      yield* clients[2]!.listen()
      clients.push(yield* connect(running, legacy))
      const statuses = yield* Effect.forEach(clients, (client) =>
        Effect.map(client.request("tools/list"), ({ status }) => status)
      )
      expect(statuses).toEqual([200, 404, 200, 200])
      yield* Effect.forEach([clients[0]!, clients[3]!], (client) => client.listen())
      const refused = yield* clients[1]!.request("initialize", initializeParams())
      expect(refused.status).toBe(503)
    })
  )

  it.effect("[BUG-77] a cancellation in a POST of its own reaches the work, and no other session's", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const running = yield* node.start(serverOf(Tool.handle(Tool.make("slow"), () => Effect.as(gate.work, "done"))))
      const [mine, other] = [yield* connect(running, legacy), yield* connect(running, legacy)]
      const call = mine.message("tools/call", { name: "slow" }, "slow")
      yield* Effect.forkScoped(mine.post(call), { startImmediately: true })
      yield* gate.started
      const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "slow" } }
      expect((yield* other.post(cancel)).status).toBe(202)
      yield* other.request("tools/list")
      expect(gate.stopped).toBe(0)
      expect((yield* mine.post(cancel)).status).toBe(202)
      yield* gate.interrupted
    })
  )
})

describe("the GET stream", () => {
  const changing = Effect.gen(function* () {
    const tools = yield* Catalog.make([Tool.handle(Tool.make("one"), () => Effect.succeed(""))])
    return {
      server: McpServer.make({ name: "s", version: "1", tools }),
      change: tools.set(Tool.handle(Tool.make("two"), () => Effect.succeed("")))
    }
  })

  it.effect("[HTTP-23][BUG-55] opens at once, and requests are answered while it is open", () =>
    Effect.gen(function* () {
      const client = yield* connect(yield* node.start(demo), legacy)
      const stream = yield* client.listen()
      expect([stream.status, stream.type]).toEqual([200, "text/event-stream"])
      expect((yield* client.request("tools/list")).status).toBe(200)
      expect((yield* client.listen({ accept: "application/json" })).status).toBe(406)
    })
  )

  it.effect("[HTTP-24][HTTP-25] carries what belongs to no request, once, and never an answer", () =>
    Effect.gen(function* () {
      const { change, server } = yield* changing
      const client = yield* connect(yield* node.start(server), legacy)
      const stream = yield* client.listen()
      for (let times = 0; times < 3; times++) yield* (yield* client.request("tools/list")).answer
      yield* change
      expect(yield* stream.nextMessage).toEqual({
        jsonrpc: "2.0",
        method: "notifications/tools/list_changed",
        params: {}
      })
      expect(yield* isPending(stream.nextMessage)).toBe(true)
    })
  )

  it.effect("[HTTP-25][BUG-40] a new one takes over from the old", () =>
    Effect.gen(function* () {
      const { change, server } = yield* changing
      const client = yield* connect(yield* node.start(server), legacy)
      const first = yield* client.listen()
      const second = yield* client.listen()
      expect(yield* first.messages).toEqual([])
      yield* change
      expect(yield* second.nextMessage).toMatchObject({ method: "notifications/tools/list_changed" })
    })
  )

  it.effect("what came while nobody listened is not lost", () =>
    Effect.gen(function* () {
      const { change, server } = yield* changing
      const client = yield* connect(yield* node.start(server), legacy)
      yield* change
      const stream = yield* client.listen()
      expect(yield* stream.nextMessage).toMatchObject({ method: "notifications/tools/list_changed" })
    })
  )

  it.effect("[HTTP-25] a question goes out on the stream of the call that asks, and nowhere else", () =>
    Effect.gen(function* () {
      const Ask = Tool.handle(Tool.make("ask"), () => Effect.map(Peer.roots(), (roots) => `${roots.length}`))
      const client = yield* connect(yield* node.start(serverOf(Ask)), legacy, { capabilities: { roots: {} } })
      const stream = yield* client.listen()
      const reply = yield* client.call("ask")
      const question = yield* reply.nextMessage
      expect(question).toMatchObject({ method: "roots/list" })
      expect((yield* client.post({ jsonrpc: "2.0", id: question?.id, result: { roots: [] } })).status).toBe(202)
      expect(at(yield* reply.nextMessage, "result", "content", 0, "text")).toBe("0")
      expect(yield* isPending(stream.nextMessage)).toBe(true)
    })
  )
})

describe("streams that are taken up again", () => {
  const progress = { _meta: { progressToken: "t" } }

  it.effect("[BUG-60][HTTP-19] what was missed comes exactly once, then the answer, then the end", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const client = yield* connect(yield* node.start(serverOf(Report(gate)), { retry: "3 seconds" }), legacy)
      const reply = yield* client.call("report", {}, progress)
      const primer = yield* reply.nextEvent
      expect(primer).toMatchObject({ data: "", retry: "3000", id: expect.any(String) })
      const first = yield* nextWithId(reply)
      yield* reply.hangUp
      yield* gate.open
      expect(gate.stopped).toBe(0)
      for (const [last, expected] of [
        [first?.id, [2, 3, "done"]],
        [primer?.id, [1, 2, 3, "done"]]
      ] as const) {
        const resumed = yield* client.listen({ "last-event-id": last })
        expect(resumed.status).toBe(200)
        const messages = yield* resumed.messages
        const seen = messages.map(
          (message) => at(message, "params", "progress") ?? at(message, "result", "content", 0, "text")
        )
        expect(seen).toEqual(expected)
      }
    })
  )

  it.effect("ids are unique in the session and name their stream", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      yield* gate.open
      const client = yield* connect(yield* node.start(serverOf(Report(gate))), legacy)
      const ids: Array<string | undefined> = []
      for (let times = 0; times < 3; times++) {
        const reply = yield* client.call("report", {}, progress)
        for (let event = yield* nextWithId(reply); event !== undefined; event = yield* nextWithId(reply))
          ids.push(event.id)
      }
      expect(ids).toHaveLength(12)
      expect(new Set(ids).size).toBe(12)
    })
  )

  it.effect("[BUG-59][SEC-09] an event id of another session opens nothing of it", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      yield* gate.open
      const running = yield* node.start(serverOf(Report(gate)))
      const [a, b] = [yield* connect(running, legacy), yield* connect(running, legacy)]
      const reply = yield* a.call("report", {}, progress)
      const event = yield* nextWithId(reply)
      const stolen = yield* b.listen({ "last-event-id": event?.id })
      expect(stolen.status).toBe(400)
      for (const id of ["", "nonsense", "999-1", "0-999", "-1", "0-1e3"]) {
        expect((yield* b.listen({ "last-event-id": id })).status).toBe(400)
      }
    })
  )

  it.effect("[BUG-60] the store has bounds: what is too old or too much can't be asked for", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const store = EventStore.layer({ maximumEvents: 2, maximumAge: "1 minute" })
      const running = yield* Effect.provide(node.start(serverOf(Report(gate))), store)
      const client = yield* connect(running, legacy)
      const reply = yield* client.call("report", {}, progress)
      const primer = yield* reply.nextEvent
      const first = yield* nextWithId(reply)
      yield* reply.hangUp
      yield* gate.open
      expect((yield* client.listen({ "last-event-id": primer?.id })).status).toBe(400)
      expect((yield* client.listen({ "last-event-id": first?.id })).status).toBe(400)
    })
  )

  it.effect("a session that ends takes its stored events with it", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const running = yield* node.start(serverOf(Report(gate)))
      yield* impatient
      const client = yield* connect(running, legacy)
      const reply = yield* client.call("report", {}, progress)
      const event = yield* nextWithId(reply)
      const deleting = yield* Effect.forkScoped(
        client.fetch("DELETE", { headers: { "mcp-session-id": client.session } }),
        { startImmediately: true }
      )
      expect((yield* Fiber.join(deleting)).status).toBe(204)
      yield* gate.interrupted
      expect((yield* client.listen({ "last-event-id": event?.id })).status).toBe(404)
    })
  )
})
