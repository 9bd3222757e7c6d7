/**
 * A server written with `tmcp`.
 *
 *     node tmcp.ts stdio
 *     node tmcp.ts http
 */
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { getRequestListener } from "@hono/node-server"
import { ZodJsonSchemaAdapter } from "@tmcp/adapter-zod"
import { HttpTransport } from "@tmcp/transport-http"
import { StdioTransport } from "@tmcp/transport-stdio"
import { McpServer } from "tmcp"
import { z } from "zod"
import {
  announce,
  daysFrom,
  failure,
  greeting,
  info,
  namesFrom,
  note,
  sampled,
  transport,
  wait,
  waits
} from "./offer.ts"

const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] })

const server = new McpServer(info, {
  adapter: new ZodJsonSchemaAdapter(),
  capabilities: { tools: {}, resources: {}, prompts: {}, completions: {}, logging: {} }
})

server.tool(
  {
    name: "add",
    description: "Adds",
    schema: z.object({ a: z.number(), b: z.number() }),
    outputSchema: z.object({ sum: z.number() })
  },
  ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } })
)
server.tool({ name: "fail", description: "Fails" }, () => ({ ...text(failure), isError: true }))
server.tool(
  { name: "steps", description: "Reports progress", schema: z.object({ count: z.number() }) },
  async ({ count }) => {
    for (let progress = 1; progress <= count; progress++) server.progress(progress, count)
    return text("done")
  }
)
server.tool({ name: "shout", description: "Logs" }, async () => {
  server.log("info", "Hey", "shout")
  return text("shouted")
})
server.tool({ name: "wait", description: "Waits" }, async () => {
  await wait(server.ctx.signal ?? new AbortController().signal)
  return text("waited")
})
server.tool({ name: "waits", description: "Counts" }, () => text(String(waits.cancelled)))
server.tool({ name: "ask", description: "Asks", replayable: true }, async () => {
  const { action, content } = await server.elicitation("Who are you?", z.object({ name: z.string() }))
  return text(`${action} ${content?.name}`)
})
server.tool({ name: "sample", description: "Samples", replayable: true }, async () => {
  const { content } = await server.message(sampled as never)
  const [block] = [content].flat()
  return text(block?.type === "text" ? block.text : "nothing")
})
server.tool({ name: "roots", description: "Lists roots" }, async () => {
  await server.refreshRoots()
  return text(server.roots.map(({ uri }) => uri).join())
})

server.resource({ name: note.name, description: "A note", uri: note.uri, mimeType: note.mimeType }, (uri) => ({
  contents: [{ uri, mimeType: note.mimeType, text: note.textOf("today") }]
}))
server.template(
  {
    name: "day",
    description: "The note of a day",
    uri: note.template,
    mimeType: note.mimeType,
    complete: { day: (typed: string) => ({ completion: { values: daysFrom(typed) } }) }
  },
  (uri, { day }) => ({ contents: [{ uri, mimeType: note.mimeType, text: note.textOf(String(day)) }] })
)
server.prompt(
  {
    name: "greet",
    description: "Greets",
    schema: z.object({ name: z.string() }),
    complete: { name: (typed: string) => ({ completion: { values: namesFrom(typed) } }) }
  },
  ({ name }) => ({ messages: [{ role: "user", content: { type: "text", text: greeting(name) } }] })
)

if (transport === "stdio") {
  new StdioTransport(server).listen()
} else {
  const http = new HttpTransport(server, { path: "/mcp", allowedOrigins: [] })
  // Its transport is a fetch handler; Hono's adapter makes it a listener.
  const listener = getRequestListener(
    async (request) => (await http.respond(request)) ?? new Response(null, { status: 404 })
  )
  const node = Http.createServer(listener)
  node.listen(0, "127.0.0.1", () => announce((node.address() as AddressInfo).port))
}
