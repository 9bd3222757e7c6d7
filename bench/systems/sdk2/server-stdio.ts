/** The SDK, version 2, over standard input and output. */
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import { makeServer } from "./server.ts"

serveStdio(makeServer)
