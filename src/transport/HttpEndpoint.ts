/**
 * The one URL behind which a server is: builds requests to it, follows redirects as far as they are safe, and tells
 * failures as values.
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { McpError } from "../protocol/McpError.ts"
import { HttpSender, type ReceivedResponse, type SentRequest } from "./HttpSender.ts"

/** HTTP headers by name. A `Redacted` value stays out of logs. */
export interface HeaderFields {
  readonly [name: string]: string | Redacted.Redacted<string>
}

/** Headers of every request, or an effect that gives them and is run for every request. */
export type HeaderSource = HeaderFields | Effect.Effect<HeaderFields, McpError>

/** A request to the endpoint. */
export type EndpointRequest = Omit<SentRequest, "url">

/** Sends requests to one URL. */
export interface Endpoint {
  /** Ends when the head of the response is there. Closing the scope aborts the request, or what is left of its body. */
  readonly execute: (request: EndpointRequest, scope: Scope.Scope) => Effect.Effect<ReceivedResponse, McpError>
}

/** Redirects that are followed for one request. */
const maxRedirects = 5

/** What an HTTP header value may hold: no control characters but the tab, nothing beyond Latin-1. */
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/

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

const isRedirect = ({ status }: ReceivedResponse): boolean => status >= 300 && status < 400 && status !== 304

/** Where a redirect leads, if it may be followed: method, body and headers go along, and so only to the same origin. */
const redirectTarget = (
  response: ReceivedResponse,
  from: string,
  method: EndpointRequest["method"]
): Effect.Effect<string, McpError> => {
  const { status } = response
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

/** An endpoint over the `HttpSender` of the context. Fails when the URL is none of HTTP. */
export const make = Effect.fnUntraced(function* (
  options: EndpointOptions
): Effect.fn.Return<Endpoint, McpError, HttpSender> {
  const sender = yield* HttpSender
  const parsed = URL.parse(options.url)
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    return yield* McpError.transport(`Not an HTTP URL: ${String(options.url)}`)
  }
  const endpointUrl = parsed.href
  const { headers } = options

  const send = (
    request: SentRequest,
    scope: Scope.Scope,
    redirects: number
  ): Effect.Effect<ReceivedResponse, McpError> =>
    Effect.flatMap(sender.send(request, scope), (response) => {
      if (!isRedirect(response)) return Effect.succeed(response)
      return Effect.flatMap(redirectTarget(response, request.url, request.method), (url) => {
        if (redirects < maxRedirects) return send({ ...request, url }, scope, redirects + 1)
        return Effect.fail(McpError.transport(`More than ${maxRedirects} redirects`, { status: response.status }))
      })
    })

  return {
    execute: (request, scope) =>
      headers === undefined
        ? send({ ...request, url: endpointUrl }, scope, 0)
        : Effect.flatMap(resolveHeaders(headers), (own) =>
            send({ ...request, url: endpointUrl, headers: { ...own, ...request.headers } }, scope, 0)
          )
  }
})
