/**
 * MCP over standard input and output, on any platform that has Effect's `Stdio` and `ChildProcessSpawner` services.
 * For Node.js, `mcp-effect/node` has the same layers with nothing left to provide.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
export { type StderrOption } from "./Stderr.ts"
export { type ClientOptions, layerClient, type ShutdownOptions } from "./StdioClient.ts"
export { layerServer, layerServerWith, type ServerOptions } from "./StdioServer.ts"
