/** The SDK, version 1, over its linked in-memory transports with JSON text in between. */
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import type { OpenLink } from "../echo.ts"
import { makeServer } from "./server.ts"

export const open: OpenLink = async (_era, receive) => {
  const transport: Transport = {
    start: async () => {},
    close: async () => {},
    send: async (message) => receive(JSON.stringify(message))
  }
  await makeServer().connect(transport)
  return { send: (text) => transport.onmessage?.(JSON.parse(text)) }
}
