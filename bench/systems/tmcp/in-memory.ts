/** `tmcp` with JSON text around its `receive`, which is what all its transports call. */
import type { OpenLink } from "../echo.ts"
import { server } from "./server.ts"

export const open: OpenLink = async (_era, receive) => {
  server.on("send", ({ request }) => receive(JSON.stringify(request)))
  const context: { sessionInfo: object } = { sessionInfo: {} }
  server.on("initialize", ({ capabilities, clientInfo }) => {
    context.sessionInfo = { clientCapabilities: capabilities, clientInfo }
  })
  return {
    send: (text) => {
      void Promise.resolve(server.receive(JSON.parse(text), context as never)).then((response: unknown) => {
        if (response !== undefined && response !== null) receive(JSON.stringify(response))
      })
    }
  }
}
