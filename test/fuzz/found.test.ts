/**
 * What fuzzing has found, so that it stays found.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Logger, Result } from "effect"
import { McpClient, type McpError, McpServer, type Middleware, StreamableHttp, Tool } from "mcp-effect"
import { McpTest } from "mcp-effect/testing"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import * as NewlineFraming from "../../src/transport/NewlineFraming.ts"
import * as RawClient from "../support/RawClient.ts"
import { subject, versions } from "./subject.ts"

const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth)

/** Defects are meant here. */
const quietly = Effect.provide(Logger.layer([]))

describe("JSON that nests too deeply", () => {
  const call = (depth: number) =>
    `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ask","arguments":{"a":${nested(depth)}}}}`

  it("is malformed, with the id that can be read", () => {
    expect(JsonRpc.parse(call(125))).not.toBeInstanceOf(JsonRpc.Malformed)
    expect(JsonRpc.parse(call(126))).toMatchObject({ id: 7, response: false, error: { code: -32600 } })
    expect(JsonRpc.parse(nested(200))).toMatchObject({ id: undefined, response: false, error: { code: -32600 } })
    expect(JsonRpc.parse(`{"jsonrpc":"2.0","id":7,"result":{"a":${nested(200)}}}`)).toMatchObject({
      id: 7,
      response: true
    })
    expect(JsonRpc.parse(`{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":${nested(3)}}}`, 4)).toMatchObject({
      error: { message: "The message nests deeper than 4 levels" }
    })
  })

  it("is measured by its brackets and not by its strings", () => {
    const text = `{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":${JSON.stringify("[{".repeat(500))}}}`
    expect(JsonRpc.parse(text)).not.toBeInstanceOf(JsonRpc.Malformed)
  })

  it("has its limit as an option of framing", () => {
    const bytes = Buffer.from(`${call(20)}\n`)
    expect(NewlineFraming.makeDecoder({ maxMessageDepth: 10 }).push(bytes)[0]).toBeInstanceOf(JsonRpc.Malformed)
    expect(NewlineFraming.makeDecoder({ maxMessageDepth: 30 }).push(bytes)[0]).not.toBeInstanceOf(JsonRpc.Malformed)
  })

  // Binding the state of a question to its request overflowed the stack where nothing caught it: the process died.
  it.effect("does not take a server down that asks", () =>
    Effect.gen(function* () {
      const client = yield* RawClient.open(subject, { judged: false })
      const error = yield* client.error("tools/call", { name: "ask", arguments: { a: JSON.parse(nested(3000)) } })
      expect(error).toMatchObject({ code: -32600, message: "The message nests deeper than 128 levels" })
      expect(yield* client.call("add", { a: 1, b: 2 })).toMatchObject({ structuredContent: { sum: 3 } })
    })
  )

  it.effect("is refused over HTTP", () =>
    Effect.gen(function* () {
      const server = yield* StreamableHttp.make(subject, { maximumDepth: 50 })
      const response = yield* server.handle({
        method: "POST",
        headers: { accept: "application/json, text/event-stream", "content-type": "application/json" },
        body: () => Effect.succeed(new Uint8Array(Buffer.from(call(60))))
      })
      expect(response.status).toBe(400)
      expect(JSON.parse(String(response.body))).toMatchObject({ id: 7, error: { code: -32600 } })
    })
  )
})

describe("a byte order mark", () => {
  it("is nothing at the start of a line, wherever the bytes are cut", () => {
    const bytes = Buffer.from('\n\ufeff{"jsonrpc":"2.0","method":"a"}\n{"jsonrpc":"2.0","method":"b\ufeff"}\n')
    const whole = NewlineFraming.makeDecoder().push(bytes)
    expect(whole).toMatchObject([{ method: "a" }, { method: "b\ufeff" }])
    for (const cut of bytes.keys()) {
      const decoder = NewlineFraming.makeDecoder()
      expect([...decoder.push(bytes.subarray(0, cut)), ...decoder.push(bytes.subarray(cut))]).toEqual(whole)
    }
  })
})

describe("a result that has no JSON", () => {
  const strange = (meta: object) => ({ content: [], _meta: meta as { readonly [key: string]: unknown } })
  const throws = {
    toJSON: () => {
      throw new Error("no")
    }
  }
  const server = McpServer.make({
    name: "strange",
    version: "1.0.0",
    tools: [
      Tool.handle(Tool.make("bigint"), () => Effect.succeed(strange({ one: 1n }))),
      Tool.handle(Tool.make("throws"), () => Effect.succeed(strange({ throws }))),
      Tool.handle(Tool.make("late"), () => Effect.delay(Effect.succeed(strange({ one: 1n })), 1)),
      Tool.handle(Tool.make("fine"), () => Effect.succeed("fine"))
    ]
  })
  const codeOf = (error: McpError) => (error.reason._tag === "ProtocolFailure" ? error.reason.code : error.reason._tag)

  for (const version of versions) {
    // It threw where the answer is sent: the connection ended, and over HTTP nobody ever answered.
    it.live(`is an internal error of one call (${version})`, () =>
      Effect.gen(function* () {
        const client = yield* McpClient.McpClient
        for (const name of ["bigint", "throws", "late"]) {
          const result = yield* Effect.result(client.callTool(name, {}))
          expect(Result.isFailure(result) ? codeOf(result.failure) : result).toBe(-32603)
        }
        expect(yield* client.callTool("fine", {})).toMatchObject({ content: [{ text: "fine" }] })
      }).pipe(Effect.provide(McpTest.layer(server, { revision: version })), quietly)
    )
  }

  it.live("is an internal error over HTTP, at once or in a stream", () =>
    Effect.gen(function* () {
      const http = yield* StreamableHttp.make(server, { streamAfter: 0 })
      for (const name of ["bigint", "late"]) {
        const message = {
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name, _meta: RawClient.modernMeta() }
        }
        const response = yield* http.handle({
          method: "POST",
          headers: {
            accept: "application/json, text/event-stream",
            "content-type": "application/json",
            "mcp-protocol-version": RawClient.modern,
            "mcp-method": "tools/call",
            "mcp-name": name
          },
          body: () => Effect.succeed(new Uint8Array(Buffer.from(JSON.stringify(message))))
        })
        const { body } = response
        const text = body === undefined || typeof body === "string" ? body : yield* body.next
        expect(text).toContain('"error":{"code":-32603,"message":"Internal error"}')
      }
    }).pipe(Effect.scoped, quietly)
  )

  it.live("does not take the rest of a batch along", () =>
    Effect.gen(function* () {
      const client = yield* RawClient.open(server, { era: RawClient.legacy, initialize: false, judged: false })
      yield* client.result("initialize", RawClient.initializeParams({}, "2025-03-26"))
      const call = (id: number, name: string) => ({ jsonrpc: "2.0", id, method: "tools/call", params: { name } })
      yield* client.send([call(10, "bigint"), call(11, "fine")])
      const batch = yield* client.next((message) => Array.isArray((message as { messages?: unknown }).messages))
      expect((batch as { messages?: unknown }).messages).toMatchObject([
        { id: 10, error: { code: -32603 } },
        { id: 11, result: {} }
      ])
    }).pipe(quietly)
  )
})

describe("what throws instead of failing", () => {
  const careless: Middleware.Middleware = ({ method }, next) => {
    if (method === "tools/call") throw new Error("hunter2")
    return next
  }
  const server = McpServer.make({
    name: "throws",
    version: "1.0.0",
    tools: [Tool.handle(Tool.make("fine"), () => Effect.succeed("fine"))],
    middleware: [careless]
  })

  // It threw where messages are read: the connection ended with it.
  it.live("is a defect like any other", () =>
    Effect.gen(function* () {
      const client = yield* McpClient.McpClient
      const result = yield* Effect.result(client.callTool("fine", {}))
      expect(Result.isFailure(result) && result.failure.reason).toMatchObject({
        code: -32603,
        message: "Internal error"
      })
      expect(yield* client.discover).toMatchObject({ capabilities: { tools: {} } })
    }).pipe(Effect.provide(McpTest.layer(server)), quietly)
  )
})
