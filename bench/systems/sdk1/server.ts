/** The server on `@modelcontextprotocol/sdk`, version 1. */
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { z } from "zod"
import { descriptions, fillers, info } from "../echo.ts"

export const makeServer = (): McpServer => {
  const server = new McpServer(info)
  server.registerTool("echo", { description: descriptions.echo, inputSchema: { text: z.string() } }, ({ text }) => ({
    content: [{ type: "text", text }]
  }))
  server.registerTool(
    "progress",
    { description: descriptions.progress, inputSchema: { text: z.string(), times: z.number() } },
    async ({ text, times }, extra) => {
      const progressToken = extra._meta?.progressToken
      for (let progress = 1; progress <= times; progress++) {
        if (progressToken === undefined) break
        await extra.sendNotification({
          method: "notifications/progress",
          params: { progressToken, progress, total: times }
        })
      }
      return { content: [{ type: "text", text }] }
    }
  )
  for (const { description, name } of fillers) {
    server.registerTool(name, { description, inputSchema: { text: z.string() } }, ({ text }) => ({
      content: [{ type: "text", text }]
    }))
  }
  return server
}
