/**
 * The client's side of stdio: the server is a child process of ours, in a process group of its own.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type * as JsonRpc from "../protocol/JsonRpc.ts"
import { McpError } from "../protocol/McpError.ts"
import { type Read, readMessages } from "./ByteStream.ts"
import * as NewlineFraming from "./NewlineFraming.ts"
import { OutputQueue, type Options as QueueOptions } from "./OutputQueue.ts"
import { type Command, ServerProcesses } from "./ServerProcess.ts"
import { makeStderr, type StderrOption } from "./Stderr.ts"
import { ClientTransport, type Connection } from "./Transport.ts"

/** How the server process is started, watched and ended. */
export interface ClientOptions extends NewlineFraming.Options, QueueOptions {
  /** The program: a path, or a name that is looked for in `PATH`. No shell is involved. */
  readonly command: string
  /** Its arguments, each as it is. Default: none. */
  readonly args?: ReadonlyArray<string> | undefined
  /** The working directory. Default: ours. */
  readonly cwd?: string | undefined
  /** Environment variables for the server, beside the inherited ones. */
  readonly env?: { readonly [name: string]: string } | undefined
  /**
   * What the server gets of our environment. `"safe"` is what programs need to run at all (`PATH`, `HOME`, `USER` and the
   * like), so that our secrets stay ours; `"all"` is everything. Default `"safe"`.
   */
  readonly inheritEnv?: "safe" | "all" | undefined
  /** How long each step of the shutdown may take (LIFE-16, STDIO-10). */
  readonly shutdown?: ShutdownOptions | undefined
  /**
   * What happens to the server's standard error. It is always read, and it never means failure (STDIO-05); its last 4 Ki
   * characters are part of the error when the server dies. Default `"ignore"`.
   */
  readonly stderr?: StderrOption | undefined
}

/** Closing the connection closes the server's input, waits, sends `SIGTERM` to its process group, waits, and sends `SIGKILL`. */
export interface ShutdownOptions {
  /** Time to exit after its input was closed. Default 2 seconds. */
  readonly graceful?: Duration.Input | undefined
  /** Time to exit after `SIGTERM`. Default 2 seconds. */
  readonly terminate?: Duration.Input | undefined
}

/** Variables that a program may need to start and to find its user's files. */
const posixVariables = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"]
const windowsVariables = [
  "APPDATA",
  "HOMEDRIVE",
  "HOMEPATH",
  "LOCALAPPDATA",
  "PATHEXT",
  "PROCESSOR_ARCHITECTURE",
  "PROGRAMFILES",
  "SYSTEMDRIVE",
  "SYSTEMROOT",
  "TEMP",
  "USERNAME",
  "USERPROFILE"
]

const safeEnvironment = (): { readonly [name: string]: string } => {
  const environment: { readonly [name: string]: string | undefined } = globalThis.process?.env ?? {}
  const inherited: { [name: string]: string } = {}
  for (const name of [...posixVariables, ...windowsVariables]) {
    const value = environment[name]
    // A value that starts like this is an exported shell function: code, where only data is wanted.
    if (value !== undefined && !value.startsWith("()")) inherited[name] = value
  }
  return inherited
}

/** Time that is allowed to what follows an exit at once: the rest of the output, the exit code after the output's end. */
const aftermath = Duration.seconds(1)

const describeExit = (command: string, how: string, stderr: string): McpError =>
  McpError.closed(
    stderr.trim() === ""
      ? `Server "${command}" ${how}`
      : `Server "${command}" ${how}. Its standard error ended with:\n${stderr.trim()}`
  )

const commandOf = (options: ClientOptions): Command => {
  const inherited = options.inheritEnv === "all" ? globalThis.process?.env : safeEnvironment()
  return {
    command: options.command,
    args: options.args ?? [],
    cwd: options.cwd,
    env: { ...inherited, ...options.env } as Command["env"], // a variable of ours that is not set is not there
    terminate: options.shutdown?.terminate ?? Duration.seconds(2)
  }
}

const start = (processes: ServerProcesses["Service"], options: ClientOptions) => {
  const failed = (cause: unknown, message: string) =>
    McpError.transport(`Server "${options.command}" could not be started: ${message}`, { cause })
  return processes.start(commandOf(options)).pipe(
    Effect.mapError((error) => failed(error, error.message)),
    // Some refusals of the operating system, such as arguments that are too long, are thrown.
    Effect.catchDefect((defect) => Effect.fail(failed(defect, String(defect))))
  )
}

/** `silence` ends when nothing was read for a whole second; a receiver that takes its time is no silence. */
const watchReads = <E>(pipe: Read<E>) => {
  let reads = 0
  let receiving = false
  const read: Read<E> = (onChunk) =>
    pipe((chunk) => {
      reads++
      const receive = onChunk(chunk)
      if (receive === Effect.void) return receive
      receiving = true
      return Effect.ensuring(
        receive,
        Effect.sync(() => {
          receiving = false
        })
      )
    })
  const silentSecond = Effect.suspend(() => {
    const before = reads
    return Effect.map(Effect.sleep(aftermath), () => !receiving && reads === before)
  })
  return { read, silence: Effect.repeat(silentSecond, { until: (silent) => silent }) }
}

const connect = Effect.fnUntraced(function* (processes: ServerProcesses["Service"], options: ClientOptions) {
  const scope = yield* Effect.scope
  const server = yield* start(processes, options)
  const output = new OutputQueue(options)
  const stderr = yield* makeStderr(server.readStderr, options.stderr)
  const ended = yield* Deferred.make<McpError>()

  yield* server.exit.pipe(
    Effect.tap(() => Effect.timeoutOption(stderr.drained, aftermath)),
    Effect.flatMap((how) => {
      const error = describeExit(options.command, how, stderr.tail())
      output.fail(error)
      return Deferred.succeed(ended, error)
    }),
    Effect.forkIn(scope)
  )

  /** The process may be known to be dead a moment after its pipes are; its exit explains more than a broken pipe. */
  const explain = (how: string) =>
    Effect.timeoutOrElse(Deferred.await(ended), {
      duration: aftermath,
      orElse: () => Effect.sync(() => describeExit(options.command, how, stderr.tail()))
    })

  yield* server.write(output).pipe(
    Effect.catch(() => Effect.map(explain("has closed its standard input"), (error) => output.fail(error))),
    Effect.ensuring(Effect.sync(() => output.fail(McpError.closed("The connection is closed")))),
    Effect.forkIn(scope)
  )
  const { read, silence } = watchReads(server.read)

  yield* Scope.addFinalizer(
    scope,
    Effect.suspend(() => {
      output.end()
      // A server that is stuck writing would never see the end of its input.
      const discard = Effect.andThen(Effect.ignore(server.read(() => Effect.void)), Effect.never)
      return Effect.raceFirst(Deferred.await(ended), discard).pipe(
        Effect.timeoutOption(options.shutdown?.graceful ?? Duration.seconds(2))
      )
    })
  )

  const send = (message: JsonRpc.Outgoing) => output.offer(NewlineFraming.encode(message))
  const connection: Connection = {
    send: (message) => Effect.suspend(() => send(message)),
    sendUnsafe: send,
    run: (onMessage) =>
      readMessages(read, options, onMessage).pipe(
        Effect.mapError((cause) => McpError.transport("Reading the server's output failed", { cause })),
        // A descendant of a dead server may hold its output open for ever.
        Effect.raceFirst(Effect.andThen(Deferred.await(ended), silence)),
        Effect.andThen(explain("has closed its standard output")),
        Effect.flatMap(Effect.fail),
        Effect.raceFirst(output.overflow)
      )
  }
  return connection
})

/** Starts the server with whatever starts processes, for every `connect`, and ends it with the scope of the connection. */
export const layerClientProcesses = (options: ClientOptions): Layer.Layer<ClientTransport, never, ServerProcesses> =>
  Layer.effect(
    ClientTransport,
    Effect.map(ServerProcesses, (processes) => ClientTransport.of({ connect: connect(processes, options) }))
  )
