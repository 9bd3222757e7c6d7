/** `fastmcp` over standard input and output. */
import { server } from "./server.ts"

await server.start({ transportType: "stdio" })
