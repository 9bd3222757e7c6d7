/**
 * A server written with `@modelcontextprotocol/sdk`, version 1.
 *
 *     node sdk1.ts stdio
 *     node sdk1.ts http     Streamable HTTP at /mcp, HTTP+SSE at /sse
 */
import { randomUUID } from "node:crypto"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { completable } from "@modelcontextprotocol/sdk/server/completable.js"
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js"
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { z } from "zod"
import {
  announce,
  daysFrom,
  failure,
  greeting,
  info,
  nameForm,
  namesFrom,
  note,
  sampled,
  transport,
  wait,
  waits
} from "./offer.ts"

const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] })

const makeServer = (): McpServer => {
  const server = new McpServer(info, { capabilities: { logging: {}, resources: { subscribe: true } } })

  server.registerTool(
    "add",
    { inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } },
    ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } })
  )
  server.registerTool("fail", {}, () => ({ ...text(failure), isError: true }))
  server.registerTool(
    "steps",
    { inputSchema: { count: z.number() } },
    async ({ count }, { _meta, sendNotification }) => {
      const progressToken = _meta?.progressToken
      if (progressToken === undefined) return text("done")
      for (let progress = 1; progress <= count; progress++) {
        await sendNotification({ method: "notifications/progress", params: { progressToken, progress, total: count } })
      }
      return text("done")
    }
  )
  server.registerTool("shout", {}, async (extra) => {
    await server.sendLoggingMessage({ level: "info", logger: "shout", data: "Hey" }, extra.sessionId)
    return text("shouted")
  })
  server.registerTool("wait", {}, async ({ signal }) => {
    await wait(signal)
    return text("waited")
  })
  server.registerTool("waits", {}, () => text(String(waits.cancelled)))
  // Asks on the stream of the call; `sample` and `roots` ask on the stream that belongs to no call.
  server.registerTool("ask", {}, async ({ requestId }) => {
    const params = { message: "Who are you?", requestedSchema: nameForm as never }
    const { action, content } = await server.server.elicitInput(params, { relatedRequestId: requestId })
    return text(`${action} ${String(content?.["name"])}`)
  })
  server.registerTool("sample", {}, async () => {
    const { content } = await server.server.createMessage(sampled as never)
    return text(content.type === "text" ? content.text : content.type)
  })
  server.registerTool("roots", {}, async () => {
    const { roots } = await server.server.listRoots()
    return text(roots.map(({ uri }) => uri).join())
  })

  server.registerResource(note.name, note.uri, { mimeType: note.mimeType }, ({ href }) => ({
    contents: [{ uri: href, mimeType: note.mimeType, text: note.textOf("today") }]
  }))
  server.registerResource(
    "day",
    new ResourceTemplate(note.template, { list: undefined, complete: { day: daysFrom } }),
    { mimeType: note.mimeType },
    ({ href }, { day }) => ({ contents: [{ uri: href, mimeType: note.mimeType, text: note.textOf(String(day)) }] })
  )
  server.registerPrompt("greet", { argsSchema: { name: completable(z.string(), namesFrom) } }, ({ name }) => ({
    messages: [{ role: "user", content: { type: "text", text: greeting(name) } }]
  }))
  return server
}

const streamable = new Map<string, StreamableHTTPServerTransport>()
const eventStreams = new Map<string, SSEServerTransport>()

const openSession = async (): Promise<StreamableHTTPServerTransport> => {
  const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => {
      streamable.set(id, transport)
    },
    onsessionclosed: (id) => {
      streamable.delete(id)
    }
  })
  // Its declaration does not say that what is optional may be undefined.
  await makeServer().connect(transport as never)
  return transport
}

const listener = async (request: Http.IncomingMessage, response: Http.ServerResponse): Promise<void> => {
  const url = new URL(request.url ?? "/", "http://127.0.0.1")
  if (url.pathname === "/mcp") {
    const id = request.headers["mcp-session-id"] as string | undefined
    const known = id === undefined ? undefined : streamable.get(id)
    if (id !== undefined && known === undefined) return void response.writeHead(404).end()
    return (known ?? (await openSession())).handleRequest(request, response)
  }
  if (url.pathname === "/sse" && request.method === "GET") {
    const transport = new SSEServerTransport("/messages", response)
    eventStreams.set(transport.sessionId, transport)
    response.on("close", () => eventStreams.delete(transport.sessionId))
    return makeServer().connect(transport as never)
  }
  const stream = eventStreams.get(url.searchParams.get("sessionId") ?? "")
  if (url.pathname === "/messages" && stream !== undefined) return stream.handlePostMessage(request, response)
  response.writeHead(url.pathname === "/sse" ? 405 : 404).end()
}

if (transport === "stdio") {
  await makeServer().connect(new StdioServerTransport())
} else {
  const server = Http.createServer((request, response) => void listener(request, response))
  server.listen(0, "127.0.0.1", () => announce((server.address() as AddressInfo).port))
}
