/**
 * A host that knows its callers, as an application with authentication does: requests as values, each with a principal.
 */
import { Effect, type Scope } from "effect"
import { type McpServer, StreamableHttp } from "mcp-effect"
import type { HttpResponse } from "../../src/transport/httpServer/HttpMessage.ts"
import type { Json } from "../protocol/OfficialSchema.ts"
import { initializeParams, modern, modernMeta } from "../support/RawClient.ts"

/** Serves a server to callers by name; `undefined` is someone without one. */
export interface Callers {
  /** Any request. */
  readonly send: (
    subject: string | undefined,
    method: string,
    message?: Json,
    headers?: { readonly [name: string]: string | undefined },
    url?: string
  ) => Effect.Effect<HttpResponse>
  /** A request of 2026-07-28. */
  readonly request: (subject: string | undefined, method: string, params?: Json) => Effect.Effect<HttpResponse>
  /** Opens a session. */
  readonly initialize: (subject: string | undefined) => Effect.Effect<HttpResponse>
  /** A request in a session. */
  readonly inSession: (
    session: HttpResponse,
    subject: string | undefined,
    method: string,
    params?: Json
  ) => Effect.Effect<HttpResponse>
}

/** The body of a response that is JSON. */
export const jsonOf = (response: HttpResponse): Json => JSON.parse(response.body as string)

/** Starts serving. */
export const callers = (
  server: McpServer.McpServer<never>,
  options?: Parameters<typeof StreamableHttp.make>[1]
): Effect.Effect<Callers, never, Scope.Scope> =>
  Effect.map(StreamableHttp.make(server, options), (http) => {
    let id = 0
    const send: Callers["send"] = (subject, method, message, headers = {}, url = "/mcp") =>
      http.handle({
        method,
        url,
        headers: {
          accept: method === "GET" ? "text/event-stream" : "application/json, text/event-stream",
          "content-type": "application/json",
          ...headers
        },
        principal: subject === undefined ? undefined : { subject },
        body: () => Effect.succeed(new TextEncoder().encode(JSON.stringify(message)))
      })
    const post = (subject: string | undefined, method: string, params: Json, headers = {}) =>
      send(subject, "POST", { jsonrpc: "2.0", id: ++id, method, params }, headers)
    return {
      send,
      request: (subject, method, params = {}) => {
        const name = params.name ?? params.uri
        const headers = {
          "mcp-protocol-version": modern,
          "mcp-method": method,
          ...(typeof name === "string" && { "mcp-name": name })
        }
        return post(subject, method, { ...params, _meta: modernMeta() }, headers)
      },
      initialize: (subject) => post(subject, "initialize", initializeParams()),
      inSession: (session, subject, method, params = {}) =>
        post(subject, method, params, { "mcp-session-id": session.headers["mcp-session-id"] })
    }
  })
