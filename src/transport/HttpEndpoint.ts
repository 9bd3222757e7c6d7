/**
 * The one URL behind which a server is: builds requests to it, follows redirects as far as they are safe, and tells
 * failures as values.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import { McpError } from "../protocol/McpError.ts"

/** HTTP headers by name. A `Redacted` value stays out of logs. */
export interface HeaderFields {
  readonly [name: string]: string | Redacted.Redacted<string>
}

/** Headers of every request, or an effect that gives them and is run for every request. */
export type HeaderSource = HeaderFields | Effect.Effect<HeaderFields, McpError>

/** A request to the endpoint. Header names are in lower case. */
export interface EndpointRequest {
  readonly method: "POST" | "GET" | "DELETE"
  readonly headers: { readonly [name: string]: string }
  /** JSON text. */
  readonly body?: string | undefined
}

/** Sends requests to one URL. */
export interface Endpoint {
  /** Ends when the head of the response is there. Closing the scope aborts the request, or what is left of its body. */
  readonly execute: (
    request: EndpointRequest
  ) => Effect.Effect<HttpClientResponse.HttpClientResponse, McpError, Scope.Scope>
}

/** Redirects that are followed for one request. */
const maxRedirects = 5

/** What an HTTP header value may hold: no control characters but the tab, nothing beyond Latin-1. */
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/

/** The words of an HTTP client's failure, with those of its cause, which is where `ECONNREFUSED` is. */
const describe = (error: HttpClientError.HttpClientError): string => {
  const words: Array<string> = [error.message]
  let cause: unknown = "cause" in error.reason ? error.reason.cause : undefined
  while (cause instanceof Error) {
    if (cause.message !== "" && !words.includes(cause.message)) words.push(cause.message)
    cause = cause.cause
  }
  return words.join(": ")
}

/** An HTTP client's failure as an `McpError`. */
export const transportError = (error: HttpClientError.HttpClientError): McpError =>
  McpError.transport(describe(error), "cause" in error.reason ? { cause: error.reason.cause } : undefined)

/** Reads the caller's headers anew. A value that cannot be sent fails without being told, since it may be a secret. */
export const resolveHeaders = (source: HeaderSource): Effect.Effect<Record<string, string>, McpError> =>
  Effect.flatMap(Effect.isEffect(source) ? source : Effect.succeed(source), (fields) => {
    const headers: Record<string, string> = {}
    for (const [name, field] of Object.entries(fields)) {
      const value = Redacted.isRedacted(field) ? Redacted.value(field) : field
      if (!headerValue.test(value)) {
        return Effect.fail(
          McpError.transport(`The value of the header ${name} has characters that HTTP does not allow`)
        )
      }
      headers[name.toLowerCase()] = value
    }
    return Effect.succeed(headers)
  })

/** Where a redirect leads, if it may be followed: method, body and headers go along, and so only to the same origin. */
const redirectTarget = (
  response: HttpClientResponse.HttpClientResponse,
  from: string,
  method: EndpointRequest["method"]
): Effect.Effect<string | undefined, McpError> => {
  const status = response.status
  if (status < 300 || status >= 400 || status === 304) return Effect.succeed(undefined)
  const refuse = (why: string) =>
    Effect.fail(McpError.transport(`The server redirects with status ${status}, and ${why}`, { status }))
  const location = response.headers.location
  const target = location === undefined ? null : URL.parse(location, from)
  if (target === null) return refuse("gives no usable location")
  if (target.origin !== new URL(from).origin) return refuse(`another origin, ${target.origin}, is not followed`)
  const keepsMethod = status === 307 || status === 308
  if (!keepsMethod && method !== "GET") return refuse("this status would lose the request's method and body")
  return Effect.succeed(target.href)
}

/** Options of {@link make}. */
export interface EndpointOptions {
  readonly url: string | URL
  readonly headers?: HeaderSource | undefined
}

/** An endpoint over the `HttpClient` of the context. Fails when the URL is none of HTTP. */
export const make = Effect.fnUntraced(function* (
  options: EndpointOptions
): Effect.fn.Return<Endpoint, McpError, HttpClient.HttpClient> {
  const client = HttpClient.withScope(yield* HttpClient.HttpClient)
  // `fetch` would follow redirects by itself, and take the headers along.
  const fetchOptions = yield* Effect.serviceOption(FetchHttpClient.RequestInit)
  const requestInit: RequestInit = { ...Option.getOrUndefined(fetchOptions), redirect: "manual" }
  const parsed = URL.parse(options.url)
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    return yield* McpError.transport(`Not an HTTP URL: ${String(options.url)}`)
  }
  const endpointUrl = parsed.href

  const send = (
    url: string,
    request: EndpointRequest,
    headers: Record<string, string>,
    redirects: number
  ): Effect.Effect<HttpClientResponse.HttpClientResponse, McpError, Scope.Scope> =>
    client
      .execute(
        HttpClientRequest.make(request.method)(url, {
          headers,
          body: request.body === undefined ? HttpBody.empty : HttpBody.text(request.body, "application/json")
        })
      )
      .pipe(
        Effect.provideService(FetchHttpClient.RequestInit, requestInit),
        Effect.mapError(transportError),
        Effect.flatMap((response) =>
          Effect.flatMap(redirectTarget(response, url, request.method), (target) => {
            if (target === undefined) return Effect.succeed(response)
            if (redirects < maxRedirects) return send(target, request, headers, redirects + 1)
            return Effect.fail(McpError.transport(`More than ${maxRedirects} redirects`, { status: response.status }))
          })
        )
      )

  return {
    execute: (request) =>
      Effect.flatMap(resolveHeaders(options.headers ?? {}), (headers) =>
        send(endpointUrl, request, { ...headers, ...request.headers }, 0)
      )
  }
})
