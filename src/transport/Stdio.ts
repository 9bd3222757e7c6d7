/**
 * MCP over standard input and output, on any platform that has Effect's `Stdio` and `ChildProcessSpawner` services.
 * For Node.js, `mcp-effect/node` has the same layers with nothing left to provide.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
import * as Layer from "effect/Layer"
import type * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import * as SpawnedProcess from "./SpawnedProcess.ts"
import { type ClientOptions, layerClientProcesses } from "./StdioClient.ts"
import type { ClientTransport } from "./Transport.ts"

export { type StderrOption } from "./Stderr.ts"
export { type ClientOptions, type ShutdownOptions } from "./StdioClient.ts"
export { layerServer, layerServerWith, type ServerOptions } from "./StdioServer.ts"

/**
 * Starts the server as a child process for every `connect`, and ends it when the scope of the connection closes: its whole
 * process group, with every process it has started.
 *
 * `connect` fails with `TransportFailure` when the program cannot be started. When the process exits, `run`, and every
 * `send` from then on, fails with `Closed`; the message tells the exit code or signal and the end of standard error.
 */
export const layerClient = (
  options: ClientOptions
): Layer.Layer<ClientTransport, never, ChildProcessSpawner.ChildProcessSpawner> =>
  layerClientProcesses(options).pipe(Layer.provide(SpawnedProcess.layer))
