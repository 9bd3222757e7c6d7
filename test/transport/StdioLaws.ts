/**
 * Both sides of stdio in one process: a spawner whose child processes are the server's standard input and output, with
 * pipes that hold as much as those of an operating system.
 */
import { type Cause, Context, Deferred, Effect, Layer, Queue, Sink, Stdio, Stream } from "effect"
import { ChildProcessSpawner } from "effect/process"
import * as Neutral from "../../src/transport/Stdio.ts"
import { ServerTransport } from "../../src/transport/Transport.ts"

type Pipe = Queue.Queue<Uint8Array, Cause.Done>

const utf8 = new TextEncoder()

const makePipe = Queue.bounded<Uint8Array, Cause.Done>(16)

const write = (pipe: Pipe) => (chunk: string | Uint8Array) =>
  Effect.asVoid(Queue.offer(pipe, typeof chunk === "string" ? utf8.encode(chunk) : chunk))

const into = <A extends string | Uint8Array>(pipe: Pipe): Sink.Sink<void, A> =>
  Sink.forEach<A, void, never, never>(write(pipe)).pipe(Sink.ensuring(Effect.asVoid(Queue.end(pipe)))) as Sink.Sink<
    void,
    A
  >

const makeServerStdio = (stdin: Pipe, stdout: Pipe) =>
  Stdio.make({
    args: Effect.succeed([]),
    stdin: Stream.fromQueue(stdin),
    stdout: () => into(stdout),
    stderr: () => Sink.drain
  })

/** A client and a server, linked by pipes. */
export const layer = Layer.effectContext(
  Effect.gen(function* () {
    const started = yield* Queue.unbounded<{
      readonly stdio: Stdio.Stdio
      readonly exited: Deferred.Deferred<ChildProcessSpawner.ExitCode>
    }>()
    const spawn: ChildProcessSpawner.ChildProcessSpawner["Service"]["spawn"] = () =>
      Effect.gen(function* () {
        const stdin = yield* makePipe
        const stdout = yield* makePipe
        const exited = yield* Deferred.make<ChildProcessSpawner.ExitCode>()
        yield* Queue.offer(started, { stdio: makeServerStdio(stdin, stdout), exited })
        return ChildProcessSpawner.makeHandle({
          pid: ChildProcessSpawner.ProcessId(1),
          exitCode: Deferred.await(exited),
          isRunning: Effect.succeed(true),
          kill: () => Effect.void,
          stdin: into(stdin),
          stdout: Stream.fromQueue(stdout),
          stderr: Stream.empty,
          all: Stream.empty,
          getInputFd: () => Sink.drain,
          getOutputFd: () => Stream.empty,
          unref: Effect.succeed(Effect.void)
        })
      })
    const run: ServerTransport["Service"]["run"] = (serve) =>
      Effect.scopedWith((scope) =>
        Queue.take(started).pipe(
          Effect.flatMap(({ exited, stdio }) =>
            Effect.flatMap(ServerTransport, (transport) => transport.run(serve)).pipe(
              Effect.provide(Layer.provide(Neutral.layerServer, Layer.succeed(Stdio.Stdio, stdio))),
              Effect.ensuring(Deferred.succeed(exited, ChildProcessSpawner.ExitCode(0))),
              Effect.ignore,
              Effect.forkIn(scope)
            )
          ),
          Effect.forever
        )
      )
    const client = yield* Layer.build(
      Neutral.layerClient({ command: "linked" }).pipe(
        Layer.provide(Layer.succeed(ChildProcessSpawner.ChildProcessSpawner, ChildProcessSpawner.make(spawn)))
      )
    )
    return Context.add(client, ServerTransport, { run })
  })
)
