/**
 * How the HTTP client transports send one request. Any `HttpClient` will do; `mcp-effect/node` has its own, which is several
 * times as fast.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Pull from "effect/Pull"
import { catchDone } from "effect/Pull"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import { McpError } from "../protocol/McpError.ts"

/** A request. Header names are in lower case. */
export interface SentRequest {
  readonly method: "POST" | "GET" | "DELETE"
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  /** JSON text. */
  readonly body?: string | undefined
}

/** A response of which the head has arrived. */
export interface ReceivedResponse {
  readonly url: string
  readonly status: number
  /** Names in lower case. */
  readonly headers: { readonly [name: string]: string | undefined }
  /** The whole body as text. */
  readonly text: Effect.Effect<string, McpError>
  /** The next bytes of the body, `undefined` at its end. */
  readonly chunk: Effect.Effect<ReadonlyArray<Uint8Array> | undefined, McpError>
}

/**
 * Sends requests, each as it is: redirects are not followed. An effect ends when the head of the response is there. Closing
 * the scope aborts the request, or what was not read of its response.
 */
export class HttpSender extends Context.Service<
  HttpSender,
  { readonly send: (request: SentRequest, scope: Scope.Scope) => Effect.Effect<ReceivedResponse, McpError> }
>()("mcp-effect/transport/HttpSender") {}

/** A failure in words, with those of its causes, which is where `ECONNREFUSED` is. */
export const describe = (error: Error, reason: unknown = error.cause): string => {
  const words: Array<string> = [error.message]
  for (let cause = reason; cause instanceof Error; cause = cause.cause) {
    if (cause.message !== "" && !words.includes(cause.message)) words.push(cause.message)
  }
  return words.join(": ")
}

const transportError = (error: HttpClientError.HttpClientError): McpError => {
  const cause: unknown = "cause" in error.reason ? error.reason.cause : undefined
  return McpError.transport(describe(error, cause), "cause" in error.reason ? { cause } : undefined)
}

class ClientResponse implements ReceivedResponse {
  readonly url: string
  readonly status: number
  readonly headers: ReceivedResponse["headers"]
  readonly text: Effect.Effect<string, McpError>
  readonly #response: HttpClientResponse.HttpClientResponse
  readonly #scope: Scope.Scope
  #next: Effect.Effect<ReadonlyArray<Uint8Array> | undefined, McpError> | undefined

  constructor(url: string, response: HttpClientResponse.HttpClientResponse, scope: Scope.Scope) {
    this.url = url
    this.status = response.status
    this.headers = response.headers
    this.text = Effect.suspend(() => Effect.mapError(response.text, transportError))
    this.#response = response
    this.#scope = scope
  }

  readonly chunk = Effect.suspend(() => this.#next ?? this.#open)

  readonly #open: Effect.Effect<ReadonlyArray<Uint8Array> | undefined, McpError> = Effect.suspend(() =>
    Effect.flatMap(Scope.provide(Stream.toPull(this.#response.stream), this.#scope), (pull) => {
      this.#next = nextChunk(pull)
      return this.#next
    })
  )
}

const nextChunk = (
  pull: Pull.Pull<ReadonlyArray<Uint8Array>, HttpClientError.HttpClientError>
): Effect.Effect<ReadonlyArray<Uint8Array> | undefined, McpError> =>
  catchDone(pull, () => Effect.succeed(undefined)).pipe(
    Effect.catch((error) =>
      error.reason._tag === "EmptyBodyError" ? Effect.succeed(undefined) : Effect.fail(transportError(error))
    )
  )

/** Sends with an `HttpClient`. */
export const layer: Layer.Layer<HttpSender, never, HttpClient.HttpClient> = Layer.effect(
  HttpSender,
  Effect.gen(function* () {
    const client = HttpClient.withScope(yield* HttpClient.HttpClient)
    // `fetch` would follow redirects by itself, and take the headers along.
    const fetchOptions = yield* Effect.serviceOption(FetchHttpClient.RequestInit)
    const requestInit: RequestInit = { ...Option.getOrUndefined(fetchOptions), redirect: "manual" }
    return {
      send: ({ body, headers, method, url }: SentRequest, scope: Scope.Scope) => {
        const request = HttpClientRequest.make(method)(url, {
          headers,
          body: body === undefined ? HttpBody.empty : HttpBody.text(body, "application/json")
        })
        return Scope.provide(client.execute(request), scope).pipe(
          Effect.provideService(FetchHttpClient.RequestInit, requestInit),
          Effect.mapBoth({
            onSuccess: (response) => new ClientResponse(url, response, scope),
            onFailure: transportError
          })
        )
      }
    }
  })
)
