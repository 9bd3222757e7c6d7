/**
 * A server that does what the test says: it hands out the requests that arrive, in order, and the test replies by hand.
 * Real sockets on a free port, so that chunks, closes and resets are those of the network.
 */
import { Deferred, Effect, Queue, type Scope } from "effect"
import * as http from "node:http"
import type { AddressInfo } from "node:net"

/** A request that arrived and waits for its reply. */
export class Received {
  readonly method: string
  readonly path: string
  readonly headers: http.IncomingHttpHeaders
  /** Names and values as they came, so that a header that came twice is there twice. */
  readonly rawHeaders: ReadonlyArray<string>
  readonly body: string
  /** Ends when the exchange is over on the wire: the client closed it, or the reply was sent. */
  readonly closed: Effect.Effect<void>
  readonly #response: http.ServerResponse

  constructor(request: http.IncomingMessage, response: http.ServerResponse, body: string) {
    this.method = request.method ?? ""
    this.path = request.url ?? ""
    this.headers = request.headers
    this.rawHeaders = request.rawHeaders
    this.body = body
    this.#response = response
    const closed = Deferred.makeUnsafe<void>()
    response.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
    this.closed = Deferred.await(closed)
  }

  /** The body as JSON: a message, as far as the client is right. */
  get json(): { readonly id?: unknown; readonly method?: unknown } {
    return JSON.parse(this.body)
  }

  /** How often a header came. */
  count(name: string): number {
    return this.rawHeaders.filter((entry, index) => index % 2 === 0 && entry.toLowerCase() === name.toLowerCase())
      .length
  }

  /** A whole reply. */
  reply(status: number, headers: http.OutgoingHttpHeaders = {}, body: string | Buffer = ""): Effect.Effect<void> {
    return Effect.sync(() => {
      this.#response.writeHead(status, headers).end(body)
    })
  }

  /** A whole reply with status 200 and JSON. */
  replyJson(value: unknown, headers: http.OutgoingHttpHeaders = {}): Effect.Effect<void> {
    return this.reply(200, { "content-type": "application/json", ...headers }, JSON.stringify(value))
  }

  /** The result of the request that came. */
  replyResult(result: unknown, headers: http.OutgoingHttpHeaders = {}): Effect.Effect<void> {
    return this.replyJson({ jsonrpc: "2.0", id: this.json.id, result }, headers)
  }

  /** The head of an event stream, sent at once. */
  openStream(headers: http.OutgoingHttpHeaders = {}): Effect.Effect<void> {
    return Effect.sync(() => {
      this.#response.writeHead(200, { "content-type": "text/event-stream", ...headers })
      this.#response.flushHeaders()
    })
  }

  /** A piece of the body. Ends when it was handed to the socket. */
  write(piece: string | Uint8Array): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      this.#response.write(piece, () => resume(Effect.void))
    })
  }

  /** One event with a message. */
  event(message: unknown, id?: string): Effect.Effect<void> {
    return this.write(`${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`)
  }

  /** The proper end of the reply. */
  readonly end: Effect.Effect<void> = Effect.sync(() => {
    this.#response.end()
  })

  /** Cuts the connection in the middle. */
  readonly reset: Effect.Effect<void> = Effect.sync(() => {
    this.#response.destroy()
  })
}

/** A running server. */
export interface ScriptedHttpServer {
  /** The MCP endpoint. */
  readonly url: string
  /** The next request, whatever it is. */
  readonly next: Effect.Effect<Received>
  /** The next request, which has to have this method; and this method of JSON-RPC, where one is given. */
  readonly expect: (method: string, rpcMethod?: string) => Effect.Effect<Received>
  /** Requests that arrived so far and were not taken. */
  readonly waiting: Effect.Effect<number>
  /** From now on every request is refused with status 405 by itself: the test is over. */
  readonly dismiss: Effect.Effect<void>
  /** How many sockets were opened so far. */
  readonly sockets: Effect.Effect<number>
}

/** Starts a server that lives as long as the scope. */
export const make: Effect.Effect<ScriptedHttpServer, never, Scope.Scope> = Effect.gen(function* () {
  const requests = yield* Queue.unbounded<Received>()
  let sockets = 0
  let isDismissed = false
  const server = http.createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk) => chunks.push(chunk))
    request.on("end", () => {
      if (isDismissed) return response.writeHead(405).end()
      Queue.offerUnsafe(requests, new Received(request, response, Buffer.concat(chunks).toString("utf8")))
    })
  })
  server.on("connection", () => sockets++)
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )
  const next = Queue.take(requests)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    next,
    expect: (method, rpcMethod) =>
      Effect.flatMap(next, (request) =>
        request.method === method && (rpcMethod === undefined || request.json.method === rpcMethod)
          ? Effect.succeed(request)
          : Effect.die(new Error(`Expected ${method} ${rpcMethod ?? ""}, got ${request.method} ${request.body}`))
      ),
    waiting: Queue.size(requests),
    dismiss: Effect.sync(() => {
      isDismissed = true
    }),
    sockets: Effect.sync(() => sockets)
  }
})
