/** The SDK, version 1, over standard input and output. */
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { makeServer } from "./server.ts"

await makeServer().connect(new StdioServerTransport())
