/** `tmcp` over standard input and output. */
import { StdioTransport } from "@tmcp/transport-stdio"
import { server } from "./server.ts"

new StdioTransport(server).listen()
