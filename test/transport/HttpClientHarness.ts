/**
 * What the tests of the HTTP client share: a connection to a scripted server, messages of both eras, and time.
 */
import { expect } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Queue, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as NodeHttpSender from "../../src/node/HttpSender.ts"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import type { McpError } from "../../src/protocol/McpError.ts"
import type { HttpSender } from "../../src/transport/HttpSender.ts"
import * as StreamableHttpClient from "../../src/transport/StreamableHttpClient.ts"
import { ClientTransport, type Connection } from "../../src/transport/Transport.ts"
import * as ScriptedHttpServer from "./ScriptedHttpServer.ts"

/** Options of the layer, and what sends the requests: Node's sender when nothing else is said. */
export type Options = Partial<StreamableHttpClient.Options> & {
  readonly sender?: Layer.Layer<HttpSender>
}

/** Reconnects at once, as far as the server allows. */
export const atOnce = { initial: 0, max: 0, attempts: 3 }

/** Connects to a server and runs the connection; what arrives is taken with `received`, in order. */
export const open = Effect.fnUntraced(function* (server: ScriptedHttpServer.ScriptedHttpServer, options?: Options) {
  const { sender, ...rest } = options ?? {}
  const context = yield* StreamableHttpClient.layerSender({ url: server.url, reconnect: atOnce, ...rest }).pipe(
    Layer.provide(sender ?? NodeHttpSender.layer),
    Layer.build
  )
  const scope = yield* Scope.fork(yield* Effect.scope)
  const connection = yield* ClientTransport.pipe(
    Effect.flatMap((transport) => transport.connect),
    Scope.provide(scope),
    Effect.provideContext(context)
  )
  yield* Effect.addFinalizer(() => server.dismiss)
  const inbox = yield* Queue.unbounded<JsonRpc.Incoming>()
  const running = yield* Effect.forkScoped(connection.run((message) => Queue.offer(inbox, message)))
  return { server, connection, running, received: Queue.take(inbox), close: Scope.close(scope, Exit.void) }
})

/** A server of its own, and a connection to it. */
export const start = (options?: Options) => Effect.flatMap(ScriptedHttpServer.make, (server) => open(server, options))

/** Sends in the background; the fiber ends with how it went. */
export const send = (connection: Connection, message: JsonRpc.Message, headers?: Record<string, string>) =>
  Effect.forkScoped(Effect.result(connection.send(message, headers === undefined ? undefined : { headers })), {
    startImmediately: true
  })

/** Waits for a send that has to succeed. */
export const succeeded = (fiber: Fiber.Fiber<{ readonly _tag: string }>) =>
  Effect.map(Fiber.join(fiber), (result) => expect(result).toMatchObject({ _tag: "Success" }))

/** The reason of a failure. */
export const failure = <A>(effect: Effect.Effect<A, McpError>) =>
  Effect.map(Effect.flip(effect), (error) => error.reason)

/** Waits for a send that has to fail, and gives the reason. */
export const failed = Effect.fnUntraced(function* (
  fiber: Fiber.Fiber<{ readonly _tag: string; readonly failure?: McpError }>
) {
  const result = yield* Fiber.join(fiber)
  expect(result._tag).toBe("Failure")
  return result.failure!.reason
})

/** The modern revision. */
export const version = "2026-07-28"
/** A request of the modern era. */
export const modern = (id: JsonRpc.RequestId, method: string, params: JsonRpc.Members = {}) =>
  JsonRpc.request(id, method, { ...params, _meta: { "io.modelcontextprotocol/protocolVersion": version } })

/** Opens a session. */
export const initialize = JsonRpc.request(0, "initialize", { protocolVersion: "2025-11-25" })
/** Ends the handshake of a session. */
export const initialized = JsonRpc.notification("notifications/initialized")
/** Cancels a request. */
export const cancel = (requestId: JsonRpc.RequestId) => JsonRpc.notification("notifications/cancelled", { requestId })
/** Some notification. */
export const listChanged = JsonRpc.notification("notifications/tools/list_changed")

/** One turn of the event loop, in which sockets move; a test clock does not move them. */
export const turn = Effect.callback<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

/** Moves the test clock on, step by step, until a request arrives; gives the milliseconds that it took. */
export const waitForRequest = Effect.fnUntraced(function* (
  server: ScriptedHttpServer.ScriptedHttpServer,
  step: number
) {
  let waited = 0
  while ((yield* server.waiting) === 0) {
    yield* TestClock.adjust(step)
    yield* turn
    waited += step
  }
  return waited
})

/** An hour on the test clock, in which nothing may be asked. */
export const anHourOfSilence = Effect.fnUntraced(function* (server: ScriptedHttpServer.ScriptedHttpServer) {
  for (let minute = 0; minute < 60; minute++) {
    yield* TestClock.adjust("1 minute")
    yield* turn
  }
  expect(yield* server.waiting).toBe(0)
})

/** A session after its handshake; `get` is the request for the listening stream. */
export const startSession = Effect.fnUntraced(function* (options?: Options, negotiated = "2025-11-25") {
  const link = yield* start(options)
  const opening = yield* send(link.connection, initialize)
  const post = yield* link.server.expect("POST", "initialize")
  yield* post.replyResult({ protocolVersion: negotiated }, { "mcp-session-id": "session-1" })
  yield* succeeded(opening)
  expect(yield* link.received).toMatchObject({ id: 0, result: { protocolVersion: negotiated } })
  const ready = yield* send(link.connection, initialized)
  const notification = yield* link.server.expect("POST", "notifications/initialized")
  yield* notification.reply(202)
  yield* succeeded(ready)
  const get = yield* link.server.expect("GET")
  return { ...link, post, notification, get }
})

/** A session at a server that offers no listening stream. */
export const startQuietSession = (options?: Options) =>
  Effect.tap(startSession(options), ({ get }) => get.reply(405, { allow: "POST, DELETE" }))
