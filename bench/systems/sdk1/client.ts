/** The client of `@modelcontextprotocol/sdk`, version 1. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { type Connect, info } from "../echo.ts"

export const connect: Connect = async (_era, target) => {
  const client = new Client(info)
  const transport =
    target.transport === "stdio"
      ? new StdioClientTransport({ command: target.command, args: [...target.args] })
      : new StreamableHTTPClientTransport(new URL(target.url))
  // Its declaration does not say that what is optional may be undefined.
  await client.connect(transport as never)
  return {
    echo: async (text) => {
      const { content } = await client.callTool({ name: "echo", arguments: { text } })
      return (content as ReadonlyArray<{ readonly text: string }>)[0]?.text ?? ""
    },
    close: () => client.close()
  }
}
