import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { McpError } from "../../src/index.ts"
import { McpClient } from "../../src/index.ts"
import { MetaKey } from "../../src/protocol/index.ts"
import type { Members } from "../../src/protocol/JsonRpc.ts"
import { ClientTransport } from "../../src/transport/Transport.ts"
import { McpError as Failure } from "../../src/protocol/McpError.ts"
import {
  answerInitialize,
  answerProbe,
  connecting,
  connectLegacy,
  connectModern,
  discovered,
  identity
} from "./scripted.ts"

const reasonOf = (client: Effect.Effect<McpClient.Client, McpError>) =>
  Effect.map(Effect.flip(client), ({ reason }) => reason)

describe("a server that answers server/discover", () => {
  it.effect(
    "[DISC-06] [META-10] [META-11] [META-12] [BASE-28] [VER-01] is asked first of all, with version, capabilities and name",
    () =>
      Effect.gen(function* () {
        const { client, server } = yield* connecting()
        const peer = yield* server.accept
        const probe = yield* peer.expectRequest("server/discover")
        expect(probe.params).toEqual({
          _meta: {
            [MetaKey.protocolVersion]: "2026-07-28",
            [MetaKey.clientInfo]: identity,
            [MetaKey.clientCapabilities]: {}
          }
        })
        yield* peer.respond(
          probe,
          discovered({ instructions: "Be kind", _meta: { [MetaKey.serverInfo]: { name: "s", version: "2" } } })
        )
        expect((yield* client).server).toMatchObject({
          era: "modern",
          revision: "2026-07-28",
          info: { name: "s", version: "2" },
          instructions: "Be kind"
        })
        yield* peer.expectNothing
      })
  )

  it.effect("[DISC-05] may speak revisions that this client has never heard of", () =>
    Effect.gen(function* () {
      const { client } = yield* connectModern({}, { supportedVersions: ["2031-01-01", "2026-07-28"] })
      expect(client.server.revision).toBe("2026-07-28")
    })
  )

  it.effect(
    "[VER-03] is asked again in a version that its -32022 lists, the same one too, and never with initialize",
    () =>
      Effect.gen(function* () {
        const { client, server } = yield* connecting()
        const peer = yield* server.accept
        const probe = yield* peer.expectRequest("server/discover")
        yield* peer.refuse(probe, -32022, "Unsupported", { supported: ["2026-07-28"], requested: "2026-07-28" })
        const again = yield* peer.expectRequest("server/discover", {
          params: { _meta: { [MetaKey.protocolVersion]: "2026-07-28" } }
        })
        expect(again.id).not.toBe(probe.id)
        yield* peer.respond(again, discovered())
        expect((yield* client).server.era).toBe("modern")
      })
  )

  it.effect("[VER-03] is given up when it says -32022 to its own version", () =>
    Effect.gen(function* () {
      const { client, server } = yield* connecting()
      const peer = yield* server.accept
      for (let time = 0; time < 2; time++) {
        const probe = yield* peer.expectRequest("server/discover")
        yield* peer.refuse(probe, -32022, "Unsupported", { supported: ["2026-07-28"], requested: "2026-07-28" })
      }
      expect(yield* reasonOf(client)).toMatchObject({ _tag: "ProtocolFailure", code: -32022 })
      yield* peer.closed
      yield* peer.expectNothing
    })
  )

  it.effect("is legacy after all when its -32022 lists legacy versions only", () =>
    Effect.gen(function* () {
      const { client, server } = yield* connecting()
      const peer = yield* server.accept
      const probe = yield* peer.expectRequest("server/discover")
      yield* peer.refuse(probe, -32022, "Unsupported", { supported: ["2025-11-25"], requested: "2026-07-28" })
      yield* answerInitialize(peer)
      expect((yield* client).server.era).toBe("legacy")
    })
  )

  it.effect("shares no revision with this client when its -32022 lists none that is known", () =>
    Effect.gen(function* () {
      const { client, server } = yield* connecting()
      const peer = yield* server.accept
      const probe = yield* peer.expectRequest("server/discover")
      yield* peer.refuse(probe, -32022, "Unsupported", { supported: ["2031-01-01"], requested: "2026-07-28" })
      expect(yield* reasonOf(client)).toMatchObject({ _tag: "Unsupported", message: /2031-01-01/ })
      yield* peer.expectNothing
    })
  )

  it.effect.each([-32020, -32021])("is modern when it says %i, so that this is the error", (code) =>
    Effect.gen(function* () {
      const { client, server } = yield* connecting()
      const peer = yield* server.accept
      yield* peer.refuse(yield* peer.expectRequest("server/discover"), code)
      expect(yield* reasonOf(client)).toMatchObject({ _tag: "ProtocolFailure", code })
      yield* peer.expectNothing
    })
  )
})

describe("a server that does not", () => {
  it.effect.each([-32601, -32602, -32600, -32000, 0])(
    "[BUG-142] [LIFE-02] is opened with initialize on the same connection when it answers %i",
    (code) =>
      Effect.gen(function* () {
        const { client, server } = yield* connecting()
        const peer = yield* server.accept
        const probe = yield* peer.expectRequest("server/discover")
        yield* peer.refuse(probe, code, "Server not initialized")
        const request = yield* answerInitialize(peer)
        expect(request.id).not.toBe(probe.id)
        expect(request.params).toEqual({ protocolVersion: "2025-11-25", capabilities: {}, clientInfo: identity })
        expect((yield* client).server).toMatchObject({
          era: "legacy",
          revision: "2025-11-25",
          info: { name: "scripted" }
        })
      })
  )

  it.effect.each<Members>([{}, { supportedVersions: "2026-07-28" }, { resultType: "strange", supportedVersions: [] }])(
    "is legacy when its result is no DiscoverResult: %j",
    (result) =>
      Effect.gen(function* () {
        const { client, server } = yield* connecting()
        const peer = yield* server.accept
        yield* peer.respond(yield* peer.expectRequest("server/discover"), result)
        yield* answerInitialize(peer)
        expect((yield* client).server.era).toBe("legacy")
      })
  )

  it.effect(
    "[BUG-142] [CANC-02] [LIFE-05] is legacy when it says nothing for 5 seconds, and hears of nothing but initialize then",
    () =>
      Effect.gen(function* () {
        const { client, server } = yield* connecting()
        const peer = yield* server.accept
        const probe = yield* peer.expectRequest("server/discover")
        yield* TestClock.adjust("4999 millis")
        yield* peer.expectNothing
        yield* TestClock.adjust("1 millis")
        const request = yield* peer.expectRequest("initialize")
        yield* peer.respond(request, {
          protocolVersion: "2025-11-25",
          capabilities: {},
          serverInfo: { name: "silent", version: "1" }
        })
        yield* peer.expectNotification("notifications/initialized")
        const { server: found } = yield* client
        // The late answer changes nothing.
        yield* peer.respond(probe, discovered())
        expect(found.era).toBe("legacy")
        yield* peer.expectNothing
      })
  )

  it.effect("is modern after all when it was slow to start, and answers the probe before initialize", () =>
    Effect.gen(function* () {
      const { client, server } = yield* connecting()
      const peer = yield* server.accept
      const probe = yield* peer.expectRequest("server/discover")
      yield* TestClock.adjust("5 seconds")
      const request = yield* peer.expectRequest("initialize")
      yield* peer.respond(probe, discovered())
      yield* peer.refuse(request, -32601)
      expect((yield* client).server.era).toBe("modern")
      yield* peer.expectNothing
    })
  )

  it.effect("[BUG-144] is started again when it died of the probe, and then spared", () =>
    Effect.gen(function* () {
      const { client, server } = yield* connecting()
      const first = yield* server.accept
      yield* first.expectRequest("server/discover")
      yield* first.close
      const second = yield* server.accept
      yield* answerInitialize(second)
      expect((yield* client).server.era).toBe("legacy")
      yield* first.closed
    })
  )

  it.effect("[BUG-144] is started again when it answered the probe and died then", () =>
    Effect.gen(function* () {
      const { client, server } = yield* connecting()
      const first = yield* server.accept
      yield* first.refuse(yield* first.expectRequest("server/discover"), -32600)
      yield* first.expectRequest("initialize")
      yield* first.close
      yield* answerInitialize(yield* server.accept)
      expect((yield* client).server.era).toBe("legacy")
    })
  )
})

describe("initialize", () => {
  it.effect("[LIFE-09] [BUG-72] hangs up on a revision that this client does not speak, with a typed error", () =>
    Effect.gen(function* () {
      const { client, server } = yield* connecting({ prior: "legacy", revisions: ["2025-11-25"] })
      const peer = yield* server.accept
      yield* peer.respond(yield* peer.expectRequest("initialize"), {
        protocolVersion: "1999-01-01",
        capabilities: {},
        serverInfo: { name: "old", version: "1" }
      })
      expect(yield* reasonOf(client)).toMatchObject({ _tag: "Unsupported", message: /1999-01-01/ })
      yield* peer.closed
    })
  )

  it.effect("[LIFE-04] [LIFE-07] offers the newest revision and says when it is ready, before anything else", () =>
    Effect.gen(function* () {
      const { client, server } = yield* connecting({ revisions: ["2025-11-25"] })
      const peer = yield* server.accept
      const request = yield* peer.expectRequest("initialize", { params: { protocolVersion: "2025-11-25" } })
      yield* peer.respond(request, {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "s", version: "1" }
      })
      yield* peer.expectNotification("notifications/initialized")
      yield* Effect.forkScoped((yield* client).ping)
      yield* peer.expectRequest("ping")
    })
  )

  it.effect(
    "[BUG-74] [LIFE-21] [CANC-02] is given up after the client's timeout, without a word, and the connection closed",
    () =>
      Effect.gen(function* () {
        const { client, server } = yield* connecting({ revisions: ["2025-11-25"], timeout: "500 millis" })
        const peer = yield* server.accept
        yield* peer.expectRequest("initialize")
        yield* TestClock.adjust("500 millis")
        expect(yield* reasonOf(client)).toMatchObject({ _tag: "Timeout", method: "initialize", after: 500 })
        yield* peer.closed
        yield* peer.expectNothing
      })
  )

  it.effect("[CANC-02] is not cancelled when the client is interrupted", () =>
    Effect.gen(function* () {
      const { fiber, server } = yield* connecting({ prior: "legacy" })
      const peer = yield* server.accept
      yield* peer.expectRequest("initialize")
      yield* Fiber.interrupt(fiber)
      yield* peer.expectNothing
    })
  )
})

describe("a verdict", () => {
  it.effect("[VER-17] is remembered: a server known to be legacy is not probed", () =>
    Effect.gen(function* () {
      const { client } = yield* connectLegacy()
      const { client: next, server } = yield* connecting({ prior: client.server })
      const peer = yield* server.accept
      yield* answerInitialize(peer)
      expect((yield* next).server).toEqual(client.server)
    })
  )

  it.effect("[VER-17] of legacy that no longer holds is found out anew", () =>
    Effect.gen(function* () {
      const { client, server } = yield* connecting({ prior: "legacy" })
      const first = yield* server.accept
      yield* first.refuse(yield* first.expectRequest("initialize"), -32601)
      yield* answerProbe(yield* server.accept)
      expect((yield* client).server.era).toBe("modern")
    })
  )

  it.effect("[VER-17] of modern makes the client patient, and can be wrong all the same", () =>
    Effect.gen(function* () {
      const { client, server } = yield* connecting({ prior: "modern" })
      const peer = yield* server.accept
      const probe = yield* peer.expectRequest("server/discover")
      yield* TestClock.adjust("50 seconds")
      yield* peer.expectNothing
      yield* peer.refuse(probe, -32601)
      yield* answerInitialize(peer)
      expect((yield* client).server.era).toBe("legacy")
    })
  )
})

describe("a client of the modern revision alone", () => {
  it.effect("[DISC-07] probes too, and fails with what it heard", () =>
    Effect.gen(function* () {
      const { client, server } = yield* connecting({ revisions: ["2026-07-28"] })
      const peer = yield* server.accept
      yield* peer.refuse(yield* peer.expectRequest("server/discover"), -32601, "Method not found")
      expect(yield* reasonOf(client)).toMatchObject({ _tag: "Unsupported", message: /Method not found/ })
      yield* peer.closed
      yield* peer.expectNothing
    })
  )

  it.effect("can't be made for a revision that is none", () =>
    Effect.sync(() => {
      expect(() => McpClient.make({ ...identity, revisions: ["1999-01-01"] })).toThrow(/1999-01-01/)
    })
  )
})

describe("a status that speaks of access or availability", () => {
  it.effect.each([401, 403, 429, 500, 503])("is an error and no verdict: %i", (status) =>
    Effect.gen(function* () {
      const sent: Array<string> = []
      const transport = ClientTransport.of({
        connect: Effect.succeed({
          send: (message) => {
            if ("method" in message) sent.push(message.method)
            return Effect.fail(Failure.transport("no", { status }))
          },
          run: () => Effect.never
        })
      })
      const client = Effect.provideService(McpClient.make(identity), ClientTransport, transport)
      expect(yield* reasonOf(client as Effect.Effect<McpClient.Client, McpError>)).toMatchObject({ status })
      expect(sent).toEqual(["server/discover"])
    })
  )

  it.effect("is legacy when it is another, as of a server that knows no such request", () =>
    Effect.gen(function* () {
      const sent: Array<string> = []
      const transport = ClientTransport.of({
        connect: Effect.succeed({
          send: (message) => {
            if ("method" in message) sent.push(message.method)
            return Effect.fail(Failure.transport("no", { status: 400 }))
          },
          run: () => Effect.never
        })
      })
      const client = Effect.provideService(McpClient.make(identity), ClientTransport, transport)
      yield* Effect.flip(client)
      expect(sent).toEqual(["server/discover", "initialize"])
    })
  )
})
