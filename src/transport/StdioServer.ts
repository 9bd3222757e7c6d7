/**
 * The server's side of stdio: messages on standard input and output, everything else on standard error.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Scope from "effect/Scope"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { McpError } from "../protocol/McpError.ts"
import { fromPull, type Pipes, readMessages } from "./ByteStream.ts"
import * as NewlineFraming from "./NewlineFraming.ts"
import { OutputQueue, type Options as QueueOptions } from "./OutputQueue.ts"
import * as StderrConsole from "./StderrConsole.ts"
import { type Connection, ServerTransport } from "./Transport.ts"

/** How the server's side of stdio behaves. */
export interface ServerOptions extends NewlineFraming.Options, QueueOptions {
  /** Time for writing what is still queued when the connection ends and the client reads slowly. Default 1 second. */
  readonly flushTimeout?: Duration.Input | undefined
  /** Run once after the connection has ended and its output is written. A platform ends its process here. Default: nothing. */
  readonly onEnd?: Effect.Effect<void> | undefined
}

const makeTransport = Effect.fnUntraced(function* <R>(options: ServerOptions, open: Effect.Effect<Pipes, never, R>) {
  const pipes = yield* open
  const scope = yield* Effect.scope
  const output = new OutputQueue(options)
  const peerGone = yield* Deferred.make<void>()

  const writer = yield* pipes.write(output).pipe(
    // A client that has closed our output is gone; that is how stdio connections end, and no error.
    Effect.catch(() => Effect.void),
    Effect.ensuring(
      Effect.suspend(() => {
        output.fail(McpError.closed("Standard output is closed"))
        return Deferred.succeed(peerGone, undefined)
      })
    ),
    Effect.forkIn(scope)
  )
  const flush = Effect.suspend(() => {
    output.end()
    return Effect.timeoutOption(Fiber.await(writer), options.flushTimeout ?? Duration.seconds(1))
  })
  yield* Scope.addFinalizer(scope, flush)

  const connection: Connection = {
    readsAfterEnd: true,
    trusted: true,
    send: (message) => Effect.suspend(() => output.offer(NewlineFraming.encode(message))),
    sendUnsafe: (message) => output.offer(NewlineFraming.encode(message)),
    run: (onMessage) =>
      readMessages(pipes.read, options, onMessage).pipe(
        Effect.mapError((cause) => McpError.transport("Reading standard input failed", { cause })),
        Effect.raceFirst(Deferred.await(peerGone)),
        Effect.raceFirst(output.overflow)
      )
  }

  let served = false
  return ServerTransport.of({
    run: (serve) =>
      Effect.suspend(() => {
        if (served) return Effect.fail(McpError.closed("Standard input and output have been served already"))
        served = true
        return serve(connection).pipe(Effect.andThen(flush), Effect.andThen(options.onEnd ?? Effect.void))
      })
  })
})

/** Serves whoever is at the other end of pipes that are the standard input and output of this process. */
export const layerServerPipes = <R>(
  options: ServerOptions,
  open: Effect.Effect<Pipes, never, R>
): Layer.Layer<ServerTransport, never, Exclude<R, Scope.Scope>> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const console = yield* StderrConsole.make
      const transport = yield* makeTransport(options, open)
      return Context.make(ServerTransport, transport).pipe(
        Context.add(Logger.LogToStderr, true),
        Context.add(Console.Console, console)
      )
    })
  )

const standardPipes: Effect.Effect<Pipes, never, Stdio.Stdio | Scope.Scope> = Effect.gen(function* () {
  const stdio = yield* Stdio.Stdio
  return {
    read: fromPull(yield* Stream.toPull(stdio.stdin)),
    write: (output) => Stream.run(Stream.fromPull(Effect.succeed(output.take)), stdio.stdout({ endOnDone: true }))
  }
})

/** {@link layerServer} with options. */
export const layerServerWith = (options: ServerOptions): Layer.Layer<ServerTransport, never, Stdio.Stdio> =>
  layerServerPipes(options, standardPipes)

/**
 * Serves the one client at the other end of standard input and output. Its `run` ends at the end of input, or when the
 * client has closed our output (STDIO-09); what is queued is written before that.
 *
 * Whatever this layer is provided to logs to standard error: Effect's loggers and `Console` do by themselves (STDIO-02).
 * Provide it last, and the layers of the handlers' services do so too.
 */
export const layerServer: Layer.Layer<ServerTransport, never, Stdio.Stdio> = layerServerWith({})
