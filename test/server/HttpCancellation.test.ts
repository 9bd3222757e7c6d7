/**
 * A request over HTTP that its client cancels with a notification (up to 2025-11-25): no answer comes, so its response
 * must not be left waiting for one.
 */
import { expect, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Schema } from "effect"
import { FetchHttpClient } from "effect/http"
import { McpClient, McpServer, Peer, StreamableHttp, Tool } from "mcp-effect"

it("ends the response of a cancelled request without an answer [CANC-04]", async () => {
  const started = Deferred.makeUnsafe<void>()
  const stopped = Deferred.makeUnsafe<void>()
  const waits = Tool.handle(Tool.make("wait"), () =>
    Effect.andThen(Deferred.succeed(started, undefined), Effect.never).pipe(
      Effect.onInterrupt(() => Deferred.succeed(stopped, undefined)),
      Effect.as("done")
    )
  )
  const server = McpServer.make({ name: "test", version: "1.0.0", tools: [waits] })
  const { dispose, handler } = StreamableHttp.toWebHandler(server, Context.empty())
  const post = (message: object, headers: Record<string, string> = {}) =>
    handler(
      new Request("http://localhost/mcp", {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
        body: JSON.stringify({ jsonrpc: "2.0", ...message })
      })
    )
  const clientInfo = { name: "test", version: "1.0.0" }
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo }
  const opened = await post({ id: 0, method: "initialize", params })
  const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" }
  await post({ method: "notifications/initialized" }, session)

  const response = post({ id: 1, method: "tools/call", params: { name: "wait" } }, session)
  await Effect.runPromise(Deferred.await(started))
  await post({ method: "notifications/cancelled", params: { requestId: 1 } }, session)
  await Effect.runPromise(Deferred.await(stopped))
  const body = await (await response).text()
  expect(body).not.toContain('"id":1')
  await dispose()
})

it("withdraws its question from a client that has left the call in which it was asked [CANC-04]", async () => {
  const asked = Deferred.makeUnsafe<void>()
  const withdrawn = Deferred.makeUnsafe<void>()
  const asks = Tool.handle(Tool.make("ask"), () =>
    Effect.as(Peer.elicit({ message: "Sure?", schema: Schema.Struct({ sure: Schema.Boolean }) }), "done")
  )
  const { dispose, handler } = StreamableHttp.toWebHandler(
    McpServer.make({ name: "test", version: "1.0.0", tools: [asks] }),
    Context.empty()
  )
  const client = McpClient.layer({
    name: "test",
    version: "1.0.0",
    revisions: ["2025-11-25"],
    handlers: {
      elicit: () =>
        Effect.andThen(Deferred.succeed(asked, undefined), Effect.never).pipe(
          Effect.onInterrupt(() => Deferred.succeed(withdrawn, undefined))
        )
    }
  }).pipe(
    Layer.provide(StreamableHttp.layerClient({ url: "http://127.0.0.1/mcp" })),
    Layer.provide(FetchHttpClient.layer),
    Layer.provide(Layer.succeed(FetchHttpClient.Fetch, (input, init) => handler(new Request(input, init))))
  )
  const program = Effect.gen(function* () {
    const { callTool } = yield* McpClient.McpClient
    const call = yield* Effect.forkChild(callTool("ask", {}))
    yield* Deferred.await(asked)
    yield* Fiber.interrupt(call)
    yield* Deferred.await(withdrawn)
  })
  await Effect.runPromise(Effect.provide(program, client))
  await dispose()
})
