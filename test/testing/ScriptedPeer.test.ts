import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import { McpServer, Tool } from "../../src/index.ts"
import { ScriptedPeer } from "../../src/testing/index.ts"

const server = McpServer.make({
  name: "s",
  version: "1",
  tools: [Tool.handle(Tool.make("hi"), () => Effect.succeed("hello"))]
})

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "c", version: "1" } }
} as const

const dying = <A>(effect: Effect.Effect<A>) =>
  Effect.map(Effect.exit(effect), (exit) => (Exit.isFailure(exit) ? String(Cause.squash(exit.cause)) : "no failure"))

describe("a scripted client", () => {
  it.effect("talks to a server in messages and in text, and sees every answer", () =>
    Effect.gen(function* () {
      const peer = yield* ScriptedPeer.client(server)
      yield* peer.send(initialize)
      yield* peer.expect({ id: 1, result: { protocolVersion: "2025-11-25", serverInfo: { name: "s" } } })
      yield* peer.sendRaw("{nonsense")
      yield* peer.expect({ id: undefined, error: { code: -32700 } })
      yield* peer.send({ jsonrpc: "2.0", id: "a", method: "tools/call", params: { name: "hi" } })
      yield* peer.expect((message) => "id" in message && message.id === "a")
      yield* peer.expectNothing
      yield* peer.close
      yield* peer.closed
    })
  )

  it.effect("says what is not as expected", () =>
    Effect.gen(function* () {
      const peer = yield* ScriptedPeer.client(server)
      const say = peer.send({ jsonrpc: "2.0", id: 1, method: "ping" })
      yield* say
      expect(yield* dying(peer.expect({ id: 1, result: { a: { b: 1 } } }))).toContain("result.a is absent, not")
      yield* say
      expect(yield* dying(peer.expect({ id: 2 }))).toContain("id is 1, not 2")
      yield* say
      expect(yield* dying(peer.expect({ result: undefined }))).toContain("result is {}, not absent")
      yield* say
      expect(yield* dying(peer.expect(() => false))).toContain("the predicate says no")
      yield* say
      expect(yield* dying(peer.expectNothing)).toContain("A message that was not expected")
      yield* say
      expect(yield* dying(peer.expectRequest("ping"))).toContain("method is absent")
    })
  )

  it.effect("compares lists as a whole", () =>
    Effect.gen(function* () {
      const peer = yield* ScriptedPeer.client(server)
      yield* peer.send(initialize)
      yield* peer.next
      const list = peer.send({ jsonrpc: "2.0", id: 2, method: "tools/list" })
      yield* list
      yield* peer.expect({ result: { tools: [{ name: "hi" }] } })
      yield* list
      expect(yield* dying(peer.expect({ result: { tools: [] } }))).toContain("result.tools has 1 elements, not 0")
      yield* list
      expect(yield* dying(peer.expect({ result: { tools: [{ name: "ho" }] } }))).toContain("result.tools[0].name")
    })
  )
})

describe("a scripted server", () => {
  it.effect("accepts one connection after the other, and closes each by itself", () =>
    Effect.gen(function* () {
      const scripted = yield* ScriptedPeer.server
      const connection = yield* scripted.transport.connect
      const first = yield* scripted.accept
      yield* scripted.transport.connect
      const second = yield* scripted.accept
      yield* connection.send({ jsonrpc: "2.0", method: "notifications/hello", params: { a: [1, { b: 2 }] } })
      yield* first.expectNotification("notifications/hello", { params: { a: [1, { b: 2 }] } })
      yield* second.expectNothing
      yield* first.close
      expect((yield* Effect.flip(connection.send({ jsonrpc: "2.0", method: "late" }))).reason._tag).toBe("Closed")
      yield* connection.run(() => Effect.void)
    })
  )

  it.effect("notices when the client hangs up", () =>
    Effect.gen(function* () {
      const scripted = yield* ScriptedPeer.server
      yield* Effect.scoped(scripted.transport.connect)
      const peer = yield* scripted.accept
      yield* peer.closed
      expect(yield* dying(peer.notify("notifications/late"))).toContain("has hung up")
    })
  )
})
