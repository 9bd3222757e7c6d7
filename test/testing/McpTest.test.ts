import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import { McpClient, type McpError, McpServer, Peer, Tool } from "../../src/index.ts"
import { McpTest } from "../../src/testing/index.ts"

class Stock extends Context.Service<Stock, { readonly count: number }>()("test/Stock") {}
class Buyer extends Context.Service<Buyer, { readonly wants: number }>()("test/Buyer") {}

const Buy = Tool.make("buy", { output: Schema.Struct({ left: Schema.Number }) })
const shop = McpServer.make({
  name: "shop",
  version: "1.0.0",
  tools: [
    Tool.handle(Buy, () =>
      Effect.gen(function* () {
        const answer = yield* Peer.elicit({ message: "How many?", schema: Schema.Struct({ many: Schema.Int }) })
        const { count } = yield* Stock
        return { left: answer._tag === "Accept" ? count - answer.value.many : count }
      })
    )
  ]
})

describe.each([undefined, "2025-11-25", "2026-07-28"])("McpTest in revision %s", (revision) => {
  const layer = McpTest.layer(shop, {
    revision,
    name: "buyer",
    handlers: {
      elicit: () => Effect.map(Buyer, ({ wants }) => ({ action: "accept", content: { many: wants } }) as const)
    }
  })
  // What the handlers of both sides need is in the type.
  const typed: Layer.Layer<McpClient.McpClient, McpError, Stock | Buyer> = layer

  it.layer(
    typed.pipe(Layer.provide(Layer.mergeAll(Layer.succeed(Stock, { count: 5 }), Layer.succeed(Buyer, { wants: 2 }))))
  )((it) => {
    it.effect("links a server and a client", () =>
      Effect.gen(function* () {
        const client = yield* McpClient.McpClient
        expect(client.server.revision).toBe(revision ?? "2026-07-28")
        expect(yield* client.call(Buy, {})).toEqual({ left: 3 })
      })
    )
  })
})
