/** The server on `fastmcp`. */
import { FastMCP } from "fastmcp"
import { z } from "zod"
import { descriptions, fillers, info } from "../echo.ts"

const silent = () => {}

export const server = new FastMCP({
  name: info.name,
  version: "1.0.0",
  logger: { debug: silent, error: silent, info: silent, log: silent, warn: silent },
  ping: { enabled: false },
  roots: { enabled: false }
})

const textOnly = z.object({ text: z.string() })

server.addTool({
  name: "echo",
  description: descriptions.echo,
  parameters: textOnly,
  execute: async ({ text }) => text
})

server.addTool({
  name: "progress",
  description: descriptions.progress,
  parameters: z.object({ text: z.string(), times: z.number() }),
  execute: async ({ text, times }, { reportProgress }) => {
    for (let progress = 1; progress <= times; progress++) await reportProgress({ progress, total: times })
    return text
  }
})

for (const { description, name } of fillers) {
  server.addTool({ name, description, parameters: textOnly, execute: async ({ text }) => text })
}
