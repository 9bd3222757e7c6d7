/**
 * Offers a directory to MCP clients.
 *
 *     node examples/files/server.ts DIR                 on standard input and output
 *     node examples/files/server.ts DIR --http PORT     over HTTP, to this machine; 0 takes a free port
 *
 * Ends with code 0 at the end of its input, on SIGTERM and on Ctrl-C.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Console, Effect, Exit, Layer, Option, Runtime } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { McpServer } from "mcp-effect"
import { Stdio, StreamableHttp } from "mcp-effect/node"
import { files } from "./files.ts"
import { Root } from "./Root.ts"

const overStdio = McpServer.layer(files).pipe(Layer.provide(Stdio.layerServer))

const overHttp = (port: number) =>
  Layer.effectDiscard(Effect.flatMap(StreamableHttp.Listening, ({ url }) => Console.error(url))).pipe(
    Layer.provide(StreamableHttp.layerNode(files, { port }))
  )

const command = Command.make(
  "files",
  {
    directory: Argument.Directory("directory", { mustExist: true }).pipe(
      Argument.withDescription("The directory to offer")
    ),
    http: Flag.Int("http").pipe(
      Flag.withDescription("Serve over HTTP on this port, 0 for any, instead of standard input and output"),
      Flag.optional
    )
  },
  ({ directory, http }) =>
    (Option.isSome(http) ? overHttp(http.value) : overStdio).pipe(Layer.provide(Root.layer(directory)), Layer.launch)
)

const teardown: Runtime.Teardown = (exit, onExit) =>
  // Being told to stop is how this program ends, so it is no failure.
  Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? onExit(0) : Runtime.defaultTeardown(exit, onExit)

Command.run(command, { version: files.info.version }).pipe(
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain({ teardown })
)
