/**
 * `Mcp-Method` and `Mcp-Name`: what a message is about, mirrored into HTTP headers so that gateways need not read bodies.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#standard-request-headers
 */
import * as Result from "effect/Result"
import * as JsonRpc from "../protocol/JsonRpc.ts"
import * as HeaderValue from "../protocol/HeaderValue.ts"

/** Which member of `params` is mirrored as `Mcp-Name`, by method (HDR-02; HDR-03 for tasks). */
const nameMember = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"]
])

const nameOf = (message: JsonRpc.Request | JsonRpc.Notification): string | undefined => {
  const member = nameMember.get(message.method)
  const value = member === undefined ? undefined : message.params?.[member]
  return typeof value === "string" ? value : undefined
}

/** The standard headers of a message, ready to send (HDR-01, HDR-02, HDR-14). Answers have none. */
export const standardHeaders = (message: JsonRpc.Outgoing): Record<string, string> => {
  if (!("method" in message)) return {}
  const name = nameOf(message)
  const headers: Record<string, string> = { "Mcp-Method": HeaderValue.encode(message.method) }
  if (name !== undefined) headers["Mcp-Name"] = HeaderValue.encode(name)
  return headers
}

/**
 * Whether the standard headers of a request say the same as its body (HDR-04, HDR-05). The reason why not belongs into
 * a `HeaderMismatch` error with HTTP status 400. Notifications need no headers, but what they have must be right.
 */
export const check = (message: JsonRpc.Message, getHeader: HeaderValue.HeaderLookup): string | undefined => {
  if (JsonRpc.isResponse(message)) return undefined
  const required = JsonRpc.isRequest(message)
  return (
    // `Mcp-Method` has no Base64 form: methods are plain ASCII.
    compare("Mcp-Method", message.method, required, getHeader, Result.succeed) ??
    (nameMember.has(message.method)
      ? compare("Mcp-Name", nameOf(message), required, getHeader, HeaderValue.decode)
      : undefined)
  )
}

const compare = (
  header: string,
  body: string | undefined,
  required: boolean,
  getHeader: HeaderValue.HeaderLookup,
  decode: (value: string) => Result.Result<string, string>
): string | undefined => {
  const found = HeaderValue.single(getHeader, header)
  if (Result.isFailure(found)) return `Header mismatch: ${found.failure}`
  if (found.success === undefined) {
    return required && body !== undefined ? `Header mismatch: ${header} header is missing` : undefined
  }
  // Nearly always.
  if (found.success === body && HeaderValue.isPlain(body)) return undefined
  const value = decode(found.success.trim())
  if (Result.isFailure(value)) return `Header mismatch: ${header} header is not valid, ${value.failure}`
  return value.success === body?.toWellFormed()
    ? undefined
    : `Header mismatch: ${header} header value '${value.success}' does not match the body`
}
