/**
 * Streamable HTTP, server side: what all three hosts have in common, on real sockets where they have some.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, References } from "effect"
import { TestClock } from "effect/testing"
import { McpServer, Progress, Tool } from "mcp-effect"
import { demo } from "../support/Demo.ts"
import { Gate } from "../support/Gate.ts"
import { hosts } from "../support/HttpHosts.ts"
import { at, eras, legacy, modern } from "../support/RawClient.ts"
import { connect, isPending } from "../support/RawHttp.ts"

const serverOf = <R>(...tools: ReadonlyArray<Tool.Handled<R>>) => McpServer.make({ name: "s", version: "1", tools })

for (const host of hosts) {
  describe(`${host.name}, either era`, () => {
    for (const era of eras) {
      it.effect(`[HTTP-01][HTTP-02][HTTP-12] a quick answer is one JSON object (${era})`, () =>
        Effect.gen(function* () {
          const client = yield* connect(yield* host.start(demo), era)
          const reply = yield* client.call("echo", { text: "é漢🙂\u2028\u0000" })
          expect([reply.status, reply.type]).toEqual([200, "application/json"])
          expect(at(yield* reply.json, "result", "content", 0, "text")).toBe("é漢🙂\u2028\u0000")
        })
      )

      it.effect(`[HTTP-12] what is said before the answer makes it a stream, which ends with the answer (${era})`, () =>
        Effect.gen(function* () {
          const client = yield* connect(yield* host.start(demo), era)
          const reply = yield* client.call("count", {}, { _meta: { progressToken: "t" } })
          expect([reply.status, reply.type]).toEqual([200, "text/event-stream"])
          expect(reply.headers.get("x-accel-buffering")).toBe("no")
          const messages = yield* reply.messages
          expect(messages.map((message) => message.method ?? "answer")).toEqual([
            "notifications/progress",
            "notifications/progress",
            "answer"
          ])
        })
      )

      it.effect(`[HTTP-12] an answer that takes long becomes a stream by itself (${era})`, () =>
        Effect.gen(function* () {
          const gate = new Gate()
          const slow = serverOf(Tool.handle(Tool.make("slow"), () => Effect.as(gate.work, "done")))
          const client = yield* connect(yield* host.start(slow), era)
          const waiting = yield* Effect.forkScoped(client.call("slow"), { startImmediately: true })
          yield* gate.started
          yield* TestClock.adjust("100 millis")
          const reply = yield* Effect.fromYieldable(waiting).pipe(Effect.flatten)
          expect(reply.type).toBe("text/event-stream")
          yield* gate.open
          expect(at(yield* reply.answer, "result", "content", 0, "text")).toBe("done")
        })
      )

      it.effect(`[HTTP-11] a notification is accepted without a body (${era})`, () =>
        Effect.gen(function* () {
          const client = yield* connect(yield* host.start(demo), era)
          for (const params of [undefined, {}, { a: 1 }]) {
            const reply = yield* client.post({ jsonrpc: "2.0", method: "notifications/whatever", ...(params && { params }) })
            expect([reply.status, yield* reply.text]).toEqual([202, ""])
          }
        })
      )
    }
  })
}
