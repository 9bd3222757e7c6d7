/**
 * The process of a server, as the client's side of stdio needs it. Any `ChildProcessSpawner` will do; `mcp-effect/node`
 * starts processes itself, whose pipes are faster.
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Pipes, Read } from "./ByteStream.ts"

/** What is to be started. */
export interface Command {
  /** A path, or a name that is looked for in `PATH`. No shell is involved. */
  readonly command: string
  readonly args: ReadonlyArray<string>
  /** The working directory; ours when it is absent. */
  readonly cwd: string | undefined
  /** The whole environment. */
  readonly env: { readonly [name: string]: string }
  /** How long what is left of the process group may take to exit after `SIGTERM`, before it is sent `SIGKILL`. */
  readonly terminate: Duration.Input
}

/** A process that was started, and its standard input and output. */
export interface ServerProcess extends Pipes {
  /** Its standard error. */
  readonly readStderr: Read<unknown>
  /** Ends when the process has, and says how, such as `"exited with code 1"`. */
  readonly exit: Effect.Effect<string>
}

/** Starts processes. */
export class ServerProcesses extends Context.Service<
  ServerProcesses,
  {
    /**
     * Starts one, in a process group of its own where there are such. Fails when the system refuses to. Closing the scope
     * ends whatever is left of the group.
     */
    readonly start: (command: Command) => Effect.Effect<ServerProcess, Error, Scope.Scope>
  }
>()("mcp-effect/transport/ServerProcesses") {}
