/**
 * The SDK, version 2, on `node:http`: its per-request handler for 2026-07-28, and one server and one transport per
 * session before that. Which of the two it is shows in a header, the cheapest way to tell.
 */
import { randomUUID } from "node:crypto"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node"
import { createMcpHandler } from "@modelcontextprotocol/server"
import { announce, answers, versions } from "../echo.ts"
import { makeServer } from "./server.ts"

const modern = toNodeHandler(
  createMcpHandler(makeServer, { legacy: "reject", responseMode: answers === "json" ? "json" : "auto" })
)

const sessions = new Map<string, NodeStreamableHTTPServerTransport>()

const openSession = async (): Promise<NodeStreamableHTTPServerTransport> => {
  const transport: NodeStreamableHTTPServerTransport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: answers === "json",
    onsessioninitialized: (id) => {
      sessions.set(id, transport)
    },
    onsessionclosed: (id) => {
      sessions.delete(id)
    }
  })
  await makeServer().connect(transport as never)
  return transport
}

const server = Http.createServer(async (request, response) => {
  if (request.headers["mcp-protocol-version"] === versions.modern) return modern(request as never, response)
  const id = request.headers["mcp-session-id"] as string | undefined
  const transport = (id === undefined ? undefined : sessions.get(id)) ?? (await openSession())
  await transport.handleRequest(request, response)
})
server.listen(0, "127.0.0.1", () => announce((server.address() as AddressInfo).port))
