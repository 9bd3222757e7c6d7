/**
 * The process of a server, as the client's side of stdio needs it. Any `ChildProcessSpawner` will do; `mcp-effect/node`
 * starts processes itself, whose pipes are faster.
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { PlatformError } from "effect/PlatformError"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as ChildProcess from "effect/process/ChildProcess"
import * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import { fromPull, type Pipes, type Read } from "./ByteStream.ts"

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

/** A signal is only told in words. */
const describeSignal = (error: PlatformError): string => {
  const signal = /SIG[A-Z0-9]+/.exec(`${error.message} ${String(error.reason.cause)}`)
  return signal === null ? `ended (${error.message})` : `was ended by signal ${signal[0]}`
}

const start = Effect.fnUntraced(function* (
  spawner: ChildProcessSpawner.ChildProcessSpawner["Service"],
  { args, command, cwd, env, terminate }: Command
) {
  const handle = yield* spawner.spawn(
    ChildProcess.make(command, args, {
      cwd,
      env,
      // The spawner makes the child the leader of its own process group (POSIX), and when the scope closes it signals the
      // whole group: this signal first, SIGKILL after this time.
      killSignal: "SIGTERM",
      forceKillAfter: terminate
    })
  )
  return {
    read: fromPull(yield* Stream.toPull(handle.stdout)),
    write: (output) => Stream.run(Stream.fromPull(Effect.succeed(output.take)), handle.stdin),
    readStderr: fromPull(yield* Stream.toPull(handle.stderr)),
    exit: Effect.match(handle.exitCode, {
      onSuccess: (code) => `exited with code ${code}`,
      onFailure: describeSignal
    })
  } satisfies ServerProcess
})

/** Starts processes with the platform's spawner. */
export const layer: Layer.Layer<ServerProcesses, never, ChildProcessSpawner.ChildProcessSpawner> = Layer.effect(
  ServerProcesses,
  Effect.map(ChildProcessSpawner.ChildProcessSpawner, (spawner) => ({
    start: (command: Command) => start(spawner, command)
  }))
)
