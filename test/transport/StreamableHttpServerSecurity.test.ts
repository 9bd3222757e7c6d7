/**
 * Streamable HTTP, server side: who may call, who may see what, and that nothing is left behind.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { CallContext, McpServer, Progress, StreamableHttp, Tool } from "mcp-effect"
import type { HttpRequest, HttpResponse } from "../../src/transport/httpServer/HttpMessage.ts"
import { EventStream } from "../../src/transport/httpServer/EventStream.ts"
import type { Json } from "../protocol/OfficialSchema.ts"
import { demo } from "../support/Demo.ts"
import { Gate } from "../support/Gate.ts"
import { hosts, impatient, node } from "../support/HttpHosts.ts"
import { at, type Era, eras, initializeParams, legacy, modern, modernMeta } from "../support/RawClient.ts"
import { connect } from "../support/RawHttp.ts"
import { rawRequest } from "../support/rawRequest.ts"

const serverOf = <R>(...tools: ReadonlyArray<Tool.Handled<R>>) => McpServer.make({ name: "s", version: "1", tools })

const drain = (response: HttpResponse): Effect.Effect<void> =>
  response.body instanceof EventStream ? Effect.sync(() => (response.body as EventStream).gone()) : Effect.void

const headersOf = (era: Era, method: string, name?: string) => ({
  "mcp-protocol-version": era,
  "mcp-method": method,
  ...(name !== undefined && { "mcp-name": name })
})

describe("who may call", () => {
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: modernMeta() } }
  const standard = ["Content-Type", "application/json", "MCP-Protocol-Version", modern, "Mcp-Method", "tools/list"]
  const statusOf = (url: string, ...headers: ReadonlyArray<string>) =>
    Effect.map(
      rawRequest(url, { headers: [...headers, ...standard], body: JSON.stringify(list) }),
      ({ status }) => status
    )

  it.effect("[HTTP-03][HTTP-04][BUG-133] by default the local machine, by name and by address", () =>
    Effect.gen(function* () {
      const { url } = yield* node.start(demo)
      expect(new URL(url).hostname).toBe("127.0.0.1")
      for (const host of ["localhost", "127.0.0.1:8080", "[::1]:3000", "LOCALHOST:1"]) {
        expect(yield* statusOf(url, "Host", host)).toBe(200)
      }
      // A page of evil.example whose name was made to point here.
      for (const host of [
        "evil.example",
        "evil.example:80",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "127.0.0.2"
      ]) {
        expect(yield* statusOf(url, "Host", host)).toBe(403)
      }
    })
  )

  for (const host of hosts) {
    it.effect(`${host.name}: a predicate that throws costs the request that it was asked about`, () =>
      Effect.gen(function* () {
        const allowedOrigins = (origin: string): boolean => {
          if (origin.endsWith(".bad")) throw new Error("hunter2")
          return true
        }
        const { send, url } = yield* host.start(demo, { allowedOrigins })
        const answerTo = (origin: string) =>
          Effect.promise(async () => {
            const headers = { ...headersOf(modern, "tools/list"), "content-type": "application/json", origin }
            const accept = "application/json, text/event-stream"
            const body = JSON.stringify(list)
            const response = await send(new Request(url, { method: "POST", headers: { ...headers, accept }, body }))
            return { status: response.status, body: await response.text() }
          })
        const broken = yield* answerTo("https://a.bad")
        expect(broken.status).toBe(500)
        expect(JSON.parse(broken.body)).toMatchObject({ error: { code: -32603, message: "Internal error" } })
        expect(yield* answerTo("https://a.good")).toMatchObject({ status: 200 })
      })
    )
  }

  it.effect("[HTTP-03][HTTP-04][BUG-133] an empty list allows nobody; scheme, host and port are compared whole", () =>
    Effect.gen(function* () {
      const nobody = yield* node.start(demo, { allowedOrigins: [] })
      for (const origin of ["https://evil.example", "http://localhost", "null", ""]) {
        expect(yield* statusOf(nobody.url, "Host", "localhost", "Origin", origin)).toBe(403)
      }
      expect(yield* statusOf(nobody.url, "Host", "localhost")).toBe(200)
      const some = yield* node.start(demo, {
        allowedOrigins: ["https://App.example:8443/"],
        allowedHosts: ["mcp.example"]
      })
      expect(yield* statusOf(some.url, "Host", "mcp.example", "Origin", "https://app.example:8443")).toBe(200)
      for (const origin of [
        "https://app.example",
        "http://app.example:8443",
        "https://app.example:84430",
        "https://evil-app.example:8443",
        "https://app.example:8443.evil.example"
      ]) {
        expect(yield* statusOf(some.url, "Host", "mcp.example", "Origin", origin)).toBe(403)
      }
      expect(yield* statusOf(some.url, "Host", "localhost")).toBe(403)
      const own = yield* node.start(demo, { allowedOrigins: (origin) => origin.endsWith(".example") })
      expect(yield* statusOf(own.url, "Host", "localhost", "Origin", "https://a.example")).toBe(200)
      expect(yield* statusOf(own.url, "Host", "localhost", "Origin", "http://localhost")).toBe(403)
    })
  )

  for (const host of hosts) {
    it.effect(`[BUG-45] a page of an allowed origin can read everything, refusals too (${host.name})`, () =>
      Effect.gen(function* () {
        const origin = "https://app.example"
        const running = yield* host.start(demo, { allowedOrigins: [origin], cors: true })
        const client = yield* connect(running, legacy)
        const asked =
          "mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, authorization, last-event-id, mcp-param-a"
        const preflight = yield* client.fetch("OPTIONS", {
          headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": asked }
        })
        expect(preflight.status).toBe(204)
        const allowed = preflight.headers.get("access-control-allow-headers")?.toLowerCase() ?? ""
        for (const name of asked.split(", ")) expect(allowed).toContain(name)
        for (const method of ["POST", "GET", "DELETE"]) {
          expect(preflight.headers.get("access-control-allow-methods")).toContain(method)
        }
        const replies = [
          preflight,
          yield* client.request("tools/list", {}, { headers: { origin } }),
          yield* client.request("tools/list", {}, { headers: { origin, "mcp-session-id": "nope" } }),
          yield* client.request("tools/list", {}, { headers: { origin, accept: "text/html" } }),
          yield* client.call("count", {}, { _meta: { progressToken: 1 } }).pipe(Effect.as(undefined)),
          yield* client.fetch("PUT", { headers: { origin } }),
          yield* client.listen({ origin })
        ]
        for (const reply of replies) {
          if (reply === undefined) continue
          expect(reply.headers.get("access-control-allow-origin")).toBe(origin)
          expect(reply.headers.get("vary")?.toLowerCase()).toContain("origin")
          const exposed = reply.headers.get("access-control-expose-headers")?.toLowerCase()
          expect(exposed).toContain("mcp-session-id")
          expect(exposed).toContain("www-authenticate")
        }
        const other = yield* client.fetch("OPTIONS", { headers: { origin: "https://evil.example" } })
        expect([other.status, other.headers.get("access-control-allow-origin")]).toEqual([403, null])
      })
    )
  }

  it.effect("[BUG-45] a page that is refused for another reason learns so", () =>
    Effect.gen(function* () {
      const { url } = yield* node.start(demo, { allowedOrigins: ["https://app.example"], cors: true })
      const headers = ["Host", "evil.example", "Origin", "https://app.example", ...standard]
      const reply = yield* rawRequest(url, { headers, body: JSON.stringify(list) })
      expect([reply.status, reply.headers["access-control-allow-origin"]]).toEqual([403, "https://app.example"])
    })
  )
})

/** A host that knows its callers: what an application with authentication does. */
const authenticated = (server: McpServer.McpServer<never>) =>
  Effect.map(StreamableHttp.make(server), (http) => {
    const send = (subject: string, method: string, message?: Json, more: HttpRequest["headers"] = {}) =>
      http.handle({
        method,
        headers: {
          accept: "application/json, text/event-stream",
          "content-type": "application/json",
          authorization: `Bearer ${subject}`,
          ...more
        },
        principal: { subject },
        body: () => Effect.succeed(new TextEncoder().encode(JSON.stringify(message)))
      })
    return { send }
  })

const jsonOf = (response: HttpResponse): Json => JSON.parse(response.body as string)

describe("who may see what", () => {
  it.effect("[SEC-09][SEC-16][BUG-134] a session is its owner's: knowing its id is not enough", () =>
    Effect.gen(function* () {
      const { send } = yield* authenticated(demo)
      const opened = yield* send("ada", "POST", {
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: initializeParams()
      })
      const session = { "mcp-session-id": opened.headers["mcp-session-id"] }
      const list = { jsonrpc: "2.0", id: 2, method: "tools/list" }
      for (const [method, message] of [
        ["POST", list],
        ["POST", { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 2 } }],
        ["GET", undefined],
        ["DELETE", undefined]
      ] as const) {
        expect((yield* send("alan", method, message, session)).status).toBe(404)
      }
      expect((yield* send("ada", "POST", list, session)).status).toBe(200)
      expect((yield* send("ada", "DELETE", undefined, session)).status).toBe(204)
      expect((yield* send("ada", "POST", list, session)).status).toBe(404)
    })
  )

  it.effect("[SEC-10][SEC-16][BUG-134][BUG-151] and so is the state of a round of input", () =>
    Effect.gen(function* () {
      const { send } = yield* authenticated(demo)
      const headers = { "mcp-protocol-version": modern, "mcp-method": "tools/call", "mcp-name": "greet" }
      const call = (subject: string, more: Json = {}) => {
        const params = { name: "greet", arguments: {}, _meta: modernMeta({ elicitation: {} }), ...more }
        return Effect.map(
          send(subject, "POST", { jsonrpc: "2.0", id: 1, method: "tools/call", params }, headers),
          jsonOf
        )
      }
      const requestState = at(yield* call("ada"), "result", "requestState")
      const answer = { requestState, inputResponses: { who: { action: "accept", content: { name: "x" } } } }
      expect(at(yield* call("alan", answer), "error", "code")).toBe(-32602)
      expect(at(yield* call("ada", answer), "result", "content", 0, "text")).toBe("Hello x")
    })
  )

  for (const era of eras) {
    it.effect(`[BUG-131] each handler sees the headers and principal of its own request (${era})`, () =>
      Effect.gen(function* () {
        const gates = { ada: new Gate(), alan: new Gate() } as { readonly [subject: string]: Gate }
        const Who = Tool.handle(Tool.make("who"), () =>
          Effect.gen(function* () {
            const { headers, principal } = yield* CallContext.CallContext
            yield* gates[principal?.subject ?? ""]!.work
            const after = yield* CallContext.CallContext
            return [headers?.authorization, principal?.subject, after.headers?.authorization].join(" ")
          })
        )
        const { send } = yield* authenticated(serverOf(Who))
        const call = (subject: string) =>
          Effect.gen(function* () {
            const headers: { [name: string]: string | undefined } = {
              "mcp-protocol-version": era,
              "mcp-method": "tools/call",
              "mcp-name": "who"
            }
            if (era === legacy) {
              const hello = { jsonrpc: "2.0", id: 1, method: "initialize", params: initializeParams() }
              headers["mcp-session-id"] = (yield* send(subject, "POST", hello)).headers["mcp-session-id"]
            }
            const params = { name: "who", ...(era === modern && { _meta: modernMeta() }) }
            return jsonOf(
              yield* send(subject, "POST", { jsonrpc: "2.0", id: 1, method: "tools/call", params }, headers)
            )
          })
        const [ada, alan] = [yield* Effect.forkScoped(call("ada")), yield* Effect.forkScoped(call("alan"))]
        yield* Effect.all([gates.ada!.started, gates.alan!.started])
        yield* gates.alan!.open
        yield* gates.ada!.open
        expect(at(yield* Fiber.join(ada), "result", "content", 0, "text")).toBe("Bearer ada ada Bearer ada")
        expect(at(yield* Fiber.join(alan), "result", "content", 0, "text")).toBe("Bearer alan alan Bearer alan")
      })
    )

    it.effect(
      `[BUG-54][BUG-130] many clients of one server, same ids, same tokens: nobody hears another (${era})`,
      () =>
        Effect.gen(function* () {
          const Secret = Tool.make("secret", { input: Schema.Struct({ value: Schema.String }) })
          const secret = Tool.handle(Secret, ({ value }) =>
            Effect.gen(function* () {
              yield* Effect.yieldNow
              if (value.endsWith("0")) yield* Progress.report({ progress: 1, message: value })
              yield* Effect.yieldNow
              return value
            })
          )
          const running = yield* node.start(serverOf(secret))
          yield* Effect.forEach(
            ["A", "B"],
            (name) =>
              Effect.gen(function* () {
                const client = yield* connect(running, era, { judged: false })
                const values = Array.from({ length: 100 }, (_, index) => `${name}-${index}`)
                const heard = yield* Effect.forEach(
                  values,
                  (value, index) =>
                    Effect.scoped(
                      Effect.gen(function* () {
                        const params = { name: "secret", arguments: { value }, _meta: { progressToken: index % 5 } }
                        const reply = yield* client.post(client.message("tools/call", params, index % 5))
                        return JSON.stringify(yield* reply.messages)
                      })
                    ),
                  { concurrency: 10 }
                )
                for (const [index, text] of heard.entries()) {
                  expect(new Set([...text.matchAll(/[AB]-\d+/g)].map((match) => match[0]))).toEqual(
                    new Set([values[index]])
                  )
                }
              }),
            { concurrency: 2 }
          )
        })
    )
  }
})

describe("what is left behind", () => {
  setFlagsFromString("--expose-gc")
  const collect: () => void = runInNewContext("gc")
  const heapAfter = (work: Effect.Effect<void>) =>
    Effect.map(work, () => {
      collect()
      return process.memoryUsage().heapUsed
    })

  it.effect("[BUG-124] requests that stand for themselves leave nothing, cut off or not", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      const { send } = yield* authenticated(serverOf(Tool.handle(Tool.make("slow"), () => Effect.as(gate.work, ""))))
      const _meta = modernMeta()
      const list = { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta } }
      const slow = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "slow", _meta } }
      const round = Effect.gen(function* () {
        yield* Effect.flatMap(send("a", "POST", list, headersOf(modern, "tools/list")), drain)
        yield* Effect.flatMap(send("a", "POST", list, headersOf(modern, "tools/list")), drain)
        const cut = yield* Effect.forkChild(send("a", "POST", slow, headersOf(modern, "tools/call", "slow")), {
          startImmediately: true
        })
        yield* Fiber.interrupt(cut)
      })
      const rounds = Effect.asVoid(Effect.repeat(round, { times: 999 }))
      const before = yield* heapAfter(rounds)
      const after = yield* heapAfter(rounds)
      expect([gate.begun, gate.stopped]).toEqual([2000, 2000])
      expect(after - before).toBeLessThan(1_000_000)
    })
  )

  it.effect("[BUG-123] sessions that nobody ends are no more than the cap, however many are opened", () =>
    Effect.gen(function* () {
      const http = yield* StreamableHttp.make(demo, { maximumSessions: 100 })
      const body = new TextEncoder().encode(
        JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: initializeParams() })
      )
      const open = http.handle({
        method: "POST",
        headers: { "content-type": "application/json" },
        body: () => Effect.succeed(body)
      })
      const rounds = Effect.asVoid(Effect.repeat(open, { times: 2999 }))
      const before = yield* heapAfter(rounds)
      const after = yield* heapAfter(rounds)
      expect(after - before).toBeLessThan(1_000_000)
      expect((yield* open).status).toBe(200)
    })
  )

  it.effect("[BUG-127] a handler that never ends does not keep a server from closing", () =>
    Effect.gen(function* () {
      const gate = new Gate()
      yield* Effect.scoped(
        Effect.gen(function* () {
          const running = yield* node.start(serverOf(Tool.handle(Tool.make("slow"), () => Effect.as(gate.work, ""))))
          yield* impatient
          const client = yield* connect(running, modern)
          yield* Effect.forkScoped(client.call("slow"), { startImmediately: true })
          yield* gate.started
        })
      )
      expect(gate.stopped).toBe(1)
    })
  )
})
