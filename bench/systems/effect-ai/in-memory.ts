/** `effect/ai` over a protocol that carries JSON text, made as its own test client makes one. */
import { Effect, Layer, Queue } from "effect"
import { McpServer } from "effect/ai"
import { type RpcMessage, RpcSerialization, RpcServer } from "effect/rpc"
import type { Link, OpenLink } from "../echo.ts"
import { options } from "./server.ts"

const serialization = RpcSerialization.jsonRpc()

export const open: OpenLink = (_era, receive) =>
  new Promise<Link>((resolve) => {
    const protocol = RpcServer.Protocol.make(
      Effect.fnUntraced(function* (writeRequest) {
        const parser = serialization.makeUnsafe()
        const run = Effect.runForkWith(yield* Effect.context<never>())
        const deliver = (message: RpcMessage.FromClientEncoded) => writeRequest(0, message)
        resolve({
          send: (text) => {
            const messages = parser.decode(text) as ReadonlyArray<RpcMessage.FromClientEncoded>
            run(Effect.forEach(messages, deliver, { discard: true }))
          }
        })
        return {
          disconnects: yield* Queue.make<number>(),
          send: (_client, response) =>
            Effect.sync(() => {
              const text = parser.encode(response)
              if (typeof text === "string") receive(text)
            }),
          end: () => Effect.void,
          clientIds: Effect.succeed(new Set([0])),
          initialMessage: Effect.succeedNone,
          supportsAck: false,
          supportsTransferables: false,
          supportsSpanPropagation: false,
          supportsNotifications: true,
          codecFor: serialization.codecFor
        }
      })
    )
    const server = McpServer.layer(options).pipe(Layer.provide(Layer.effect(RpcServer.Protocol, protocol)))
    Effect.runFork(Layer.launch(server))
  })
