/**
 * The endpoint as a route of an `HttpRouter` application: requests and responses of the platform on one side, those of the
 * transport on the other.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { McpError } from "../protocol/McpError.ts"
import { EventStream } from "../transport/httpServer/EventStream.ts"
import { jsonHeaders } from "../transport/httpServer/Exchange.ts"
import type { HttpRequest, HttpResponse } from "../transport/httpServer/HttpMessage.ts"
import type * as Core from "../transport/httpServer/StreamableHttpServer.ts"
import * as Sse from "../transport/Sse.ts"
import { collect, joined, unreadable } from "./BodyStream.ts"

/** Answers a request to the route. */
export const handle = (
  http: Core.StreamableHttpServer,
  request: HttpServerRequest.HttpServerRequest
): Effect.Effect<HttpServerResponse.HttpServerResponse> => Effect.map(http.handle(new RouterRequest(request)), toRouter)

/** A class, since an object that is written with a getter gets a hidden class of its own each time. */
class RouterRequest implements HttpRequest {
  readonly method: string
  readonly headers: HttpRequest["headers"]
  readonly #request: HttpServerRequest.HttpServerRequest

  constructor(request: HttpServerRequest.HttpServerRequest) {
    this.method = request.method
    this.headers = request.headers
    this.#request = request
  }

  get url(): string {
    return this.#request.originalUrl
  }

  body(maximumBytes: number): Effect.Effect<Uint8Array, McpError> {
    const { headers } = this
    const request = this.#request
    if (headers["content-length"] === undefined) {
      return collect(Stream.mapError(request.stream, unreadable), maximumBytes)
    }
    // From here on the body is known not to be too large, unless the application has a limit of its own.
    const isBounded = Fiber.getCurrent()?.getRef(HttpIncomingMessage.MaxBodySize) !== undefined
    if (isUnread(request.source) && headers.expect === undefined && !isBounded) return readSource(request.source)
    return Effect.mapBoth(request.arrayBuffer, {
      onSuccess: (buffer) => new Uint8Array(buffer),
      onFailure: unreadable
    })
  }
}

/** What this needs of an incoming message of Node, whose body the platform takes several fibers to read. */
interface Source {
  readonly readableFlowing: boolean | null
  readonly on: (event: "data" | "end", listener: (chunk: Uint8Array) => void) => unknown
  readonly off: (event: "data" | "end", listener: (chunk: Uint8Array) => void) => unknown
}

/** Whether it is a message of Node that nobody has begun to read. */
const isUnread = (source: object): source is Source =>
  "readableFlowing" in source && source.readableFlowing === null && "httpVersion" in source

const readSource = (source: Source): Effect.Effect<Uint8Array> =>
  // A body that is cut off has no end; then the platform interrupts the request.
  Effect.callback((resume) => {
    const chunks: Array<Uint8Array> = []
    const onData = (chunk: Uint8Array) => void chunks.push(chunk)
    const onEnd = () => resume(Effect.succeed(joined(chunks)))
    source.on("data", onData)
    source.on("end", onEnd)
    return Effect.sync(() => {
      source.off("data", onData)
      source.off("end", onEnd)
    })
  })

const toRouter = ({ body, headers, status }: HttpResponse): HttpServerResponse.HttpServerResponse => {
  if (body === undefined) return HttpServerResponse.empty({ status, headers })
  if (!(body instanceof EventStream)) {
    // Nearly always there is nothing else to say, and the platform need not copy it.
    if (headers === jsonHeaders) return HttpServerResponse.text(body, { status, contentType: "application/json" })
    return HttpServerResponse.text(body, { status, headers, contentType: "application/json" })
  }
  const options = { status, headers, contentType: "text/event-stream" }
  const whole = body.whole()
  if (whole !== undefined) return HttpServerResponse.text(whole, options)
  // The platform holds the head back until there is a body: a comment is one, and says nothing (BUG-34).
  const text = Stream.concat(Stream.succeed(Sse.comment("open")), body.text)
  return HttpServerResponse.stream(Stream.encodeText(text), options)
}
