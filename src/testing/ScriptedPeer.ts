/**
 * A peer that says what a test tells it to say, and that checks what it hears: for what a well-behaved peer would never
 * do, and for looking at the wire itself.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as JsonRpc from "../protocol/JsonRpc.ts"
import { McpError } from "../protocol/McpError.ts"
import type { McpServer } from "../server/McpServer.ts"
import * as ServerPeer from "../server/ServerPeer.ts"
import * as ServerRuntime from "../server/ServerRuntime.ts"
import { Inbox } from "../transport/Inbox.ts"
import { ClientTransport, type Connection } from "../transport/Transport.ts"
import { mismatch, type Pattern } from "./MessagePattern.ts"

export type { Pattern } from "./MessagePattern.ts"

/** The script's end of one connection. What is not as expected dies, so that the test fails there. */
export interface ScriptedPeer {
  /** Waits for the next message of the system under test. */
  readonly next: Effect.Effect<JsonRpc.Incoming>
  /** Waits for the next message, and checks it. */
  readonly expect: (pattern: Pattern) => Effect.Effect<JsonRpc.Incoming>
  /** Waits for the next message, which must be a request of this method, and checks it. */
  readonly expectRequest: (method: string, pattern?: Pattern) => Effect.Effect<JsonRpc.Request>
  /** Waits for the next message, which must be a notification of this method, and checks it. */
  readonly expectNotification: (method: string, pattern?: Pattern) => Effect.Effect<JsonRpc.Notification>
  /** Checks that no message has arrived that was not taken. */
  readonly expectNothing: Effect.Effect<void>
  /** Waits until the system under test has hung up. */
  readonly closed: Effect.Effect<void>
  /** Sends a message. */
  readonly send: (message: JsonRpc.Message) => Effect.Effect<void>
  /** Sends text, whatever it is. */
  readonly sendRaw: (text: string) => Effect.Effect<void>
  /** Answers a request with a result. */
  readonly respond: (request: JsonRpc.Request, result: JsonRpc.Members) => Effect.Effect<void>
  /** Answers a request with an error. */
  readonly refuse: (request: JsonRpc.Request, code: number, message?: string, data?: unknown) => Effect.Effect<void>
  /** Sends a notification. */
  readonly notify: (method: string, params?: JsonRpc.Members) => Effect.Effect<void>
  /** Hangs up. */
  readonly close: Effect.Effect<void>
}

/** A server that is played by the test: what a client connects to. */
export interface ScriptedServer {
  /** The transport for the client. Every `connect` opens one more connection. */
  readonly transport: ClientTransport["Service"]
  /** `transport` as a layer. */
  readonly layer: Layer.Layer<ClientTransport>
  /** Waits for the next connection of the client. */
  readonly accept: Effect.Effect<ScriptedPeer>
}

/**
 * Plays the server, to test clients.
 *
 * @example
 * ```ts
 * import { Effect, Fiber } from "effect"
 * import { McpClient } from "mcp-effect"
 * import { ScriptedPeer } from "mcp-effect/testing"
 *
 * const test = Effect.gen(function* () {
 *   const server = yield* ScriptedPeer.server
 *   const connecting = yield* Effect.forkScoped(
 *     Effect.provide(McpClient.make({ name: "demo", version: "1.0.0" }), server.layer)
 *   )
 *   const peer = yield* server.accept
 *   const probe = yield* peer.expectRequest("server/discover")
 *   yield* peer.respond(probe, { supportedVersions: ["2026-07-28"], capabilities: {} })
 *   return yield* Fiber.join(connecting)
 * })
 * ```
 */
export const server: Effect.Effect<ScriptedServer, never, Scope.Scope> = Effect.gen(function* () {
  const dialled = yield* Queue.unbounded<ScriptedPeer>()
  yield* Effect.addFinalizer(() => Queue.shutdown(dialled))
  const transport = ClientTransport.of({
    connect: Effect.map(
      Effect.acquireRelease(
        Effect.tap(makeEnds, ({ peer }) => Queue.offer(dialled, peer)),
        ({ hangUp }) => hangUp
      ),
      ({ connection }) => connection
    )
  })
  return { transport, layer: Layer.succeed(ClientTransport, transport), accept: Queue.take(dialled) }
})

/**
 * Plays the client of a server, to test servers. The server's services come from the context.
 *
 * @example
 * ```ts
 * import { Effect } from "effect"
 * import { McpServer } from "mcp-effect"
 * import { ScriptedPeer } from "mcp-effect/testing"
 *
 * const server = McpServer.make({ name: "demo", version: "1.0.0" })
 *
 * const test = Effect.gen(function* () {
 *   const peer = yield* ScriptedPeer.client(server)
 *   yield* peer.sendRaw('{"jsonrpc":"2.0","id":1,"method":"tools/list"}')
 *   yield* peer.expect({ id: 1, error: { code: -32600 } })
 * })
 * ```
 */
export const client = <R>(tested: McpServer<R>): Effect.Effect<ScriptedPeer, never, R | Scope.Scope> =>
  Effect.gen(function* () {
    const runtime = yield* ServerRuntime.make(tested)
    const { connection, hangUp, peer } = yield* Effect.acquireRelease(makeEnds, ({ hangUp }) => hangUp)
    const serve = Effect.scoped(
      Effect.gen(function* () {
        const opened = yield* ServerPeer.open(runtime, connection)
        yield* connection.run((message) => opened.receive(message, connection))
      })
    )
    yield* Effect.forkScoped(Effect.ensuring(Effect.orDie(serve), hangUp), { startImmediately: true })
    return peer
  })

interface Ends {
  readonly connection: Connection
  /** The system under test hangs up. */
  readonly hangUp: Effect.Effect<void>
  readonly peer: ScriptedPeer
}

const makeEnds: Effect.Effect<Ends> = Effect.gen(function* () {
  const inbox = new Inbox()
  const heard = yield* Queue.unbounded<JsonRpc.Incoming>()
  const closed = yield* Deferred.make<void>()
  let isOpen = true
  const connection: Connection = {
    send: (message) =>
      Effect.suspend(() =>
        isOpen
          ? Effect.asVoid(Queue.offer(heard, JsonRpc.parse(JsonRpc.stringify(message))))
          : Effect.fail(McpError.closed("The connection is closed"))
      ),
    run: (onMessage) => inbox.run((text) => onMessage(JsonRpc.parse(text)))
  }
  const close = Effect.sync(() => {
    isOpen = false
    inbox.end()
  })
  return {
    connection,
    hangUp: Effect.andThen(inbox.close, Effect.asVoid(Deferred.succeed(closed, undefined))),
    peer: makePeer(inbox, heard, close, Deferred.await(closed))
  }
})

const makePeer = (
  inbox: Inbox,
  heard: Queue.Queue<JsonRpc.Incoming>,
  close: Effect.Effect<void>,
  closed: Effect.Effect<void>
): ScriptedPeer => {
  const sendRaw = (text: string) =>
    Effect.catch(
      Effect.suspend(() => inbox.offer(text)),
      () => failed("The system under test has hung up", text)
    )
  const send = (message: JsonRpc.Message) => sendRaw(JsonRpc.stringify(message))
  const next = Queue.take(heard)
  const expect = (pattern: Pattern) =>
    Effect.flatMap(next, (message) => {
      const problem = mismatch(pattern, message)
      return problem === undefined ? Effect.succeed(message) : failed(`Not the expected message: ${problem}`, message)
    })
  return {
    next,
    expect,
    expectRequest: (method, pattern = {}) =>
      Effect.flatMap(expect({ method }), (message) =>
        JsonRpc.isRequest(message) ? Effect.as(check(pattern, message), message) : failed("Not a request", message)
      ),
    expectNotification: (method, pattern = {}) =>
      Effect.flatMap(expect({ method }), (message) =>
        JsonRpc.isNotification(message)
          ? Effect.as(check(pattern, message), message)
          : failed("Not a notification", message)
      ),
    expectNothing: Effect.flatMap(Queue.poll(heard), (message) =>
      Option.isNone(message) ? Effect.void : failed("A message that was not expected", message.value)
    ),
    closed,
    send,
    sendRaw,
    respond: (request, result) => send(JsonRpc.result(request.id, result)),
    refuse: (request, code, message = "refused", data) =>
      send(JsonRpc.error(request.id, data === undefined ? { code, message } : { code, message, data })),
    notify: (method, params) => send(JsonRpc.notification(method, params)),
    close
  }
}

const check = (pattern: Pattern, message: JsonRpc.Incoming): Effect.Effect<void> => {
  const problem = mismatch(pattern, message)
  return problem === undefined ? Effect.void : failed(`Not the expected message: ${problem}`, message)
}

const failed = (what: string, message: unknown): Effect.Effect<never> =>
  Effect.die(new Error(`${what}\n${typeof message === "string" ? message : JSON.stringify(message, undefined, 2)}`))
