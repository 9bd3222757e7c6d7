/**
 * What holds for an HTTP server, whatever comes as a request. There are no sockets: requests are values.
 */
import { Effect } from "effect"
import * as fc from "fast-check"
import { StreamableHttp } from "../../src/index.ts"
import { McpError } from "../../src/protocol/McpError.ts"
import { EventStream } from "../../src/transport/httpServer/EventStream.ts"
import type { Headers, HttpRequest, HttpResponse } from "../../src/transport/httpServer/HttpMessage.ts"
import type { StreamableHttpServer } from "../../src/transport/httpServer/StreamableHttpServer.ts"
import { effectful, fail, type Property } from "./Property.ts"
import { DefectLog, fuzz, subject } from "./subject.ts"

/** A request as it is made up. `%session` in a header stands for the id of a session that is open. */
interface Made {
  readonly method: string
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  readonly body: Uint8Array
}

interface Shared {
  readonly server: StreamableHttpServer
  readonly defects: DefectLog
  session: string
}

const maximumBodyBytes = 200_000

const requestOf = ({ body, headers, method, url }: Made, session: string): HttpRequest => {
  const named: { [name: string]: string } = {}
  for (const [name, value] of Object.entries(headers)) named[name.toLowerCase()] = value.replace("%session", session)
  return {
    method,
    url,
    headers: named as Headers,
    body: (maximum) =>
      body.length > maximum ? Effect.fail(McpError.limit("body", "The body is too large")) : Effect.succeed(body)
  }
}

const statuses = new Set([200, 202, 204, 400, 403, 404, 405, 406, 413, 415, 429, 500, 503])

/** Reads a body and gives it up, as a client that has seen enough. */
const look = ({ body, headers, status }: HttpResponse): Effect.Effect<string | undefined> =>
  Effect.suspend(() => {
    if (!statuses.has(status)) fail(`Status ${status}`)
    for (const [name, value] of Object.entries(headers)) {
      if (!/^[\t\x20-\x7e]*$/.test(value)) fail(`The header ${name} can't be sent`, value)
    }
    if (!(body instanceof EventStream)) {
      if (body !== undefined) JSON.parse(body)
      return Effect.succeed(body)
    }
    return Effect.as(
      Effect.ensuring(
        Effect.timeoutOption(body.next, 1),
        Effect.sync(() => body.gone())
      ),
      undefined
    )
  })

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {}
}
const json = { accept: "application/json, text/event-stream", "content-type": "application/json" }

const made = (headers: Made["headers"], message: unknown): Made => ({
  method: "POST",
  url: "/mcp",
  headers: { ...json, ...headers },
  body: new Uint8Array(Buffer.from(JSON.stringify(message)))
})

const modernCall = made(
  { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "add" },
  { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "add", arguments: { a: 1, b: 2 }, _meta: meta } }
)
const legacyCall = made(
  { "mcp-protocol-version": "2025-11-25", "mcp-session-id": "%session" },
  { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "add", arguments: { a: 1, b: 2 } } }
)
const initialize = made(
  {},
  {
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "fuzz", version: "1" } }
  }
)

const openSession = (server: StreamableHttpServer): Effect.Effect<string> =>
  Effect.gen(function* () {
    const response = yield* server.handle(requestOf(initialize, ""))
    yield* look(response)
    return response.headers["mcp-session-id"] ?? fail("There is no session", response)
  })

const shared = Effect.gen(function* () {
  const defects = new DefectLog()
  const options = { maximumBodyBytes, streamAfter: 1, sse: {}, maximumSessions: 50, cors: true }
  const server = yield* Effect.provide(StreamableHttp.make(subject, options), defects.layer)
  return { server, defects, session: yield* openSession(server) } satisfies Shared
})

const answered = (shared: Shared, call: Made) =>
  Effect.gen(function* () {
    const response = yield* shared.server.handle(requestOf(call, shared.session))
    const body = yield* look(response)
    if (response.status !== 200 || body?.includes('"sum":3') !== true) fail("A good call got no good answer", response)
  })

const holds = (shared: Shared, request: Made): Effect.Effect<void> =>
  Effect.gen(function* () {
    const response = yield* shared.server.handle(requestOf(request, shared.session))
    yield* look(response)
    yield* answered(shared, modernCall)
    const still = yield* shared.server.handle(requestOf(legacyCall, shared.session))
    // Only a DELETE that names the session may have ended it.
    if (still.status !== 200 && request.method !== "DELETE") fail("The session is gone", still)
    yield* look(still)
    if (still.status !== 200) shared.session = yield* openSession(shared.server)
    const found = shared.defects.take()
    if (found.length > 0) fail("A defect was logged", found)
  })

const names = [
  "accept",
  "content-type",
  "content-length",
  "host",
  "origin",
  "last-event-id",
  "mcp-session-id",
  "mcp-protocol-version",
  "mcp-method",
  "mcp-name",
  "mcp-param-region",
  "access-control-request-method",
  "access-control-request-headers"
]

const headerValue = fc.oneof(
  fc.string({ unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)), maxLength: 20 }),
  fc.constantFrom(
    "",
    "%session",
    "%session, %session",
    "2025-11-25",
    "2025-03-26",
    "2026-07-28",
    "9999-99-99",
    "*/*",
    "application/json",
    "text/event-stream",
    "null",
    "localhost:1",
    "http://localhost",
    "http://evil.example",
    "tools/call",
    "=?base64?YWRk?=",
    "=?base64?????=",
    "0-0",
    "0-1",
    "1-99999999999999999999",
    "__proto__",
    "-1",
    "1e9"
  )
)

const changedHeaders = (base: Made["headers"]): fc.Arbitrary<Made["headers"]> =>
  fc
    .tuple(
      fc.array(fc.tuple(fc.constantFrom(...names), headerValue), { maxLength: 3 }),
      fc.subarray(Object.keys(base), { minLength: Math.max(0, Object.keys(base).length - 1) })
    )
    .map(([changes, kept]) =>
      Object.fromEntries([...kept.map((name) => [name, base[name] ?? ""] as const), ...changes])
    )

const bodies = (version: string): fc.Arbitrary<Uint8Array> =>
  fc.oneof(
    fuzz.mutated(fuzz.clientMessage(version)).map((text) => new Uint8Array(Buffer.from(text))),
    fuzz.clientMessage(version).map((message) => new Uint8Array(Buffer.from(JSON.stringify(message)))),
    fc.uint8Array({ maxLength: 60 }),
    fc.nat({ max: 2 * maximumBodyBytes }).map((size) => new Uint8Array(size))
  )

const methods = fc.oneof(
  { weight: 6, arbitrary: fc.constant("POST") },
  { weight: 3, arbitrary: fc.constantFrom("GET", "DELETE", "OPTIONS", "HEAD", "PUT", "TRACE", "") }
)
const urls = fc.oneof(
  { weight: 5, arbitrary: fc.constant("/mcp") },
  { weight: 1, arbitrary: fc.constantFrom("/sse", "/messages", "/messages?sessionId=x", "", "//", "/mcp?", "/\u0000") },
  { weight: 1, arbitrary: fuzz.text }
)

const requests = (version: string, base: Made): Property =>
  effectful(
    `an HTTP server answers everything (${version})`,
    fc.record({ method: methods, url: urls, headers: changedHeaders(base.headers), body: bodies(version) }),
    shared,
    holds
  )

const resuming: Property = effectful(
  "a stream is taken up or refused, whatever Last-Event-ID says",
  fc.record({
    method: fc.constant("GET"),
    url: fc.constant("/mcp"),
    headers: fc.oneof(headerValue, fuzz.damaged(fc.constant("0-1"))).map((id) => ({
      accept: "text/event-stream",
      "mcp-protocol-version": "2025-11-25",
      "mcp-session-id": "%session",
      "last-event-id": id
    })),
    body: fc.constant(new Uint8Array())
  }),
  shared,
  holds
)

const mirrored: Property = effectful(
  "the headers of a modern call say the same as its body, or it is refused",
  changedHeaders(modernCall.headers).map((headers) => ({ ...modernCall, headers })),
  shared,
  holds
)

/** All of them. */
export const httpProperties: ReadonlyArray<Property> = [
  requests("2026-07-28", modernCall),
  requests("2025-11-25", legacyCall),
  requests("2025-03-26", legacyCall),
  resuming,
  mirrored
]
