/** The server on `@modelcontextprotocol/server`, version 2 of the SDK. */
import { McpServer } from "@modelcontextprotocol/server"
import { z } from "zod"
import { descriptions, fillers, info } from "../echo.ts"

const textOnly = z.object({ text: z.string() })
const textAndTimes = z.object({ text: z.string(), times: z.number() })

export const makeServer = (): McpServer => {
  const server = new McpServer(info, { capabilities: { tools: {} } })
  server.registerTool("echo", { description: descriptions.echo, inputSchema: textOnly }, async ({ text }) => ({
    content: [{ type: "text", text }]
  }))
  server.registerTool(
    "progress",
    { description: descriptions.progress, inputSchema: textAndTimes },
    async ({ text, times }, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken
      for (let progress = 1; progress <= times; progress++) {
        if (progressToken === undefined) break
        await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: times } })
      }
      return { content: [{ type: "text", text }] }
    }
  )
  for (const { description, name } of fillers) {
    server.registerTool(name, { description, inputSchema: textOnly }, async ({ text }) => ({
      content: [{ type: "text", text }]
    }))
  }
  return server
}
