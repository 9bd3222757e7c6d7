/**
 * Starts servers with the platform's `ChildProcessSpawner`.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { PlatformError } from "effect/PlatformError"
import * as Stream from "effect/Stream"
import * as ChildProcess from "effect/process/ChildProcess"
import * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import { fromPull } from "./ByteStream.ts"
import { type Command, type ServerProcess, ServerProcesses } from "./ServerProcess.ts"

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

export const layer: Layer.Layer<ServerProcesses, never, ChildProcessSpawner.ChildProcessSpawner> = Layer.effect(
  ServerProcesses,
  Effect.map(ChildProcessSpawner.ChildProcessSpawner, (spawner) => ({
    start: (command: Command) => start(spawner, command)
  }))
)
