/**
 * A client that sends the messages that a test writes, and nothing by itself: the raw end of a connection to a server.
 *
 * All traffic is recorded. When the test's scope closes, everything that the server sent is held against the official
 * schema of the revision.
 */
import { Cause, Effect, Exit, type Scope } from "effect"
import type { McpServer } from "../../src/server/McpServer.ts"
import * as ServerPeer from "../../src/server/ServerPeer.ts"
import * as ServerRuntime from "../../src/server/ServerRuntime.ts"
import * as InMemory from "../../src/transport/InMemory.ts"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import type { Connection } from "../../src/transport/Transport.ts"
import { available, type Captured, type Json, validateTraffic } from "../protocol/OfficialSchema.ts"

/** The revision of each era that tests run in. */
export const legacy = "2025-11-25"
export const modern = "2026-07-28"
export const eras = [legacy, modern] as const

/** A revision that tests speak. */
export type Era = (typeof eras)[number]

/** How a client introduces itself. */
export interface Options {
  /** Default: the modern era. */
  readonly era?: Era | undefined
  readonly capabilities?: Json | undefined
  /** More members for the `_meta` of every modern request. */
  readonly meta?: Json | undefined
  /** Whether a legacy client opens with `initialize`. Default `true`. */
  readonly initialize?: boolean | undefined
  /** Whether what the server sends is held against the schema of the era. Default `true`. */
  readonly judged?: boolean | undefined
}

const clientInfo = { name: "raw", version: "1.0.0" }

/** `_meta` of a modern request. */
export const modernMeta = (capabilities: Json = {}, more: Json = {}): Json => ({
  "io.modelcontextprotocol/protocolVersion": modern,
  "io.modelcontextprotocol/clientInfo": clientInfo,
  "io.modelcontextprotocol/clientCapabilities": capabilities,
  ...more
})

/** The params of `initialize`. */
export const initializeParams = (capabilities: Json = {}, protocolVersion: string = legacy): Json => ({
  protocolVersion,
  capabilities,
  clientInfo
})

/** A member of a message, for reading into what is not typed. */
export const at = (value: unknown, ...path: ReadonlyArray<string | number>): unknown =>
  path.reduce<unknown>(
    (inner, key) => (inner as { readonly [key: string | number]: unknown } | undefined)?.[key],
    value
  )

/** What the server said that the official schema does not allow. */
export const complaints = (version: Era, traffic: ReadonlyArray<Captured>): ReadonlyArray<string> =>
  validateTraffic(version, traffic).filter((complaint) => {
    const index = Number(/^message (\d+)/.exec(complaint)?.[1])
    return traffic[index]?.from === "server"
  })

/** Fails the test when it has succeeded so far and the server has said something wrong. */
export const judge = (version: Era, traffic: ReadonlyArray<Captured>): Effect.Effect<void, never, Scope.Scope> =>
  Effect.addFinalizer((exit) => {
    const found = available && Exit.isSuccess(exit) ? complaints(version, traffic) : []
    return found.length === 0
      ? Effect.void
      : Effect.die(new Error(`The server broke ${version}:\n${found.join("\n")}\n${JSON.stringify(traffic, null, 1)}`))
  })

interface Waiting {
  readonly matches: (message: Json) => boolean
  readonly resume: (message: Json) => void
}

/** One connection. Made with {@link open} or {@link over}. */
export class RawClient {
  readonly era: Era
  /** Everything that came, in order. */
  readonly received: Array<Json> = []
  readonly traffic: Array<Captured> = []
  readonly #connection: Connection
  readonly #options: Options
  readonly #untaken: Array<Json> = []
  readonly #waiting = new Set<Waiting>()
  #lastId = 0

  constructor(connection: Connection, options: Options) {
    this.#connection = connection
    this.#options = options
    this.era = options.era ?? modern
  }

  /** Sends whatever it is given. */
  send(message: unknown): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (typeof message === "object" && message !== null) this.traffic.push({ from: "client", message })
      return Effect.orDie(this.#connection.send(message as JsonRpc.Message))
    })
  }

  /** Sends a notification. */
  notify(method: string, params?: Json): Effect.Effect<void> {
    return this.send(JsonRpc.notification(method, params))
  }

  /** Answers a request of the server. */
  answer(request: Json, result: Json): Effect.Effect<void> {
    return this.send({ jsonrpc: "2.0", id: request.id, result })
  }

  /** Sends a request of the era, without waiting; gives its id. */
  start(method: string, params: Json = {}, id: unknown = ++this.#lastId): Effect.Effect<unknown> {
    const _meta = { ...(this.era === modern && this.#meta()), ...(params._meta as Json | undefined) }
    const full = Object.keys(_meta).length === 0 ? params : { ...params, _meta }
    return Effect.as(this.send({ jsonrpc: "2.0", id, method, params: full }), id)
  }

  /** Sends a request of the era and gives the whole answer. */
  request(method: string, params?: Json, id?: unknown): Effect.Effect<Json> {
    return Effect.flatMap(this.start(method, params, id), (sent) => this.answerTo(sent))
  }

  /** The result of a request; an error fails the test. */
  result(method: string, params?: Json): Effect.Effect<Json> {
    return Effect.flatMap(this.request(method, params), (answer) =>
      answer.result === undefined
        ? Effect.die(new Error(`${method} was answered with ${JSON.stringify(answer)}`))
        : Effect.succeed(answer.result as Json)
    )
  }

  /** The error of a request; a result fails the test. */
  error(
    method: string,
    params?: Json
  ): Effect.Effect<{ readonly code: number; readonly message: string; data?: unknown }> {
    return Effect.flatMap(this.request(method, params), (answer) =>
      answer.error === undefined
        ? Effect.die(new Error(`${method} was answered with ${JSON.stringify(answer)}`))
        : Effect.succeed(answer.error as { code: number; message: string; data?: unknown })
    )
  }

  /** Calls a tool. */
  call(name: string, args?: Json, more?: Json): Effect.Effect<Json> {
    return this.result("tools/call", { name, ...(args !== undefined && { arguments: args }), ...more })
  }

  /** The answer with this id. */
  answerTo(id: unknown): Effect.Effect<Json> {
    return this.next((message) => message.id === id && !("method" in message))
  }

  /** The next request or notification of the server with this method. */
  nextCalled(method: string): Effect.Effect<Json> {
    return this.next((message) => message.method === method)
  }

  /** The first message that matches and was not taken before, now or when it comes. */
  next(matches: (message: Json) => boolean): Effect.Effect<Json> {
    return Effect.callback((resume) => {
      const index = this.#untaken.findIndex(matches)
      if (index >= 0) return resume(Effect.succeed(this.#untaken.splice(index, 1)[0] as Json))
      const waiting: Waiting = { matches, resume: (message) => resume(Effect.succeed(message)) }
      this.#waiting.add(waiting)
      return Effect.sync(() => this.#waiting.delete(waiting))
    })
  }

  /** Everything that came with this method. */
  called(method: string): ReadonlyArray<Json> {
    return this.received.filter((message) => message.method === method)
  }

  /** @internal */
  readonly take = (incoming: JsonRpc.Incoming): Effect.Effect<void> =>
    Effect.sync(() => {
      const message = (incoming instanceof JsonRpc.Malformed ? { malformed: incoming.error.message } : incoming) as Json
      this.received.push(message)
      this.traffic.push({ from: "server", message })
      for (const waiting of this.#waiting) {
        if (!waiting.matches(message)) continue
        this.#waiting.delete(waiting)
        return waiting.resume(message)
      }
      this.#untaken.push(message)
    })

  #meta(): Json {
    return modernMeta(this.#options.capabilities, this.#options.meta)
  }
}

/** Gives everything that is ready its turn, so that what would be sent has been sent. */
export const settle: Effect.Effect<void> = Effect.repeat(Effect.yieldNow, { times: 50 }).pipe(Effect.asVoid)

/** A client at the end of a connection. A legacy one opens with the handshake, unless told not to. */
export const over = (connection: Connection, options: Options = {}): Effect.Effect<RawClient, never, Scope.Scope> =>
  Effect.gen(function* () {
    const client = new RawClient(connection, options)
    if (options.judged !== false) yield* judge(client.era, client.traffic)
    yield* Effect.forkScoped(Effect.ignore(connection.run(client.take)), { startImmediately: true })
    if (client.era === legacy && options.initialize !== false) {
      yield* client.result("initialize", initializeParams(options.capabilities))
      yield* client.notify("notifications/initialized")
    }
    return client
  })

/** A server that can be connected to more than once. */
export const serve = <R>(
  server: McpServer<R>
): Effect.Effect<(options?: Options) => Effect.Effect<RawClient, never, Scope.Scope>, never, R | Scope.Scope> =>
  Effect.map(
    ServerRuntime.make(server),
    (runtime) => (options) =>
      Effect.gen(function* () {
        const { client, server: end } = yield* InMemory.link
        const peer = yield* ServerPeer.open(runtime, end)
        yield* Effect.forkScoped(Effect.ignore(end.run((message) => peer.receive(message, end))), {
          startImmediately: true
        })
        return yield* over(client, options)
      })
  )

/** A client of a server of its own. */
export const open = <R>(server: McpServer<R>, options?: Options): Effect.Effect<RawClient, never, R | Scope.Scope> =>
  Effect.flatMap(serve(server), (connect) => connect(options))

/** The failure of an exit, squashed, for tests that look at why. */
export const failureOf = <A, E>(exit: Exit.Exit<A, E>): unknown =>
  Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
