/**
 * Clients that are connected to a scripted server of either era.
 */
import { Effect, Fiber, type Scope } from "effect"
import type { McpError } from "../../src/index.ts"
import { McpClient } from "../../src/index.ts"
import type { Members, Request } from "../../src/protocol/JsonRpc.ts"
import { ScriptedPeer } from "../../src/testing/index.ts"

export const identity = { name: "demo", version: "1.0.0" }

/** Everything that a server can declare. */
export const everything = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
  logging: {}
}

export interface Connected {
  readonly client: McpClient.Client
  readonly peer: ScriptedPeer.ScriptedPeer
  readonly server: ScriptedPeer.ScriptedServer
}

/** A client that is connecting, and the server that it connects to. */
export const connecting = (
  options: Partial<McpClient.Options> = {}
): Effect.Effect<
  {
    readonly server: ScriptedPeer.ScriptedServer
    readonly fiber: Fiber.Fiber<McpClient.Client, McpError>
    readonly client: Effect.Effect<McpClient.Client, McpError>
  },
  never,
  Scope.Scope
> =>
  Effect.gen(function* () {
    const server = yield* ScriptedPeer.server
    const make = Effect.provide(McpClient.make({ ...identity, ...options }), server.layer) as Effect.Effect<
      McpClient.Client,
      McpError,
      Scope.Scope
    >
    const fiber = yield* Effect.forkScoped(make)
    return { server, fiber, client: Fiber.join(fiber) }
  })

/** Answers a probe as a modern server. */
export const answerProbe = (peer: ScriptedPeer.ScriptedPeer, result: Members = {}) =>
  Effect.flatMap(peer.expectRequest("server/discover"), (probe) => peer.respond(probe, discovered(result)))

export const discovered = (result: Members = {}): Members => ({
  resultType: "complete",
  supportedVersions: ["2026-07-28"],
  capabilities: everything,
  ...result
})

/** Answers `initialize` as a legacy server, and waits for the client to be ready. */
export const answerInitialize = (peer: ScriptedPeer.ScriptedPeer, result: Members = {}) =>
  Effect.gen(function* () {
    const request = yield* peer.expectRequest("initialize")
    yield* peer.respond(request, initialized(result))
    yield* peer.expectNotification("notifications/initialized")
    return request
  })

export const initialized = (result: Members = {}): Members => ({
  protocolVersion: "2025-11-25",
  capabilities: everything,
  serverInfo: { name: "scripted", version: "1" },
  ...result
})

/** A client connected to a modern server. */
export const connectModern = (
  options: Partial<McpClient.Options> = {},
  result: Members = {}
): Effect.Effect<Connected, McpError, Scope.Scope> =>
  Effect.gen(function* () {
    const { client, server } = yield* connecting(options)
    const peer = yield* server.accept
    yield* answerProbe(peer, result)
    return { client: yield* client, peer, server }
  })

/** A client connected to a legacy server, of which it knew that it is one. */
export const connectLegacy = (
  options: Partial<McpClient.Options> = {},
  result: Members = {}
): Effect.Effect<Connected, McpError, Scope.Scope> =>
  Effect.gen(function* () {
    const { client, server } = yield* connecting({ prior: "legacy", ...options })
    const peer = yield* server.accept
    yield* answerInitialize(peer, result)
    return { client: yield* client, peer, server }
  })

/** Runs a call, answers its one request, and gives both. */
export const exchange = <A, E>(
  peer: ScriptedPeer.ScriptedPeer,
  call: Effect.Effect<A, E>,
  method: string,
  result: Members
): Effect.Effect<{ readonly value: A; readonly request: Request }, E, Scope.Scope> =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkScoped(call)
    const request = yield* peer.expectRequest(method)
    yield* peer.respond(request, result)
    return { value: yield* Fiber.join(fiber), request }
  })
