import { assert, describe, expect, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import {
  Console,
  Deferred,
  Effect,
  Exit,
  Fiber,
  Layer,
  Logger,
  Queue,
  Scope,
  Sink,
  Stdio as EffectStdio,
  Stream
} from "effect"
import { TestClock } from "effect/testing"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeStdio from "../../src/node/Stdio.ts"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import type { McpError } from "../../src/protocol/McpError.ts"
import * as Stdio from "../../src/transport/Stdio.ts"
import { ClientTransport, ServerTransport } from "../../src/transport/Transport.ts"
import { childScript, start } from "./RawProcess.ts"

const turn = () => new Promise((resolve) => setImmediate(resolve))

const line = (message: object) => JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n"
const ping = (id: number) => line({ id, method: "ping" })
const pong = (id: number) => ({ jsonrpc: "2.0", id, result: {} })

describe("Stdio.layerServer", () => {
  it("[STDIO-01] answers in lines of JSON and nothing else [BUG-17]", async () => {
    const server = start("server")
    await server.write(ping(1) + ping(2).replace("\n", "\r\n"))
    await server.until(() => server.stdout().split("\n").length > 2)
    server.child.stdin.end()
    expect(await server.exit).toEqual({ code: 0, signal: null })
    expect(server.stdout()).toBe(JSON.stringify(pong(1)) + "\n" + JSON.stringify(pong(2)) + "\n")
  })

  it("[STDIO-09] [LIFE-17] exits with code 0 at the end of input, after everything was answered and released", async () => {
    const server = start("server")
    server.child.stdin.end(ping(1) + line({ id: 2, method: "flood", params: { count: 2000 } }))
    expect(await server.exit).toEqual({ code: 0, signal: null })
    const messages = server.messages()
    expect(messages.length).toBe(2002)
    expect(messages.at(-1)).toEqual({ jsonrpc: "2.0", id: 2, result: { count: 2000 } })
    expect(server.stderr()).toBe("released\n")
  })

  it("a real signal is still an interruption", async () => {
    const server = start("server")
    await server.write(ping(1))
    await server.until(() => server.messages().length === 1)
    server.child.kill("SIGTERM")
    expect(await server.exit).toEqual({ code: 130, signal: null })
    expect(server.stderr()).toBe("released\n")
  })

  it("[STDIO-02] nothing but messages reaches standard output, whoever prints", async () => {
    const server = start("server")
    server.child.stdin.end(line({ id: 1, method: "log" }))
    expect((await server.exit).code).toBe(0)
    expect(server.messages()).toEqual([pong(1)])
    for (const source of ["Effect.log", "Console.log", "Console.table", "console.log", "process.stdout.write"]) {
      expect(server.stderr()).toContain(source)
    }
  })

  it("[BUG-2] [BUG-4] a broken line is answered, and the next one served", async () => {
    const server = start("server")
    await server.write('{"jsonrpc":"2.0","id":6,"method":"ping"\n')
    await server.write(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d, 0x0a]))
    server.child.stdin.end(ping(7))
    expect((await server.exit).code).toBe(0)
    expect(server.messages()).toEqual([
      { jsonrpc: "2.0", error: { code: -32700, message: expect.any(String) } },
      { jsonrpc: "2.0", error: { code: -32700, message: expect.any(String) } },
      pong(7)
    ])
  })

  it("[BASE-18] [BUG-5] [BUG-6] [BUG-18] text survives byte by byte and in any locale", async () => {
    const server = start("server", [], { ...process.env, LC_ALL: "C", LANG: "C" })
    const params = { text: "é漢🙂 naïve a\u2028b\u2029c\u0085d" }
    const data = Buffer.from(line({ id: 1, method: "echo", params }))
    for (const byte of data) await server.write(new Uint8Array([byte]))
    server.child.stdin.end()
    expect((await server.exit).code).toBe(0)
    expect(server.bytes()).toEqual(Buffer.from(line({ id: 1, result: params })))
  })

  it("[BUG-7] serves a line of 1 MiB, refuses an endless one and goes on", async () => {
    const server = start("server")
    const text = "x".repeat(1024 * 1024)
    await server.write(line({ id: 1, method: "echo", params: { text } }))
    const filling = Buffer.alloc(1024 * 1024, "A")
    for (let megabytes = 0; megabytes < 64; megabytes++) await server.write(filling)
    server.child.stdin.end("\n" + ping(9))
    expect((await server.exit).code).toBe(0)
    const [echo, refusal, last] = server.messages()
    expect(echo).toEqual({ jsonrpc: "2.0", id: 1, result: { text } })
    expect(refusal).toMatchObject({ error: { code: JsonRpc.ErrorCode.InvalidRequest } })
    expect(last).toEqual(pong(9))
  })

  it("[BUG-9] a client that closes our output is gone: orderly end, code 0", async () => {
    const server = start("server")
    await server.write(line({ id: 1, method: "flood", params: { count: 1_000_000 } }))
    await server.until(() => server.bytes().length > 0)
    // Its input stays open: only the broken pipe tells.
    server.child.stdout.destroy()
    expect(await server.exit).toEqual({ code: 0, signal: null })
    expect(server.stderr()).toBe("released\n")
  })

  it("a client that reads late gets everything", async () => {
    const server = start("server")
    server.child.stdout.pause()
    server.child.stdin.end(line({ id: 1, method: "flood", params: { count: 5000 } }))
    // The pipe is full when our own buffer is, for nobody takes anything out of it.
    while (server.child.stdout.readableLength < server.child.stdout.readableHighWaterMark) await turn()
    server.child.stdout.resume()
    expect((await server.exit).code).toBe(0)
    expect(server.messages().length).toBe(5001)
  })
})

const serverOver = (stdio: Partial<EffectStdio.Stdio>, options: Stdio.ServerOptions = {}) =>
  Effect.map(Layer.build(Stdio.layerServerWith(options).pipe(Layer.provide(EffectStdio.layerTest(stdio)))), (context) =>
    Effect.runSync(Effect.provide(ServerTransport, context))
  )

const forbidden = (...values: ReadonlyArray<unknown>) => assert.fail(`written to standard output: ${values.join(" ")}`)

describe("Stdio.layerServer over any Stdio", () => {
  it.effect("[BUG-15] send waits for a slow client while reading goes on, and nothing is lost", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const input = yield* Queue.unbounded<Uint8Array>()
      let written = ""
      const transport = yield* serverOver({
        stdin: Stream.fromQueue(input),
        stdout: () =>
          Sink.forEach((chunk: string | Uint8Array) =>
            Effect.andThen(
              Deferred.await(gate),
              Effect.sync(() => {
                written += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8")
              })
            )
          )
      })
      const received = yield* Deferred.make<JsonRpc.Incoming>()
      let sent = 0
      const blocked = yield* Deferred.make<void>()
      const running = yield* transport
        .run((connection) =>
          Effect.gen(function* () {
            const sender = yield* Effect.gen(function* () {
              for (; sent < 1000; sent++) yield* connection.send(JsonRpc.notification("n", { text: "x".repeat(1000) }))
            }).pipe(Effect.forkChild({ startImmediately: true }))
            yield* Effect.forkChild(Effect.orDie(connection.run((message) => Deferred.succeed(received, message))))
            yield* Deferred.succeed(blocked, undefined)
            yield* Effect.orDie(Fiber.join(sender))
          })
        )
        .pipe(Effect.forkChild)
      yield* Deferred.await(blocked)
      yield* Queue.offer(input, new TextEncoder().encode(ping(1)))
      expect(yield* Deferred.await(received)).toEqual(JSON.parse(ping(1)))
      expect(sent).toBeGreaterThan(50)
      expect(sent).toBeLessThan(150)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(running)
      expect(written.split("\n").length).toBe(1001)
    })
  )

  it.effect("what is queued is written before the scope closes, but not for ever", () =>
    Effect.gen(function* () {
      for (const stuck of [false, true]) {
        const scope = yield* Scope.make()
        let written = ""
        const transport = yield* serverOver(
          {
            stdin: Stream.never,
            stdout: () =>
              Sink.forEach((chunk: string | Uint8Array) => {
                if (stuck) return Effect.never
                written += Buffer.from(chunk as Uint8Array).toString("utf8")
                return Effect.void
              })
          },
          { flushTimeout: "1 second" }
        ).pipe(Scope.provide(scope))
        const sent = yield* Deferred.make<void>()
        yield* transport
          .run((connection) =>
            connection
              .send(JsonRpc.request(1, "ping"))
              .pipe(Effect.orDie, Effect.andThen(Deferred.succeed(sent, undefined)), Effect.andThen(Effect.never))
          )
          .pipe(Effect.forkChild)
        yield* Deferred.await(sent)
        const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
        if (stuck) yield* TestClock.adjust("1 second")
        yield* Fiber.join(closing)
        expect(written).toBe(stuck ? "" : ping(1))
      }
    })
  )

  it.effect("[STDIO-02] Effect's loggers and console write to standard error on every platform", () => {
    const errors: Array<string> = []
    const console = new Proxy(globalThis.console, {
      get: (_, method) =>
        method === "error" ? (...values: ReadonlyArray<unknown>) => errors.push(values.join(" ")) : forbidden
    })
    return Effect.gen(function* () {
      yield* Effect.logInfo("logged")
      yield* Console.log("printed")
      yield* Console.info("informed")
      yield* Console.debug("debugged")
      yield* Console.table(["tabled"])
      yield* Console.dir("listed")
      yield* Console.count("counted")
      yield* Console.count("counted")
      yield* Console.assert(false, "asserted")
      yield* Console.log("inside").pipe(Console.withGroup({ label: "group" }))
      yield* Effect.scoped(Console.time("timed"))
      expect(errors.map((line) => line.replace(/^\[.*?\]/, ""))).toEqual([
        expect.stringContaining("logged"),
        "printed",
        "informed",
        "debugged",
        "tabled",
        "listed",
        "counted: 1",
        "counted: 2",
        "Assertion failed asserted",
        "group",
        "   inside",
        "timed: 0ms"
      ])
    }).pipe(
      Effect.provideService(Logger.CurrentLoggers, new Set([Logger.defaultLogger])),
      Effect.provide(
        Stdio.layerServer.pipe(
          Layer.provide(Layer.mergeAll(EffectStdio.layerTest({}), Layer.succeed(Console.Console, console)))
        )
      )
    )
  })

  it.effect("there is only one connection", () =>
    Effect.gen(function* () {
      const transport = yield* serverOver({ stdin: Stream.empty })
      yield* transport.run((connection) => Effect.orDie(connection.run(() => Effect.void)))
      const error = yield* Effect.flip(transport.run(() => Effect.void))
      expect(error.reason._tag).toBe("Closed")
    })
  )
})

/** Connects and reads; messages come out of a queue, the end of `run` out of a fiber. */
const open = Effect.gen(function* () {
  const transport = yield* ClientTransport
  const connection = yield* transport.connect
  const messages = yield* Queue.unbounded<JsonRpc.Incoming>()
  const running = yield* Effect.forkScoped(connection.run((message) => Queue.offer(messages, message)))
  return { ...connection, next: Queue.take(messages), failure: Effect.flip(Fiber.join(running)) }
})

const isClosed = (error: McpError) => expect(error.reason._tag).toBe("Closed")

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  // A dead process whose parent never asks for its exit code still has an entry.
  return !existsSync(`/proc/${pid}/stat`) || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"))
}

const pidOf = (message: JsonRpc.Incoming): number => {
  assert(JsonRpc.isNotification(message) && typeof message.params?.pid === "number")
  return message.params.pid
}

/** Node's own processes, and those of the platform. */
const clients = [
  { name: "Stdio.layerClient", layerClient: NodeStdio.layerClient },
  {
    name: "Stdio.layerClient over a ChildProcessSpawner",
    layerClient: (options: Stdio.ClientOptions) => Layer.provide(Stdio.layerClient(options), NodeServices.layer)
  }
]

describe.each(clients)("$name", ({ layerClient }) => {
  const peer = (kind: string, options: Partial<Stdio.ClientOptions> = {}, ...args: ReadonlyArray<string>) =>
    layerClient({ command: process.execPath, args: [childScript("peer"), kind, ...args], ...options })

  const environment = (options: Partial<Stdio.ClientOptions>) =>
    Effect.gen(function* () {
      const { next } = yield* open
      const message = yield* next
      assert(JsonRpc.isNotification(message))
      return message.params ?? {}
    }).pipe(Effect.scoped, Effect.provide(peer("environment", options)))

  it.live("[STDIO-01] [STDIO-03] the server's input is our messages and nothing else", () =>
    Effect.gen(function* () {
      const { next, send } = yield* open
      const sent = [
        JsonRpc.request(1, "a", { text: "line\nend\r\n" }),
        JsonRpc.notification("b"),
        JsonRpc.result("c", { text: "é漢🙂 \u2028" })
      ]
      for (const message of sent) yield* send(message)
      for (const message of sent) expect(yield* next).toEqual(message)
    }).pipe(Effect.provide(peer("mirror")))
  )

  it.live("[BASE-18] [BUG-5] [BUG-6] text survives byte by byte", () =>
    Effect.gen(function* () {
      const { next, send } = yield* open
      const message = JsonRpc.request(1, "echo", { text: "é漢🙂 a\u2028b\u2029c\u0085d" })
      yield* send(message)
      expect(yield* next).toEqual(message)
    }).pipe(Effect.provide(peer("dribble")))
  )

  it.live("[BUG-4] a line that is not UTF-8 is reported, and the next answer arrives", () =>
    Effect.gen(function* () {
      const { next, send } = yield* open
      expect(yield* next).toBeInstanceOf(JsonRpc.Malformed)
      yield* send(JsonRpc.request(1, "ping"))
      expect(yield* next).toEqual(pong(1))
    }).pipe(Effect.provide(peer("garbled")))
  )

  it.live("[STDIO-05] much output on standard error is no failure, is read always and handed over line by line", () => {
    let lines = 0
    const stderr = (text: string) =>
      Effect.sync(() => {
        expect(text).toBe("warning: é")
        lines++
      })
    return Effect.gen(function* () {
      yield* Effect.gen(function* () {
        const { next, send } = yield* open
        yield* send(JsonRpc.request(1, "ping"))
        expect(yield* next).toEqual(pong(1))
      }).pipe(Effect.scoped, Effect.provide(peer("noisy", { stderr })))
      expect(lines).toBe(100_000)
    })
  })

  it.live("[BUG-15] a large request is sent while the server writes much before it reads", () =>
    Effect.gen(function* () {
      const { next, send } = yield* open
      const params = { text: "x".repeat(1024 * 1024) }
      yield* send(JsonRpc.request(1, "echo", params))
      for (let n = 0; n < 256; n++) expect(yield* next).toHaveProperty("method", "filling")
      expect(yield* next).toEqual(JsonRpc.result(1, params))
    }).pipe(Effect.provide(peer("talkative")))
  )

  it.live("[BUG-10] a program that does not exist is a typed failure", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(open)
      expect(error.reason._tag).toBe("TransportFailure")
      expect(error.message).toContain("no-such-program")
    }).pipe(Effect.provide(layerClient({ command: "no-such-program" })))
  )

  it.live("[BUG-10] arguments that the system refuses are a typed failure", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(open)
      expect(error.reason._tag).toBe("TransportFailure")
    }).pipe(Effect.provide(peer("mirror", {}, "x".repeat(3 * 1024 * 1024))))
  )

  it.live("a working directory that does not exist is told from a program that does not", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(open)
      expect(error.reason._tag).toBe("TransportFailure")
      expect(error.message).toContain("/no/such/directory")
    }).pipe(Effect.provide(peer("mirror", { cwd: "/no/such/directory" })))
  )

  it.live("an environment variable that can't be passed on is refused without its value", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(open)
      expect(error.message).toContain("TOKEN")
      expect(JSON.stringify(error) + error.stack).not.toContain("hunter2")
    }).pipe(Effect.provide(peer("mirror", { env: { TOKEN: "hunter2\0" } })))
  )

  it.live("[BUG-10] the death of the server tells its exit code and the end of its standard error", () =>
    Effect.gen(function* () {
      const { failure, send } = yield* open
      const error = yield* failure
      isClosed(error)
      expect(error.message).toContain("exited with code 3")
      expect(error.message).toContain("no configuration found")
      expect(error.message.length).toBeLessThan(5000)
      expect((yield* Effect.flip(send(JsonRpc.request(1, "ping")))).message).toBe(error.message)
    }).pipe(Effect.provide(peer("fails")))
  )

  it.live("[BUG-10] a request of 64 MiB to a server that leaves fails with its exit code", () =>
    Effect.gen(function* () {
      const { failure, send } = yield* open
      const sending = yield* Effect.forkChild(Effect.flip(send(JsonRpc.request(1, "x", { text: "x".repeat(1 << 26) }))))
      const error = yield* failure
      expect(error.message).toContain("exited with code 4")
      expect((yield* Fiber.join(sending)).message).toBe(error.message)
    }).pipe(Effect.provide(peer("leaves")))
  )

  it.live("the death of the server tells the signal", () =>
    Effect.gen(function* () {
      const { failure } = yield* open
      expect((yield* failure).message).toContain("SIGKILL")
    }).pipe(Effect.provide(peer("killed")))
  )

  it.live(
    "[BUG-11] what was answered before a crash arrives, then run and every send fail; a new connection works",
    () =>
      Effect.gen(function* () {
        yield* Effect.gen(function* () {
          const { failure, next, send } = yield* open
          yield* send(JsonRpc.request(1, "initialize"))
          expect(yield* next).toEqual(pong(1))
          yield* send(JsonRpc.request(2, "echo"))
          yield* send(JsonRpc.request(3, "crash"))
          expect(yield* next).toEqual(pong(2))
          const error = yield* failure
          isClosed(error)
          expect(error.message).toContain("code 1")
          isClosed(yield* Effect.flip(send(JsonRpc.request(4, "echo"))))
        }).pipe(Effect.scoped)
        const { next, send } = yield* open
        yield* send(JsonRpc.request(1, "initialize"))
        expect(yield* next).toEqual(pong(1))
      }).pipe(Effect.provide(peer("crashes")))
  )

  it.live("[LIFE-16] [STDIO-10] [BUG-14] closing lets the server shut down properly", () =>
    Effect.gen(function* () {
      const directory = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "mcp-effect-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true }))
      )
      const marker = join(directory, "marker")
      yield* Effect.scoped(open).pipe(Effect.provide(peer("tidy", { shutdown: { graceful: "1 minute" } }, marker)))
      expect(existsSync(marker)).toBe(true)
    })
  )

  it.live("[LIFE-16] a server that never stops writing still sees the end of its input", () =>
    Effect.gen(function* () {
      yield* Effect.gen(function* () {
        const transport = yield* ClientTransport
        const connection = yield* transport.connect
        const first = yield* Deferred.make<void>()
        const running = yield* Effect.forkChild(connection.run(() => Deferred.succeed(first, undefined)))
        yield* Deferred.await(first)
        yield* Fiber.interrupt(running)
      }).pipe(Effect.scoped, Effect.provide(peer("endless", { shutdown: { graceful: "1 minute" } })))
    })
  )

  const shutdown = { graceful: "50 millis", terminate: "100 millis" } as const

  it.live("[LIFE-16] [STDIO-10] SIGTERM ends a server that ignores the end of its input", () =>
    Effect.gen(function* () {
      const pid = yield* Effect.gen(function* () {
        const { next } = yield* open
        return pidOf(yield* next)
      }).pipe(
        Effect.scoped,
        Effect.provide(peer("deaf", { shutdown: { graceful: "50 millis", terminate: "1 minute" } }))
      )
      expect(isAlive(pid)).toBe(false)
    })
  )

  it.live("a send that is waiting when the connection closes fails", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const { next, send } = yield* Scope.provide(open, scope)
      yield* next
      const sending = yield* Effect.forkScoped(
        Effect.flip(send(JsonRpc.request(1, "x", { text: "x".repeat(1024 * 1024) }))),
        { startImmediately: true }
      )
      expect(sending.pollUnsafe()).toBeUndefined()
      yield* Scope.close(scope, Exit.void)
      isClosed(yield* Fiber.join(sending))
    }).pipe(Effect.provide(peer("deaf", { shutdown })))
  )

  it.live("[LIFE-16] [STDIO-10] SIGKILL ends a server that ignores SIGTERM", () =>
    Effect.gen(function* () {
      const pid = yield* Effect.gen(function* () {
        const { next } = yield* open
        return pidOf(yield* next)
      }).pipe(Effect.scoped, Effect.provide(peer("stubborn", { shutdown })))
      expect(isAlive(pid)).toBe(false)
    })
  )

  it.live.skipIf(process.platform === "win32")("[BUG-13] closing ends the server behind a wrapper, too", () =>
    Effect.gen(function* () {
      for (const kind of ["deaf", "stubborn"]) {
        const script = `"${process.execPath}" "${childScript("peer")}" ${kind} & wait`
        const pid = yield* Effect.gen(function* () {
          const { next } = yield* open
          return pidOf(yield* next)
        }).pipe(Effect.scoped, Effect.provide(layerClient({ command: "sh", args: ["-c", script], shutdown })))
        expect(isAlive(pid)).toBe(false)
      }
    })
  )

  it.live.skipIf(process.platform === "win32")("a descendant that holds the output open does not hide the exit", () =>
    Effect.gen(function* () {
      const { failure, next } = yield* open
      yield* next
      expect((yield* failure).message).toContain("exited with code 0")
    }).pipe(
      Effect.provide(
        layerClient({
          command: "sh",
          args: ["-c", `"${process.execPath}" "${childScript("peer")}" deaf & sleep 0`],
          shutdown
        })
      )
    )
  )

  it.live("the server gets a safe part of our environment, unless it is given more", () =>
    Effect.gen(function* () {
      process.env.MCP_EFFECT_TEST_SECRET = "secret"
      const safe = yield* environment({ env: { GIVEN: "yes" } })
      expect(safe.GIVEN).toBe("yes")
      expect(safe.PATH).toBe(process.env.PATH)
      expect(safe).not.toHaveProperty("MCP_EFFECT_TEST_SECRET")
      const all = yield* environment({ inheritEnv: "all", env: { GIVEN: "yes" } })
      expect(all).toMatchObject({ GIVEN: "yes", MCP_EFFECT_TEST_SECRET: "secret" })
      delete process.env.MCP_EFFECT_TEST_SECRET
    })
  )

  it.live("our client and our server understand each other", () =>
    Effect.gen(function* () {
      const { next, send } = yield* open
      yield* send(JsonRpc.request(1, "log"))
      expect(yield* next).toEqual(pong(1))
      yield* send(JsonRpc.request(2, "flood", { count: 1000 }))
      for (let n = 0; n < 1000; n++) expect(yield* next).toHaveProperty("params.n", n)
      expect(yield* next).toEqual(JsonRpc.result(2, { count: 1000 }))
    }).pipe(Effect.provide(layerClient({ command: process.execPath, args: [childScript("server")] })))
  )
})
