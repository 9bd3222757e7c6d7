/** mcp-effect over a transport of its own contract that carries JSON text. */
import { Effect, Layer } from "effect"
import { McpServer, Transport } from "../../../dist/index.js"
import type { Link, OpenLink } from "../echo.ts"
import { server } from "./server.ts"

export const open: OpenLink = (_era, receive) =>
  new Promise<Link>((resolve) => {
    const connection: Transport.Connection = {
      send: (message) => Effect.sync(() => receive(JSON.stringify(message))),
      run: (onMessage) =>
        Effect.contextWith((services) =>
          Effect.callback<void>(() => {
            const run = Effect.runForkWith(services)
            resolve({ send: (text) => void run(onMessage(JSON.parse(text))) })
          })
        )
    }
    const transport = Layer.succeed(Transport.ServerTransport, { run: (serve) => serve(connection) })
    Effect.runFork(Layer.launch(Layer.provide(McpServer.layer(server), transport)))
  })
