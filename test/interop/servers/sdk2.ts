/**
 * A server written with `@modelcontextprotocol/server`, version 2 of the SDK. It speaks both eras.
 *
 *     node sdk2.ts stdio
 *     node sdk2.ts http
 */
import { randomUUID } from "node:crypto"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node"
import {
  acceptedContent,
  completable,
  createMcpHandler,
  inputRequired,
  McpServer,
  ResourceTemplate
} from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
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
  const server = new McpServer(info, { capabilities: { logging: {}, resources: {}, tools: {}, prompts: {} } })

  server.registerTool(
    "add",
    {
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() })
    },
    async ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } })
  )
  server.registerTool("fail", {}, async () => ({ ...text(failure), isError: true }))
  server.registerTool("steps", { inputSchema: z.object({ count: z.number() }) }, async ({ count }, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken
    if (progressToken === undefined) return text("done")
    for (let progress = 1; progress <= count; progress++) {
      await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: count } })
    }
    return text("done")
  })
  server.registerTool("shout", {}, async ({ mcpReq }) => {
    await mcpReq.log("info", "Hey", "shout")
    return text("shouted")
  })
  server.registerTool("wait", {}, async ({ mcpReq }) => {
    await wait(mcpReq.signal)
    return text("waited")
  })
  server.registerTool("waits", {}, async () => text(String(waits.cancelled)))
  server.registerTool("ask", {}, async ({ mcpReq }) => {
    const { inputResponses } = mcpReq
    const answer = acceptedContent(inputResponses, "who")
    if (answer !== undefined) return text(`accept ${String(answer["name"])}`)
    const who = inputRequired.elicit({ message: "Who are you?", requestedSchema: nameForm as never })
    return inputRequired({ inputRequests: { who } })
  })
  server.registerTool("sample", {}, async ({ mcpReq }) => {
    const answer = mcpReq.inputResponses?.["said"] as { readonly content: { readonly text: string } } | undefined
    if (answer !== undefined) return text(answer.content.text)
    return inputRequired({ inputRequests: { said: inputRequired.createMessage(sampled as never) } })
  })
  server.registerTool("roots", {}, async ({ mcpReq }) => {
    const answer = mcpReq.inputResponses?.["roots"] as
      { readonly roots: ReadonlyArray<{ readonly uri: string }> } | undefined
    if (answer !== undefined) return text(answer.roots.map(({ uri }) => uri).join())
    return inputRequired({ inputRequests: { roots: inputRequired.listRoots() } })
  })

  server.registerResource(note.name, note.uri, { mimeType: note.mimeType }, async ({ href }) => ({
    contents: [{ uri: href, mimeType: note.mimeType, text: note.textOf("today") }]
  }))
  server.registerResource(
    "day",
    new ResourceTemplate(note.template, { list: undefined, complete: { day: daysFrom } }),
    { mimeType: note.mimeType },
    async ({ href }, { day }) => ({
      contents: [{ uri: href, mimeType: note.mimeType, text: note.textOf(String(day)) }]
    })
  )
  server.registerPrompt(
    "greet",
    { argsSchema: z.object({ name: completable(z.string(), namesFrom) }) },
    async ({ name }) => ({ messages: [{ role: "user", content: { type: "text", text: greeting(name) } }] })
  )
  return server
}

const modern = toNodeHandler(createMcpHandler(makeServer, { legacy: "reject" }))

const sessions = new Map<string, NodeStreamableHTTPServerTransport>()

const openSession = async (): Promise<NodeStreamableHTTPServerTransport> => {
  const transport: NodeStreamableHTTPServerTransport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
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

/** Which era it is shows in a header; what has neither is refused as its documentation wants it. */
const listener = async (request: Http.IncomingMessage, response: Http.ServerResponse): Promise<void> => {
  if (request.headers["mcp-protocol-version"] === "2026-07-28") return modern(request as never, response)
  const id = request.headers["mcp-session-id"] as string | undefined
  const known = id === undefined ? undefined : sessions.get(id)
  if (id !== undefined && known === undefined) return void response.writeHead(404).end()
  return (known ?? (await openSession())).handleRequest(request, response)
}

if (transport === "stdio") {
  serveStdio(makeServer)
} else {
  const server = Http.createServer((request, response) => void listener(request, response))
  server.listen(0, "127.0.0.1", () => announce((server.address() as AddressInfo).port))
}
