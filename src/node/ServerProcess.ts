/**
 * Starts servers with `node:child_process` and nothing between their pipes and us.
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as ChildProcess from "node:child_process"
import { existsSync } from "node:fs"
import { type Command, type ServerProcess, ServerProcesses } from "../transport/ServerProcess.ts"
import * as Pipes from "./Pipes.ts"

type Piped = ChildProcess.ChildProcessWithoutNullStreams

const isWindows = process.platform === "win32"

/** How long what was killed may take to be gone, in milliseconds. */
const killed = 1000

/** How often a process group is looked at while it ends, in milliseconds: the system tells of its leader only. */
const interval = 10

/** A process, and the process group that it leads. */
class Child {
  readonly process: Piped
  readonly exited = Deferred.makeUnsafe<string>()
  /** Once nothing is left of the group its number may become that of another. */
  #isGone = false

  constructor(process: Piped) {
    this.process = process
    process.once("exit", (code, signal) => {
      // Whom a server leaves behind that did not end as it meant to, nobody else is going to end.
      if (!this.#look() && code !== 0) this.#signal("SIGTERM")
      const how = code === null ? `was ended by signal ${signal}` : `exited with code ${code}`
      Deferred.doneUnsafe(this.exited, Effect.succeed(how))
    })
  }

  get #hasExited(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null
  }

  /** Ends what is left of the group: asks it to terminate, and kills it when it has not in so many milliseconds. */
  end(milliseconds: number): Effect.Effect<void> {
    return Effect.ensuring(
      this.#endGroup(milliseconds),
      Effect.sync(() => {
        for (const pipe of this.process.stdio) pipe?.destroy()
      })
    )
  }

  #endGroup(milliseconds: number): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.#look()) return Effect.void
      if (isWindows) return this.#killTree
      this.#signal("SIGTERM")
      return Effect.flatMap(this.#gone(milliseconds), (isGone) => {
        if (isGone) return Effect.void
        this.#signal("SIGKILL")
        return Effect.asVoid(this.#gone(killed))
      })
    })
  }

  /** Whether nothing is left of the group. */
  #look(): boolean {
    if (this.#isGone || !this.#hasExited) return this.#isGone
    this.#isGone = isWindows || !this.#signal(0)
    return this.#isGone
  }

  /** Sends a signal to the group; 0 only asks whether there is anybody. */
  #signal(signal: NodeJS.Signals | 0): boolean {
    try {
      return process.kill(-(this.process.pid as number), signal) // it was started, so it has one
    } catch {
      return false
    }
  }

  /** Waits until nothing is left, for so many milliseconds at most. */
  #gone(milliseconds: number): Effect.Effect<boolean> {
    return Effect.callback((resume) => {
      const until = performance.now() + milliseconds
      let timer: NodeJS.Timeout | undefined
      const look = () => {
        clearTimeout(timer)
        const isGone = this.#look()
        if (!isGone && performance.now() < until) {
          timer = setTimeout(look, interval)
          return
        }
        this.process.off("exit", look)
        resume(Effect.succeed(isGone))
      }
      this.process.on("exit", look)
      look()
    })
  }

  get #killTree(): Effect.Effect<void> {
    return Effect.callback((resume) => {
      const args = ["/pid", String(this.process.pid), "/T", "/F"]
      ChildProcess.execFile("taskkill", args, { windowsHide: true }, () => resume(Effect.void))
    })
  }
}

/** Node would say so too, but with the value, which may be a secret. */
const refuse = ({ args, command, env }: Command): string | undefined => {
  if ([command, ...args].some((text) => text.includes("\0")))
    return "A NUL character is in the command or its arguments"
  const name = Object.keys(env).find((each) => env[each]?.includes("\0"))
  return name === undefined ? undefined : `A NUL character is in the environment variable ${name}`
}

/** The system says the same of a program and of a directory that is not there. */
const explain = (error: NodeJS.ErrnoException, { cwd }: Command): Error =>
  error.code === "ENOENT" && cwd !== undefined && !existsSync(cwd)
    ? new Error(`The working directory ${cwd} does not exist`, { cause: error })
    : error

const spawn = (command: Command): Effect.Effect<Child, Error> =>
  Effect.callback((resume) => {
    const refused = refuse(command)
    if (refused !== undefined) return resume(Effect.fail(new Error(refused)))
    const { args, cwd, env } = command
    const options = { cwd, env: { ...env }, detached: !isWindows, windowsHide: true, stdio: "pipe" } as const
    const child = new Child(ChildProcess.spawn(command.command, args, options))
    child.process.once("spawn", () => resume(Effect.succeed(child)))
    child.process.on("error", (error) => resume(Effect.fail(explain(error, command))))
    // What goes wrong with a pipe is told to whoever uses it. There are none when the system has run out of them.
    for (const pipe of child.process.stdio) pipe?.on("error", () => {})
  })

const start = (command: Command): Effect.Effect<ServerProcess, Error, Scope.Scope> =>
  Effect.gen(function* () {
    const terminate = Duration.toMillis(Duration.fromInputUnsafe(command.terminate))
    const child = yield* Effect.acquireRelease(spawn(command), (started) => started.end(terminate))
    const { stderr, stdin, stdout } = child.process
    const destination: Pipes.Destination = {
      writable: stdin,
      write: (text, encoding, written) => stdin.write(text, encoding, written)
    }
    return {
      read: yield* Pipes.open(stdout),
      write: (output) => Pipes.write(destination, output),
      readStderr: yield* Pipes.open(stderr),
      exit: Deferred.await(child.exited)
    }
  })

export const layer: Layer.Layer<ServerProcesses> = Layer.succeed(ServerProcesses, { start })
