/**
 * Streamable HTTP on `node:http` directly: the fast way to serve over HTTP on Node, with nothing in between.
 */
import * as NodeHttp from "node:http"
import type { AddressInfo } from "node:net"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { McpError } from "../protocol/McpError.ts"
import type { McpServer } from "../server/McpServer.ts"
import type * as Neutral from "../server/StreamableHttp.ts"
import { make, type Options } from "../server/StreamableHttp.ts"
import { EventStream } from "../transport/httpServer/EventStream.ts"
import { type Body, type HttpHead, type HttpResponse, noBody } from "../transport/httpServer/HttpMessage.ts"
import type { StreamableHttpServer } from "../transport/httpServer/StreamableHttpServer.ts"
import { layerSender as layerClientSseSender } from "../transport/HttpSseClient.ts"
import { layerSender as layerClientSender } from "../transport/StreamableHttpClient.ts"
import type { ClientTransport } from "../transport/Transport.ts"
import * as HttpSender from "./HttpSender.ts"
import { encodingOf } from "./TextEncoding.ts"

export * from "../server/StreamableHttp.ts"

/** Options of {@link layerNode}. */
export interface NodeOptions extends Options {
  /** The port to listen on; 0 for any that is free. */
  readonly port: number
  /** The address to listen on. Default `127.0.0.1`: only this machine. */
  readonly host?: string | undefined
  /** The most bytes of the headers of a request; more is refused with 431. Default 16 KiB. */
  readonly maximumHeaderBytes?: number | undefined
  /** Time for a request to come in, headers and body; then it is refused with 408. Default 1 minute. */
  readonly requestTimeout?: Duration.Input | undefined
}

/** Where a server listens, and whether it still takes requests. */
export class Listening extends Context.Service<
  Listening,
  {
    readonly url: string
    readonly port: number
    /** `false` from the moment it begins to shut down. The option `readyPath` tells the same over HTTP. */
    readonly isReady: Effect.Effect<boolean>
  }
>()("mcp-effect/node/Listening") {}

/**
 * Serves a server on `node:http`. Provides {@link Listening}, which knows the URL.
 *
 * @example
 * ```ts
 * import { Effect, Layer } from "effect"
 * import { McpServer } from "mcp-effect"
 * import { StreamableHttp } from "mcp-effect/node"
 *
 * const server = McpServer.make({ name: "demo", version: "1.0.0" })
 *
 * const main = Effect.flatMap(StreamableHttp.Listening, ({ url }) => Effect.log(url)).pipe(
 *   Effect.andThen(Effect.never),
 *   Effect.provide(StreamableHttp.layerNode(server, { port: 3000 }))
 * )
 * ```
 */
export const layerNode = <R>(
  server: McpServer<R>,
  options: NodeOptions
): Layer.Layer<Listening, McpError, Exclude<R, Scope.Scope>> =>
  Layer.effect(Listening, host(make(server, options), options)) as Layer.Layer<
    Listening,
    McpError,
    Exclude<R, Scope.Scope>
  >

/**
 * Serves requests and responses on `node:http`, whatever answers them.
 *
 * @internal
 */
export const host = <R>(
  making: Effect.Effect<StreamableHttpServer, never, R>,
  options: NodeOptions
): Effect.Effect<Listening["Service"], McpError, R | Scope.Scope> =>
  Effect.gen(function* () {
    const node = NodeHttp.createServer(limitsOf(options))
    // Closed last: whoever is still being answered keeps the connection until then.
    yield* Effect.addFinalizer(() => close(node))
    const http = yield* making
    const path = options.path ?? "/mcp"
    node.on("request", (request: NodeHttp.IncomingMessage, response: NodeHttp.ServerResponse) => {
      const { url } = request
      if (isAt(path, url) || http.paths.some((other) => isAt(other, url))) serve(http, request, response)
      else write(response, notFound)
    })
    yield* listen(node, options)
    const { address, port } = node.address() as AddressInfo
    const hostname = address.includes(":") ? `[${address}]` : address
    return { url: `http://${hostname}:${port}${path}`, port, isReady: Effect.sync(() => http.isReady) }
  })

/**
 * Connects to the server behind a URL, with Node's HTTP client. Any other `HttpClient` goes with `layerClient` of
 * `StreamableHttp` in `mcp-effect`.
 *
 * @example
 * ```ts
 * import { StreamableHttp } from "mcp-effect/node"
 *
 * const remote = StreamableHttp.layerClient({ url: "http://127.0.0.1:3000/mcp" })
 * ```
 */
export const layerClient = (options: Neutral.ClientOptions): Layer.Layer<ClientTransport> =>
  layerClientSender(options).pipe(Layer.provide(HttpSender.layer))

/** Connects to a server that speaks HTTP+SSE and nothing newer, with Node's HTTP client. */
export const layerClientSse = (options: Neutral.SseClientOptions): Layer.Layer<ClientTransport> =>
  layerClientSseSender(options).pipe(Layer.provide(HttpSender.layer))

/** Milliseconds that a client has to hang up by itself. */
const hangUpAfter = 1000

const notFound: HttpResponse = { status: 404, headers: { "content-type": "text/plain" }, body: "Not found" }

/** With and without the last slash, and whatever comes after a question mark. */
const isAt = (path: string, url: string | undefined): boolean => {
  if (url === undefined || !url.startsWith(path)) return false
  const rest = url.slice(path.length)
  return rest === "" || rest === "/" || rest.startsWith("?") || rest.startsWith("/?")
}

const limitsOf = (options: NodeOptions): NodeHttp.ServerOptions => {
  const timeout = Duration.toMillis(Duration.fromInputUnsafe(options.requestTimeout ?? Duration.minutes(1)))
  // Zero is no limit to Node, and it takes whole milliseconds only.
  const requestTimeout = timeout === Infinity ? 0 : Math.ceil(timeout)
  return {
    maxHeaderSize: options.maximumHeaderBytes ?? 16 * 1024,
    requestTimeout,
    headersTimeout: requestTimeout,
    connectionsCheckingInterval: Math.max(1, Math.min(Math.ceil(timeout / 2), 30_000))
  }
}

const listen = (node: NodeHttp.Server, options: NodeOptions): Effect.Effect<void, McpError> =>
  Effect.callback((resume) => {
    node.once("error", (cause) => resume(Effect.fail(McpError.transport(`Can't listen: ${cause.message}`, { cause }))))
    node.listen(options.port, options.host ?? "127.0.0.1", () => resume(Effect.void))
  })

const close = (node: NodeHttp.Server): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    if (!node.listening) return resume(Effect.void)
    node.close(() => resume(Effect.void))
    node.closeIdleConnections()
  }).pipe(
    // By now everything was answered: what is left does not read, or does not hang up.
    Effect.timeoutOrElse({ duration: hangUpAfter, orElse: () => Effect.sync(() => node.closeAllConnections()) })
  )

/** Answers a request once its body is there. What is refused anyway is not read first. */
const serve = (
  http: StreamableHttpServer,
  request: NodeHttp.IncomingMessage,
  response: NodeHttp.ServerResponse
): void => {
  const head = new Head(request)
  const respond = (answer: HttpResponse) => write(response, answer)
  const refused = http.refuse(head)
  if (refused !== undefined) return respond(refused)
  const start = (body: Body) => {
    const pending = http.answer(head, body, respond)
    if (pending !== undefined) response.once("close", () => pending.leave())
  }
  if (head.method === "POST") collect(request, http.maximumBodyBytes, start)
  else start(noBody)
}

class Head implements HttpHead {
  readonly method: string
  readonly url: string | undefined
  readonly headers: HttpHead["headers"]

  constructor(request: NodeHttp.IncomingMessage) {
    this.method = request.method ?? ""
    this.url = request.url
    // A header that may not come twice has been joined or dropped by Node already; only Set-Cookie is a list.
    this.headers = request.headers as HttpHead["headers"]
  }
}

/** Reads a body. One that is cut off has nobody who waits for an answer, and its end never comes. */
const collect = (request: NodeHttp.IncomingMessage, maximumBytes: number, use: (body: Body) => void): void => {
  const chunks: Array<Uint8Array> = []
  let length = 0
  const onData = (chunk: Uint8Array) => {
    length += chunk.length
    if (length <= maximumBytes) return void chunks.push(chunk)
    request.off("data", onData)
    request.off("end", onEnd)
    request.pause()
    use(McpError.limit("body", `The request body has more than ${maximumBytes} bytes`))
  }
  const onEnd = () => use(chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks))
  request.on("data", onData)
  request.on("end", onEnd)
}

const write = (response: NodeHttp.ServerResponse, { body, headers, status }: HttpResponse): void => {
  if (body instanceof EventStream) return writeEvents(response, status, headers, body)
  if (status === 413) return writeAndLinger(response, status, headers, body)
  writeWhole(response, status, headers, body)
}

const writeWhole = (
  response: NodeHttp.ServerResponse,
  status: number,
  headers: HttpResponse["headers"],
  body: string | undefined
): void => {
  const bytes = body === undefined ? 0 : Buffer.byteLength(body)
  const fields: Array<string | number> = []
  for (const name in headers) fields.push(name, headers[name] as string)
  if (status !== 204) fields.push("content-length", bytes)
  response.writeHead(status, fields)
  response.end(body, encodingOf(body ?? "", bytes))
}

/**
 * Whatever was not read of a body that is too large is not going to be read: the connection is of no use any more. But to
 * close it over unread bytes is to reset it, and then the client may never see why, so it gets a moment for that.
 */
const writeAndLinger = (
  response: NodeHttp.ServerResponse,
  status: number,
  headers: HttpResponse["headers"],
  body: string | undefined
): void => {
  response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body ?? ""), connection: "close" })
  response.write(body ?? "")
  const timer = setTimeout(() => response.end(), hangUpAfter)
  response.once("close", () => clearTimeout(timer))
}

const writeEvents = (
  response: NodeHttp.ServerResponse,
  status: number,
  headers: HttpResponse["headers"],
  events: EventStream
): void => {
  // The client is not told why: it does not read.
  events.onHangUp(() => response.destroy())
  response.once("close", () => events.gone())
  const flush = () => {
    if (response.destroyed) return
    const text = events.take()
    const begins = !response.headersSent
    if (events.isDone) {
      // All there is, in one write.
      if (begins) return writeWhole(response, status, headers, text)
      return void response.end(text)
    }
    if (begins) response.writeHead(status, headers)
    if (text === undefined) {
      if (begins) response.flushHeaders()
      events.whenReady(soon)
    } else if (response.write(text)) events.whenReady(soon)
    else response.once("drain", flush)
  }
  // What is said in one turn of the event loop goes out in one write, at first together with the head. And the writes of
  // all responses come after each other, so that who waits for many of them is woken once, and not for each.
  const soon = () => void setImmediate(flush)
  soon()
}
