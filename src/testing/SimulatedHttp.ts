/**
 * An HTTP client and the server that it talks to, without a network: requests are values, and what can happen to them on
 * the way does. Exchanges are independent of each other, so what is sent first need not arrive first.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import { McpError } from "../protocol/McpError.ts"
import { EventStream } from "../transport/httpServer/EventStream.ts"
import type { HttpRequest, HttpResponse } from "../transport/httpServer/HttpMessage.ts"
import { type Dice, type Faults, pause } from "./Faults.ts"

type Handle = (request: HttpRequest) => Effect.Effect<HttpResponse>

const encoder = new TextEncoder()

const transportError = (request: HttpClientRequest.HttpClientRequest, description: string) =>
  new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, description }) })

/** Makes a client whose requests are answered by `handle`. */
export const make = (handle: Handle, dice: Dice, faults: Faults): HttpClient.HttpClient =>
  HttpClient.make((request, url, signal) =>
    Effect.gen(function* () {
      const sent = requestOf(request, url)
      yield* pause(dice, faults)
      if (dice.chance(faults.drop)) return yield* transportError(request, "The request was lost")
      if (dice.chance(faults.duplicate)) giveUp(yield* handle(sent))
      const response = yield* handle(sent)
      signal.addEventListener("abort", () => giveUp(response))
      if (signal.aborted) giveUp(response)
      yield* Effect.onInterrupt(pause(dice, faults), () => Effect.sync(() => giveUp(response)))
      if (dice.chance(faults.drop)) {
        giveUp(response)
        return yield* transportError(request, "The response was lost")
      }
      return responseOf(request, response, dice, faults)
    })
  )

const requestOf = (request: HttpClientRequest.HttpClientRequest, url: URL): HttpRequest => {
  const { body } = request
  const bytes = body._tag === "Uint8Array" ? body.body : encoder.encode(body._tag === "Raw" ? String(body.body) : "")
  return {
    method: request.method,
    url: url.pathname + url.search,
    headers: { ...request.headers, host: "localhost" },
    body: (maximum) =>
      bytes.length > maximum ? Effect.fail(McpError.limit("body", "The body is too large")) : Effect.succeed(bytes)
  }
}

/** The client is gone. */
const giveUp = ({ body }: HttpResponse): void => {
  if (body instanceof EventStream) body.gone()
}

const responseOf = (
  request: HttpClientRequest.HttpClientRequest,
  { body, headers, status }: HttpResponse,
  dice: Dice,
  faults: Faults
): HttpClientResponse.HttpClientResponse => {
  const head = HttpClientResponse.fromWeb(request, new Response(null, { status, headers }))
  const chunks = piecesOf(request, body, dice, faults)
  const stream = Stream.ensuring(
    Stream.fromPull(Effect.succeed(chunks)),
    Effect.sync(() => {
      if (body instanceof EventStream) body.gone()
    })
  )
  // Everything but the body is that of the platform's own response.
  return Object.create(head, {
    stream: { value: stream },
    text: { value: Stream.mkString(Stream.decodeText(stream)) }
  }) as HttpClientResponse.HttpClientResponse
}

/** The body in pieces, as they arrive. */
const piecesOf = (
  request: HttpClientRequest.HttpClientRequest,
  body: HttpResponse["body"],
  dice: Dice,
  faults: Faults
): Pull.Pull<readonly [Uint8Array], HttpClientError.HttpClientError> => {
  let rest: Uint8Array | undefined = body instanceof EventStream ? undefined : encoder.encode(body ?? "")
  const more: Effect.Effect<Option.Option<Uint8Array>> = Effect.suspend(() => {
    if (rest !== undefined && rest.length > 0) return Effect.succeedSome(rest)
    if (!(body instanceof EventStream)) return Effect.succeedNone
    return Effect.map(body.next, (text) => (text === undefined ? Option.none() : Option.some(encoder.encode(text))))
  })
  return Effect.gen(function* () {
    const bytes = yield* more
    if (Option.isNone(bytes)) return yield* Cause.done()
    yield* pause(dice, faults)
    if (dice.chance(faults.kill)) return yield* transportError(request, "The connection broke")
    const { length } = bytes.value
    const end = length > 1 && dice.chance(faults.split) ? 1 + dice.below(length - 1) : length
    rest = bytes.value.subarray(end)
    return [bytes.value.subarray(0, end)] as const
  })
}
