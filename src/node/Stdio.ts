/**
 * MCP over standard input and output on Node.js: layers that need nothing.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as StdioServer from "../transport/StdioServer.ts"
import * as StdioClient from "../transport/StdioClient.ts"
import type { OutputQueue } from "../transport/OutputQueue.ts"
import type { ClientTransport, ServerTransport } from "../transport/Transport.ts"
import * as Pipes from "./Pipes.ts"
import * as ServerProcess from "./ServerProcess.ts"

export type { ClientOptions, ServerOptions, ShutdownOptions, StderrOption } from "../transport/Stdio.ts"

/** The exit code of a main fiber that was interrupted. */
const interruptedExitCode = 130

/**
 * Keeps everybody else's output out of the protocol: what is written to `process.stdout`, with `console.log` too, goes to
 * standard error. It stays so for the rest of the process, because what goes wrong while it ends is also printed.
 */
const reserveStdout = Effect.sync(() => {
  process.stdout.write = process.stderr.write.bind(process.stderr)
  // A client that closes its end is no uncaught exception; the writer below is told by its callback.
  process.stdout.on("error", () => {})
})

/** Standard input, and the only way to the real standard output. */
const protocolPipes = Effect.gen(function* () {
  const realWrite: typeof process.stdout.write = Object.getPrototypeOf(process.stdout).write
  yield* reserveStdout
  const destination: Pipes.Destination = {
    writable: process.stdout,
    write: (text, encoding, written) => realWrite.call(process.stdout, text, encoding, written)
  }
  return { read: yield* Pipes.open(process.stdin), write: (output: OutputQueue) => Pipes.write(destination, output) }
})

/**
 * Without its client a stdio server has no reason to run, but `Layer.launch` runs for ever. So the process asks itself to
 * terminate, as its client would do next: `NodeRuntime.runMain` then interrupts the program, every layer is released, and
 * this interruption, unlike a real signal, is success.
 */
const endProcess = Effect.sync(() => {
  process.once("exit", (code) => {
    if (code === interruptedExitCode) process.exitCode = 0
  })
  process.stdin.destroy()
  process.emit("SIGTERM", "SIGTERM")
})

/** {@link layerServer} with options. `onEnd` runs before the process is ended. */
export const layerServerWith = (options: StdioServer.ServerOptions): Layer.Layer<ServerTransport> =>
  StdioServer.layerServerPipes(
    { ...options, onEnd: Effect.andThen(options.onEnd ?? Effect.void, endProcess) },
    protocolPipes
  )

/**
 * Serves the client that has started this process. At the end of input the process ends with code 0 (STDIO-09), after the
 * queued output is written and, under `NodeRuntime.runMain`, every layer is released.
 *
 * From the moment this layer is built, everything that is written to `process.stdout` by anyone else goes to standard
 * error (STDIO-02). Provide it last, and that includes what the other layers print while they are built.
 *
 * @example
 * ```ts
 * import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
 * import { Layer } from "effect"
 * import { McpServer } from "mcp-effect"
 * import { Stdio } from "mcp-effect/node"
 *
 * const weather = McpServer.make({ name: "weather", version: "1.0.0" })
 *
 * McpServer.layer(weather).pipe(Layer.provide(Stdio.layerServer), Layer.launch, NodeRuntime.runMain)
 * ```
 */
export const layerServer: Layer.Layer<ServerTransport> = layerServerWith({})

/**
 * Starts the server as a child process for every `connect`, and ends it and all its descendants when the connection's
 * scope closes. `connect` fails with `TransportFailure` when the program cannot be started; when the process exits, `run`
 * and `send` fail with `Closed`, whose message tells the exit code or signal and the end of standard error.
 *
 * @example
 * ```ts
 * import { Stdio } from "mcp-effect/node"
 *
 * const files = Stdio.layerClient({
 *   command: "npx",
 *   args: ["-y", "@modelcontextprotocol/server-filesystem", "/tmp"],
 *   shutdown: { graceful: "5 seconds" }
 * })
 * ```
 */
export const layerClient = (options: StdioClient.ClientOptions): Layer.Layer<ClientTransport> =>
  StdioClient.layerClientProcesses(options).pipe(Layer.provide(ServerProcess.layer))
