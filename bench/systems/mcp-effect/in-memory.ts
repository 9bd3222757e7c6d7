/** mcp-effect over a transport of its own contract that carries JSON text. */
import { Effect, Layer } from "effect"
import { McpServer, type Protocol, Transport } from "../../../dist/index.js"
import type { Link, OpenLink } from "../echo.ts"
import { server } from "./server.ts"

export const open: OpenLink = (_era, receive) =>
  new Promise<Link>((resolve) => {
    const send = (message: Protocol.JsonRpc.Outgoing) => {
      receive(JSON.stringify(message))
      return Effect.void
    }
    // As the transports of the package do: what needs no waiting is no effect of its own.
    const connection: Transport.Connection = {
      send: (message) => Effect.suspend(() => send(message)),
      sendUnsafe: send,
      run: (onMessage) =>
        Effect.contextWith((services) =>
          Effect.callback<void>(() => {
            const run = Effect.runForkWith(services)
            resolve({
              send: (text) => {
                const handling = onMessage(JSON.parse(text))
                if (handling !== Effect.void) run(handling)
              }
            })
          })
        )
    }
    const transport = Layer.succeed(Transport.ServerTransport, { run: (serve) => serve(connection) })
    Effect.runFork(Layer.launch(Layer.provide(McpServer.layer(server), transport)))
  })
