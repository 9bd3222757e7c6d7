/**
 * What an HTTP server answers when it does not pass a message on: the status, and a JSON-RPC error that says what to do.
 */
import * as Predicate from "effect/Predicate"
import * as JsonRpc from "../../protocol/JsonRpc.ts"
import { MetaKey } from "../../protocol/Meta.ts"
import type { Headers, HttpResponse } from "./HttpMessage.ts"

const { ErrorCode } = JsonRpc

/** A response with a JSON-RPC error, with the id of the request when that is known (ERR-14). */
export const response = (status: number, error: JsonRpc.ErrorObject, id?: JsonRpc.RequestId): HttpResponse => ({
  status,
  headers: { "content-type": "application/json" },
  body: JsonRpc.stringify(JsonRpc.error(id, error))
})

export const invalidRequest = (message: string): JsonRpc.ErrorObject => ({ code: ErrorCode.InvalidRequest, message })

export const parseError = (message: string): JsonRpc.ErrorObject => ({ code: ErrorCode.ParseError, message })

export const headerMismatch = (message: string): JsonRpc.ErrorObject => ({ code: ErrorCode.HeaderMismatch, message })

export const noBatches = invalidRequest("Batches are not part of this revision: send one message at a time")

export const missingSession = invalidRequest('Mcp-Session-Id header is missing; send "initialize" first')

export const unknownSession = invalidRequest('There is no such session; send "initialize" to open a new one')

export const unknownEvent = invalidRequest("Last-Event-ID names no event that can still be continued from")

export const tooManySessions: JsonRpc.ErrorObject = {
  code: ErrorCode.LimitExceeded,
  message: "Too many sessions; try again later"
}

export const tooManySessionsEach = (limit: number): JsonRpc.ErrorObject => ({
  code: ErrorCode.LimitExceeded,
  message: `Too many sessions: at most ${limit} at a time; end one that is not needed any more`
})

/** What is said to requests when the server has enough to do. */
export const tooManyRequests = (id: JsonRpc.RequestId | undefined): HttpResponse => {
  const refused = response(503, { code: ErrorCode.LimitExceeded, message: "Too many requests; try again later" }, id)
  return { ...refused, headers: { ...refused.headers, "retry-after": "1" } }
}

export const missingMeta: JsonRpc.ErrorObject = {
  code: ErrorCode.InvalidParams,
  message: `params._meta["${MetaKey.protocolVersion}"] must be a string`
}

export const unsupportedHeader = (version: string, supported: ReadonlyArray<string>): JsonRpc.ErrorObject =>
  invalidRequest(`MCP-Protocol-Version "${version}" is not supported here; supported: ${supported.join(", ")}`)

export const tooLarge = (limit: number): HttpResponse =>
  response(413, { code: ErrorCode.LimitExceeded, message: `The request body has more than ${limit} bytes` })

export const methodNotAllowed = (allow: string): HttpResponse => ({
  ...response(405, invalidRequest("Method not allowed")),
  headers: { allow, "content-type": "application/json" }
})

/** What is said when this side is at fault. */
export const broken: HttpResponse = response(500, { code: ErrorCode.InternalError, message: "Internal error" })

export const shuttingDown = (id?: JsonRpc.RequestId): HttpResponse => {
  const message = "The server is shutting down; try again elsewhere or later"
  return response(503, { code: ErrorCode.InternalError, message }, id)
}

/** Whether an `Accept` header lets a media type through. Without the header anything goes. */
export const accepts = (accept: string | undefined, type: string): boolean => {
  if (accept === undefined) return true
  const [family] = type.split("/")
  return accept.split(",").some((part) => {
    const range = part.split(";", 1)[0]?.trim().toLowerCase()
    return range === type || range === "*/*" || range === `${family}/*`
  })
}

/** Whether a body is said to be JSON. */
export const isJson = (headers: Headers): boolean =>
  headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase() === "application/json"

export const notJson: HttpResponse = response(415, invalidRequest("Content-Type must be application/json"))

/** Why a POST is refused by its headers alone: it must take both forms of answer and bring JSON (HTTP-07). */
export const ofPostHeaders = (headers: Headers): HttpResponse | undefined => {
  if (!accepts(headers.accept, "application/json") || !accepts(headers.accept, "text/event-stream")) {
    return response(406, invalidRequest("Accept must include application/json and text/event-stream"))
  }
  return isJson(headers) ? undefined : notJson
}

/** What is wrong with the version of a modern request, in the order of section 3.5 (HTTP-37 to HTTP-39, META-14). */
export const ofModernVersion = (
  headers: Headers,
  meta: { readonly [key: string]: unknown }
): JsonRpc.ErrorObject | undefined => {
  const header = headers["mcp-protocol-version"]
  const version = meta[MetaKey.protocolVersion]
  if (header === undefined) return headerMismatch("Header mismatch: MCP-Protocol-Version header is missing")
  if (typeof version !== "string") return missingMeta
  if (!Predicate.isObject(meta[MetaKey.clientCapabilities])) {
    return { code: ErrorCode.InvalidParams, message: `params._meta["${MetaKey.clientCapabilities}"] must be an object` }
  }
  return header.trim() === version
    ? undefined
    : headerMismatch(`Header mismatch: MCP-Protocol-Version header value '${header}' does not match the body`)
}

/** What a server without sessions says to a message of the `initialize` era (VER-15, HTTP-39). */
export const withoutVersion = (message: JsonRpc.Message, supported: ReadonlyArray<string>): HttpResponse => {
  const id = JsonRpc.isRequest(message) ? message.id : undefined
  if (JsonRpc.isRequest(message) && message.method === "initialize") {
    const data = { supported, requested: String(message.params?.protocolVersion) }
    const code = ErrorCode.UnsupportedProtocolVersion
    return response(400, { code, message: "Unsupported protocol version", data }, id)
  }
  return response(400, headerMismatch("Header mismatch: MCP-Protocol-Version header is missing"), id)
}

const statuses: { readonly [code: number]: number } = {
  [ErrorCode.ParseError]: 400,
  [ErrorCode.InvalidRequest]: 400,
  [ErrorCode.MethodNotFound]: 404,
  [ErrorCode.HeaderMismatch]: 400,
  [ErrorCode.MissingRequiredClientCapability]: 400,
  [ErrorCode.UnsupportedProtocolVersion]: 400,
  [ErrorCode.LimitExceeded]: 429
}

/**
 * The status of an answer in a session: what is an answer at all is no failure of HTTP, but for a limit, and for what never
 * got as far as a request.
 */
export const statusInSession = (answer: JsonRpc.Response): number => {
  if (!("error" in answer)) return 200
  if (answer.id === undefined) return 400
  return answer.error.code === ErrorCode.LimitExceeded ? 429 : 200
}

/** The status of an answer to a modern request (ERR-03, ERR-08 to ERR-10, A32). */
export const statusOf = (answer: JsonRpc.Response): number =>
  "error" in answer ? (statuses[answer.error.code] ?? 200) : 200
