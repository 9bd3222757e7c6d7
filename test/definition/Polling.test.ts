/**
 * A call that ends its connection and is polled for.
 */
import { describe, expect, it } from "@effect/vitest"
import { Context, Deferred, Effect, type Scope } from "effect"
import { McpServer, Polling, Progress, StreamableHttp, Tool } from "mcp-effect"
import { initializeParams, modern, modernMeta, open } from "../support/RawClient.ts"

interface Call {
  readonly tell: Deferred.Deferred<void>
  readonly server: McpServer.McpServer<never>
}

/** A server whose one tool disconnects, and answers when it is told to. */
const makeCall = Effect.gen(function* () {
  const tell = yield* Deferred.make<void>()
  const tool = Tool.handle(Tool.make("slow"), () =>
    Effect.gen(function* () {
      yield* Polling.disconnect
      yield* Deferred.await(tell)
      yield* Progress.report({ progress: 1 })
      yield* Polling.disconnect
      return "answered"
    })
  )
  return { tell, server: McpServer.make({ name: "polling", version: "1", tools: [tool] }) } satisfies Call
})

type Send = (request: RequestInit & { readonly method: string }) => Effect.Effect<Response>

const serve = (server: McpServer.McpServer<never>): Effect.Effect<Send, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => StreamableHttp.toWebHandler(server, Context.empty(), { retry: "700 millis" })),
      ({ dispose }) => Effect.promise(dispose)
    ),
    ({ handler }) =>
      (request) =>
        Effect.promise(() => handler(new Request("http://localhost/mcp", request)))
  )

const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" }

const openSession = (send: Send, version: string) =>
  Effect.gen(function* () {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params: initializeParams({}, version) })
    const response = yield* send({ method: "POST", headers, body })
    yield* Effect.promise(() => response.text())
    return {
      ...headers,
      "mcp-session-id": response.headers.get("mcp-session-id") ?? "",
      "mcp-protocol-version": version
    }
  })

const call = (_meta?: object) =>
  JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "slow", _meta: { progressToken: "p", ..._meta } }
  })

/** The events of a whole body. */
const eventsOf = (response: Response) =>
  Effect.map(
    Effect.promise(() => response.text()),
    (text) =>
      text
        .split("\n\n")
        .filter((block) => block !== "")
        .map((block) => Object.fromEntries(block.split("\n").map((line) => line.split(/: ?(.*)/s, 2))))
  )

const resultOf = (message: string | undefined) => JSON.parse(message ?? "null").result?.content?.[0]?.text

describe("polling over HTTP", () => {
  it.effect("[HTTP-20] the connection ends before the answer, which is there for who comes back", () =>
    Effect.gen(function* () {
      const { server, tell } = yield* makeCall
      const send = yield* serve(server)
      const session = yield* openSession(send, "2025-11-25")

      const first = yield* eventsOf(yield* send({ method: "POST", headers: session, body: call() }))
      expect(first).toEqual([{ id: expect.any(String), retry: "700", data: "" }])

      yield* Deferred.succeed(tell, undefined)
      const again = yield* send({ method: "GET", headers: { ...session, "last-event-id": String(first[0]?.id) } })
      expect(again.status).toBe(200)
      const missed = (yield* eventsOf(again)).filter(({ data }) => data !== "")
      // It may have been cut off again, between the progress and the answer.
      const last = missed.at(-1)
      const rest =
        missed.length === 2
          ? []
          : yield* eventsOf(yield* send({ method: "GET", headers: { ...session, "last-event-id": String(last?.id) } }))
      const messages = [...missed, ...rest].map(({ data }) => data).filter((data) => data !== "")
      expect(messages).toHaveLength(2)
      expect(JSON.parse(messages[0] ?? "").params).toEqual({ progressToken: "p", progress: 1 })
      expect(resultOf(messages[1])).toBe("answered")
    })
  )

  it.effect("a client that could not come back stays connected", () =>
    Effect.gen(function* () {
      const { server, tell } = yield* makeCall
      const send = yield* serve(server)
      const session = yield* openSession(send, "2025-06-18")
      yield* Deferred.succeed(tell, undefined)
      const events = yield* eventsOf(yield* send({ method: "POST", headers: session, body: call() }))
      expect(events.map(({ data }) => resultOf(data))).toEqual([undefined, "answered"])
    })
  )

  it.effect("a request of 2026-07-28 is its connection", () =>
    Effect.gen(function* () {
      const { server, tell } = yield* makeCall
      const send = yield* serve(server)
      yield* Deferred.succeed(tell, undefined)
      const modernHeaders = {
        ...headers,
        "mcp-protocol-version": modern,
        "mcp-method": "tools/call",
        "mcp-name": "slow"
      }
      const events = yield* eventsOf(yield* send({ method: "POST", headers: modernHeaders, body: call(modernMeta()) }))
      expect(events.map(({ data }) => resultOf(data))).toEqual([undefined, "answered"])
    })
  )
})

it.effect("other transports have no connection to end", () =>
  Effect.gen(function* () {
    const { server, tell } = yield* makeCall
    yield* Deferred.succeed(tell, undefined)
    const client = yield* open(server, { era: "2025-11-25" })
    expect((yield* client.call("slow")).content).toEqual([{ type: "text", text: "answered" }])
  })
)
