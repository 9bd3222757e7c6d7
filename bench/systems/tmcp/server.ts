/** The server on `tmcp`. */
import { ZodJsonSchemaAdapter } from "@tmcp/adapter-zod"
import { McpServer } from "tmcp"
import { z } from "zod"
import { descriptions, fillers, info } from "../echo.ts"

const textOnly = z.object({ text: z.string() })

export const server = new McpServer(info, {
  adapter: new ZodJsonSchemaAdapter(),
  capabilities: { tools: {} }
})

server.tool({ name: "echo", description: descriptions.echo, schema: textOnly }, ({ text }) => ({
  content: [{ type: "text", text }]
}))

server.tool(
  { name: "progress", description: descriptions.progress, schema: z.object({ text: z.string(), times: z.number() }) },
  ({ text, times }) => {
    for (let progress = 1; progress <= times; progress++) server.progress(progress, times)
    return { content: [{ type: "text", text }] }
  }
)

for (const { description, name } of fillers) {
  server.tool({ name, description, schema: textOnly }, ({ text }) => ({ content: [{ type: "text", text }] }))
}
