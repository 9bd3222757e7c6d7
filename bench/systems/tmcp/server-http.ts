/**
 * `tmcp` on `node:http`. Its transport is a fetch handler; Hono's adapter, the fastest there is, makes it a listener. It
 * has no JSON answers: every request is answered with a stream of events.
 */
import { getRequestListener } from "@hono/node-server"
import { HttpTransport } from "@tmcp/transport-http"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { announce } from "../echo.ts"
import { server as mcp } from "./server.ts"

const transport = new HttpTransport(mcp, { path: "/mcp", allowedOrigins: [] })

const server = Http.createServer(
  getRequestListener(async (request) => (await transport.respond(request)) ?? new Response(null, { status: 404 }))
)
server.listen(0, "127.0.0.1", () => announce((server.address() as AddressInfo).port))
