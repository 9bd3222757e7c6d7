/**
 * Closing a session that has handlers at work.
 */
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { McpServer, Tool } from "../../src/index.ts"
import * as ServerPeer from "../../src/server/ServerPeer.ts"
import * as ServerRuntime from "../../src/server/ServerRuntime.ts"

describe("closing a session", () => {
  it.effect("[BUG-128] waits for a handler that can't be interrupted, but not for ever", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      const stuck = Tool.handle(Tool.make("stuck"), () =>
        Effect.as(Effect.uninterruptible(Effect.andThen(Deferred.succeed(started, undefined), Effect.never)), "never")
      )
      const server = McpServer.make({ name: "s", version: "1", tools: [stuck], revisions: ["2026-07-28"] })
      const session = Effect.scoped(
        Effect.gen(function* () {
          const outlet = { send: () => Effect.void }
          const peer = yield* ServerPeer.open(yield* ServerRuntime.make(server), outlet)
          const _meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {}
          }
          yield* peer.receive({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "stuck", _meta } }, outlet)
          yield* Deferred.await(started)
        })
      )
      const closing = yield* Effect.forkChild(session)
      yield* TestClock.adjust("4 seconds")
      expect(closing.pollUnsafe()).toBeUndefined()
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(closing)
    })
  )
})
