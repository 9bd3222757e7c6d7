/**
 * What simulation has found, so that it stays found.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Schema, Stream } from "effect"
import { HttpClient } from "effect/http"
import { McpClient, McpServer, Peer, Resource, StreamableHttp, Tool } from "mcp-effect"
import { ScriptedPeer, Simulation } from "mcp-effect/testing"
import "ajv/dist/2020.js"
import { ClientTransport, ServerTransport } from "../../src/transport/Transport.ts"
import { modernMeta } from "../support/RawClient.ts"
import { Ledger } from "./subject.ts"

const { none } = Simulation

describe("a client", () => {
  const options = { name: "test", version: "1.0.0", revisions: ["2025-11-25"] }

  // A call that failed because the link broke closed the client, from inside the closing of its session: that stopped
  // half-way, and the handler went on for good.
  it.live("leaves no handler behind when a failing call closes it", () =>
    Effect.gen(function* () {
      const ledger = new Ledger()
      const Ask = Tool.make("ask")
      const server = McpServer.make({
        name: "asks",
        version: "1.0.0",
        tools: [
          Tool.handle(Ask, () =>
            Effect.as(Peer.elicit({ message: "?", schema: Schema.Struct({ a: Schema.String }) }), "asked")
          )
        ]
      })
      const { exit, fibers, sleepers } = yield* Simulation.run(
        Effect.gen(function* () {
          const simulation = yield* Simulation.make({ seed: 1, faults: none })
          const elicit = () => ledger.during("elicit", Effect.never)
          const life = Effect.gen(function* () {
            const client = yield* McpClient.make({ ...options, handlers: { elicit } })
            return yield* client.callTool("ask")
          }).pipe(Effect.scoped, Effect.provideService(ClientTransport, simulation.client))
          const serving = yield* Effect.forkChild(
            Effect.provideService(Layer.launch(McpServer.layer(server)), ServerTransport, simulation.server)
          )
          const calling = yield* Effect.forkChild(Effect.exit(life))
          yield* Effect.sleep("1 second")
          expect(ledger.open).toEqual(["elicit: 1"])
          yield* simulation.kill
          const ended = yield* Fiber.join(calling)
          yield* Fiber.interrupt(serving)
          return [Exit.isFailure(ended), ledger.open]
        })
      )
      expect(exit).toEqual(Exit.succeed([true, []]))
      expect({ fibers, sleepers }).toEqual({ fibers: 0, sleepers: 0 })
    })
  )

  // Opening waited for an exchange that has no time limit of its own.
  it.live("does not wait for ever for a server that leaves its first notification hanging", () =>
    Effect.gen(function* () {
      const { exit, took } = yield* Simulation.run(
        Effect.gen(function* () {
          const http = yield* StreamableHttp.make(McpServer.make({ name: "hangs", version: "1.0.0" }))
          const hanging = {
            ...http,
            handle: (request: Parameters<typeof http.handle>[0]) =>
              Effect.flatMap(request.body(10_000), (bytes) =>
                Buffer.from(bytes).includes("notifications/initialized") ? Effect.never : http.handle(request)
              ).pipe(Effect.orDie)
          }
          const transport = yield* ClientTransport.pipe(
            Effect.provide(StreamableHttp.layerClient({ url: "http://localhost/mcp" })),
            Effect.provideService(HttpClient.HttpClient, Simulation.httpClient(hanging, { seed: 1, faults: none }))
          )
          return yield* Effect.result(Effect.provideService(McpClient.make(options), ClientTransport, transport))
        }).pipe(Effect.scoped)
      )
      expect(exit).toMatchObject({
        _tag: "Success",
        value: { _tag: "Failure", failure: { reason: { _tag: "Timeout", method: "notifications/initialized" } } }
      })
      expect(took).toBeLessThan(120_000)
    })
  )

  // The server had subscribed already, and was never told that nobody watches.
  it.effect("takes back a subscription that it gave up before the answer came", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedPeer.server
      const connecting = yield* Effect.forkScoped(Effect.provide(McpClient.make(options), server.layer))
      const peer = yield* server.accept
      yield* peer.respond(yield* peer.expectRequest("initialize"), {
        protocolVersion: "2025-11-25",
        capabilities: { resources: { subscribe: true } },
        serverInfo: { name: "s", version: "1" }
      })
      yield* peer.expectNotification("notifications/initialized")
      const client = yield* Fiber.join(connecting)
      const watching = yield* Effect.forkScoped(Stream.runDrain(client.changes({ uris: ["x:y"] })))
      const subscribe = yield* peer.expectRequest("resources/subscribe")
      yield* Fiber.interrupt(watching)
      yield* peer.expectNotification("notifications/cancelled", { params: { requestId: subscribe.id } })
      yield* peer.expectRequest("resources/unsubscribe", { params: { uri: "x:y" } })
    })
  )
})

describe("an HTTP server", () => {
  // Every sign of life was one more fiber that waited for the client to read.
  it.live("spends nothing on a client that does not read", () =>
    Effect.gen(function* () {
      const changes = Stream.tick("1 second")
      const server = McpServer.make({
        name: "ticks",
        version: "1.0.0",
        resources: [Resource.make("x:y", { name: "y", changes }, Effect.succeed(""))]
      })
      const notifications = { resourceSubscriptions: ["x:y"] }
      const message = {
        jsonrpc: "2.0",
        id: 1,
        method: "subscriptions/listen",
        params: { notifications, _meta: modernMeta() }
      }
      const program = Effect.gen(function* () {
        const http = yield* StreamableHttp.make(server)
        yield* http.handle({
          method: "POST",
          headers: {
            accept: "application/json, text/event-stream",
            "content-type": "application/json",
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "subscriptions/listen"
          },
          body: () => Effect.succeed(new Uint8Array(Buffer.from(JSON.stringify(message))))
        })
        return yield* Effect.never
      }).pipe(Effect.scoped)
      const { fibers } = yield* Simulation.run(program, { maximum: "1 day" })
      expect(fibers).toBeLessThan(15)
    })
  )
})
