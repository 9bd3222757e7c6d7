/**
 * A client that sends the HTTP requests that a test writes, and reads what comes back byte by byte.
 */
import { Effect, Exit, type Scope } from "effect"
import type { Captured, Json } from "../protocol/OfficialSchema.ts"
import { type Era, initializeParams, judge, legacy, modern, modernMeta } from "./RawClient.ts"

/** A server, as something that answers requests. */
export type Send = (request: Request) => Promise<Response>

/** An event of a stream, or a comment. */
export interface Event {
  readonly id?: string
  readonly data?: string
  readonly retry?: string
  readonly comment?: string
}

const parseEvent = (block: string): Event => {
  const event: { [field: string]: string } = {}
  for (const line of block.split(/\r\n|\n|\r/)) {
    const colon = line.indexOf(":")
    const [field, value] = [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")]
    if (field === "") event.comment = value
    else event[field] = field in event ? `${event[field]}\n${value}` : value
  }
  return event
}

/** What came back, while it comes. */
export class Reply {
  readonly status: number
  readonly headers: Headers
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  readonly #controller: AbortController
  readonly #record: (message: Json) => void
  readonly #decoder = new TextDecoder()
  #text = ""
  #reading: Promise<boolean> | undefined

  constructor(response: Response, controller: AbortController, record: (message: Json) => void) {
    this.status = response.status
    this.headers = response.headers
    this.#reader = response.body?.getReader()
    this.#controller = controller
    this.#record = record
  }

  /** Media type of the body, without parameters. */
  get type(): string | undefined {
    return this.headers.get("content-type")?.split(";", 1)[0]
  }

  /** The whole body. */
  get text(): Effect.Effect<string> {
    return Effect.promise(async () => {
      while (await this.#more()) continue
      return this.#text
    })
  }

  /** The whole body as one message. */
  get json(): Effect.Effect<Json> {
    return Effect.map(this.text, (text) => {
      const message: Json = JSON.parse(text)
      this.#record(message)
      return message
    })
  }

  /** The next event or comment; `undefined` at the end. A read that is given up loses nothing. */
  get nextEvent(): Effect.Effect<Event | undefined> {
    return Effect.promise(async () => {
      while (true) {
        const end = this.#text.indexOf("\n\n")
        if (end >= 0) {
          const event = parseEvent(this.#text.slice(0, end))
          this.#text = this.#text.slice(end + 2)
          if (event.data !== undefined && event.data !== "") this.#record(JSON.parse(event.data))
          return event
        }
        if (!(await this.#more())) return undefined
      }
    })
  }

  /** The next message of the stream. */
  get nextMessage(): Effect.Effect<Json | undefined> {
    return Effect.gen({ self: this }, function* () {
      while (true) {
        const event = yield* this.nextEvent
        if (event === undefined) return undefined
        if (event.data !== undefined && event.data !== "") return JSON.parse(event.data) as Json
      }
    })
  }

  /** All messages up to the end. */
  get messages(): Effect.Effect<ReadonlyArray<Json>> {
    return Effect.gen({ self: this }, function* () {
      if (this.type === "application/json") return [yield* this.json]
      const messages: Array<Json> = []
      for (let next = yield* this.nextMessage; next !== undefined; next = yield* this.nextMessage) messages.push(next)
      return messages
    })
  }

  /** The answer, in whatever form it comes. */
  get answer(): Effect.Effect<Json> {
    return Effect.map(this.messages, (messages) => messages.at(-1) ?? {})
  }

  /** Hangs up. */
  readonly hangUp: Effect.Effect<void> = Effect.promise(async () => {
    await this.#reader?.cancel().catch(() => {})
    this.#controller.abort()
  })

  // One read at a time: whoever gives up waiting leaves it to the next.
  #more(): Promise<boolean> {
    this.#reading ??= (this.#reader?.read() ?? Promise.resolve({ done: true, value: undefined })).then(
      ({ done, value }) => {
        this.#reading = undefined
        if (value !== undefined) this.#text += this.#decoder.decode(value, { stream: true })
        return !done
      }
    )
    return this.#reading
  }
}

/** What a request says. A header that is `undefined` is left out. */
export interface Options {
  readonly headers?: { readonly [name: string]: string | undefined } | undefined
  readonly body?: string | Uint8Array | ReadableStream<Uint8Array> | undefined
  readonly path?: string | undefined
}

const nameOf = (message: Json): string | undefined => {
  const params = message.params as Json | undefined
  const value = message.method === "resources/read" ? params?.uri : params?.name
  return typeof value === "string" ? value : undefined
}

/** A client of one server, in one era. */
export class RawHttp {
  readonly era: Era
  readonly url: string
  readonly traffic: Array<Captured> = []
  session: string | undefined
  readonly #send: Send
  readonly #meta: Json
  #lastId = 0

  constructor(send: Send, url: string, era: Era, capabilities?: Json) {
    this.#send = send
    this.url = url
    this.era = era
    this.#meta = modernMeta(capabilities)
  }

  /** Any request. Interrupting it, or closing the scope, hangs up. */
  fetch(method: string, options: Options = {}): Effect.Effect<Reply, never, Scope.Scope> {
    const controller = new AbortController()
    const headers = Object.entries(options.headers ?? {}).filter(
      (entry): entry is [string, string] => entry[1] !== undefined
    )
    const url = new URL(options.path ?? "", this.url)
    const init = {
      method,
      headers: Object.fromEntries(headers),
      signal: controller.signal,
      ...(options.body !== undefined && { body: options.body as BodyInit, duplex: "half" })
    }
    const record = (message: Json) => this.traffic.push({ from: "server", message })
    const send = Effect.callback<Reply>((resume) => {
      this.#send(new Request(options.path === undefined ? this.url : url, init)).then(
        (response) => resume(Effect.succeed(new Reply(response, controller, record))),
        (cause) => resume(Effect.die(cause))
      )
      return Effect.sync(() => controller.abort())
    })
    return Effect.acquireRelease(send, (reply) => reply.hangUp, { interruptible: true })
  }

  /** Headers of a POST with this message. */
  headersOf(message: Json): { [name: string]: string | undefined } {
    return {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      ...(this.era === modern
        ? {
            "mcp-protocol-version": modern,
            ...(typeof message.method === "string" && { "mcp-method": message.method }),
            ...(["tools/call", "prompts/get", "resources/read"].includes(message.method as string) && {
              "mcp-name": nameOf(message)
            })
          }
        : { ...(this.session !== undefined && { "mcp-session-id": this.session, "mcp-protocol-version": legacy }) })
    }
  }

  /** Posts a message as it is. */
  post(message: Json, options: Options = {}): Effect.Effect<Reply, never, Scope.Scope> {
    this.traffic.push({ from: "client", message })
    return this.fetch("POST", {
      body: JSON.stringify(message),
      ...options,
      headers: { ...this.headersOf(message), ...options.headers }
    })
  }

  /** A request of the era. */
  message(method: string, params: Json = {}, id: unknown = ++this.#lastId): Json {
    const _meta = { ...(this.era === modern && this.#meta), ...(params._meta as Json | undefined) }
    return { jsonrpc: "2.0", id, method, params: Object.keys(_meta).length === 0 ? params : { ...params, _meta } }
  }

  /** Posts a request of the era. */
  request(method: string, params?: Json, options?: Options): Effect.Effect<Reply, never, Scope.Scope> {
    return this.post(this.message(method, params), options)
  }

  /** Calls a tool. */
  call(name: string, args: Json = {}, more: Json = {}): Effect.Effect<Reply, never, Scope.Scope> {
    return this.request("tools/call", { name, arguments: args, ...more })
  }

  /** Opens the stream of the session. */
  listen(headers: Options["headers"] = {}): Effect.Effect<Reply, never, Scope.Scope> {
    return this.fetch("GET", {
      headers: {
        accept: "text/event-stream",
        "mcp-session-id": this.session,
        "mcp-protocol-version": legacy,
        ...headers
      }
    })
  }

  /** Opens a session with the handshake. */
  initialize(capabilities: Json = {}): Effect.Effect<void, never, Scope.Scope> {
    return Effect.gen({ self: this }, function* () {
      const reply = yield* this.request("initialize", initializeParams(capabilities))
      yield* reply.answer
      this.session = reply.headers.get("mcp-session-id") ?? undefined
      yield* this.post({ jsonrpc: "2.0", method: "notifications/initialized" })
    })
  }
}

/** How a client connects. */
export interface ClientOptions {
  readonly capabilities?: Json | undefined
  /** Whether answers are held against the official schema. Default `true`. */
  readonly judged?: boolean | undefined
  /** Whether a legacy client opens a session. Default `true`. */
  readonly initialize?: boolean | undefined
}

/** A client in one era; a legacy one opens a session, unless told not to. */
export const connect = (
  target: { readonly send: Send; readonly url: string },
  era: Era,
  options: ClientOptions = {}
): Effect.Effect<RawHttp, never, Scope.Scope> =>
  Effect.gen(function* () {
    const client = new RawHttp(target.send, target.url, era, options.capabilities)
    if (options.judged !== false) yield* judge(era, client.traffic)
    if (era === legacy && options.initialize !== false) yield* client.initialize(options.capabilities)
    return client
  })

/** Reads that must come to nothing: whether an effect is still waiting when everything that is ready had its turn. */
export const isPending = <A>(effect: Effect.Effect<A>): Effect.Effect<boolean, never, Scope.Scope> =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkScoped(effect, { startImmediately: true })
    yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 30)))
    const exit = fiber.pollUnsafe()
    fiber.interruptUnsafe()
    return exit === undefined || Exit.isFailure(exit)
  })
