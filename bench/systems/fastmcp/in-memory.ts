/** `fastmcp` over a transport of the SDK that carries JSON text. */
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import type { OpenLink } from "../echo.ts"
import { server } from "./server.ts"

export const open: OpenLink = async (_era, receive) => {
  const transport: Transport = {
    start: async () => {},
    close: async () => {},
    send: async (message) => receive(JSON.stringify(message))
  }
  // It waits for the client's initialization.
  void server.connect(transport as never)
  await new Promise((resolve) => setImmediate(resolve))
  return { send: (text) => transport.onmessage?.(JSON.parse(text)) }
}
