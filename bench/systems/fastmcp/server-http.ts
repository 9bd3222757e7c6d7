/** `fastmcp` over its own HTTP server. It can't say which port it was given, so a free one is found first. */
import * as Net from "node:net"
import { announce, answers } from "../echo.ts"
import { server } from "./server.ts"

const freePort = () =>
  new Promise<number>((resolve) => {
    const probe = Net.createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as Net.AddressInfo
      probe.close(() => resolve(port))
    })
  })

const port = await freePort()
await server.start({
  transportType: "httpStream",
  httpStream: { port, host: "127.0.0.1", endpoint: "/mcp", enableJsonResponse: answers === "json" }
})
announce(port)
