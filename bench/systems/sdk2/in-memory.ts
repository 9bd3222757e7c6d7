/** The SDK, version 2, over a transport that carries JSON text; the entry that serves both eras on one connection. */
import type { Transport } from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import type { OpenLink } from "../echo.ts"
import { makeServer } from "./server.ts"

export const open: OpenLink = async (_era, receive) => {
  const transport: Transport = {
    start: async () => {},
    close: async () => {},
    send: async (message) => receive(JSON.stringify(message))
  }
  serveStdio(makeServer, { transport })
  return { send: (text) => transport.onmessage?.(JSON.parse(text)) }
}
