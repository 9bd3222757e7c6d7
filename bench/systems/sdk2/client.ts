/** The client of `@modelcontextprotocol/client`, version 2 of the SDK. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { type Connect, info, versions } from "../echo.ts"

export const connect: Connect = async (era, target) => {
  const client = new Client(info, {
    versionNegotiation: { mode: era === "modern" ? { pin: versions.modern } : "legacy" }
  })
  const transport =
    target.transport === "stdio"
      ? new StdioClientTransport({ command: target.command, args: [...target.args] })
      : new StreamableHTTPClientTransport(new URL(target.url))
  await client.connect(transport as never)
  return {
    echo: async (text) => {
      const { content } = await client.callTool({ name: "echo", arguments: { text } })
      return (content as ReadonlyArray<{ readonly text: string }>)[0]?.text ?? ""
    },
    close: () => client.close()
  }
}
