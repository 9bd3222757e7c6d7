/** The SDK, version 1, on `node:http`: one server and one transport per session, as its documentation shows. */
import { randomUUID } from "node:crypto"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { announce, answers } from "../echo.ts"
import { makeServer } from "./server.ts"

const sessions = new Map<string, StreamableHTTPServerTransport>()

const openSession = async (): Promise<StreamableHTTPServerTransport> => {
  const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: answers === "json",
    onsessioninitialized: (id) => {
      sessions.set(id, transport)
    },
    onsessionclosed: (id) => {
      sessions.delete(id)
    }
  })
  // Its declaration does not say that what is optional may be undefined.
  await makeServer().connect(transport as never)
  return transport
}

const server = Http.createServer(async (request, response) => {
  const id = request.headers["mcp-session-id"] as string | undefined
  const transport = (id === undefined ? undefined : sessions.get(id)) ?? (await openSession())
  await transport.handleRequest(request, response)
})
server.listen(0, "127.0.0.1", () => announce((server.address() as AddressInfo).port))
