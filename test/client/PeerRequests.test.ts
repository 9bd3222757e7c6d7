import { describe, expect, it } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, type Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { McpClient, McpError } from "../../src/index.ts"
import type { Members } from "../../src/protocol/JsonRpc.ts"
import type { CreateMessageResult, ElicitResult } from "../../src/protocol/index.ts"
import { ScriptedPeer } from "../../src/testing/index.ts"
import { ClientTransport } from "../../src/transport/Transport.ts"
import { answerInitialize, connecting, connectLegacy, identity } from "./scripted.ts"

const ask = (peer: ScriptedPeer.ScriptedPeer, method: string, params: Members = {}) =>
  Effect.andThen(
    peer.send({ jsonrpc: "2.0", id: "q", method, params }),
    peer.expect({ id: "q" }) as Effect.Effect<unknown>
  )

const form = (properties: Members, required: ReadonlyArray<string> = []): Members => ({
  message: "?",
  requestedSchema: { type: "object", properties, required }
})
const url = { mode: "url", message: "Pay", url: "https://pay.example", elicitationId: "1" }
const text = (value: string) => ({ type: "text", text: value })
const completion: CreateMessageResult = { role: "assistant", content: { type: "text", text: "yo" }, model: "m" }
const messages = [{ role: "user", content: text("hi") }]

const declared = (handlers: McpClient.Handlers<never>) =>
  Effect.gen(function* () {
    const { server } = yield* connecting({ prior: "legacy", handlers })
    const peer = yield* server.accept
    return (yield* answerInitialize(peer)).params?.capabilities
  })

const elicit = () => Effect.succeed({ action: "cancel" } as const)
const sample = () => Effect.succeed(completion)

const answering = (answer: ElicitResult) => connectLegacy({ handlers: { elicit: () => Effect.succeed(answer) } })

const sampling = (tools: boolean) =>
  connectLegacy({ handlers: { sample: () => Effect.succeed(completion), sampling: { tools } } })

const use = (id: string) => ({ type: "tool_use", id, name: "t", input: {} })
const result = (toolUseId: string) => ({ type: "tool_result", toolUseId, content: [] })
const talk = (...contents: ReadonlyArray<unknown>) => ({
  messages: contents.map((content, index) => ({ role: index % 2 === 0 ? "user" : "assistant", content })),
  maxTokens: 5
})

describe("capabilities", () => {
  it.effect(
    "[BUG-120] [LIFE-14] [ELIC-01] [ELIC-03] [SAMP-01] [SAMP-08] [ROOT-01] are what there are handlers for, and no others",
    () =>
      Effect.gen(function* () {
        expect(yield* declared({})).toEqual({})
        expect(yield* declared({ elicit })).toEqual({ elicitation: { form: {} } })
        expect(yield* declared({ elicitUrl: elicit })).toEqual({ elicitation: { url: {} } })
        expect(yield* declared({ elicit, elicitUrl: elicit })).toEqual({ elicitation: { form: {}, url: {} } })
        expect(yield* declared({ sample })).toEqual({ sampling: {} })
        expect(yield* declared({ sample, sampling: { tools: true } })).toEqual({ sampling: { tools: {} } })
        expect(yield* declared({ sampling: { tools: true } })).toEqual({})
        expect(yield* declared({ roots: Effect.succeed([]) })).toEqual({ roots: {} })
        expect(yield* declared({ roots: Effect.succeed([]), rootsChanges: Stream.never })).toEqual({
          roots: { listChanged: true }
        })
      })
  )
})

describe("elicitation/create", () => {
  it.effect("[ELIC-16] fills in the defaults of what an accepted form leaves out", () =>
    Effect.gen(function* () {
      const { peer } = yield* answering({ action: "accept", content: { age: 31 } })
      const properties = {
        name: { type: "string", default: "Ada" },
        age: { type: "integer", default: 30 },
        score: { type: "number", default: 95.5 },
        verified: { type: "boolean", default: true },
        status: { type: "string", enum: ["active", "idle"], default: "active" },
        tags: { type: "array", items: { type: "string", enum: ["a", "b"] }, default: ["a"] },
        free: { type: "string" }
      }
      expect(yield* ask(peer, "elicitation/create", form(properties))).toEqual({
        jsonrpc: "2.0",
        id: "q",
        result: {
          action: "accept",
          content: { name: "Ada", age: 31, score: 95.5, verified: true, status: "active", tags: ["a"] }
        }
      })
    })
  )

  it.effect("leaves out the defaults that the revision can't carry, of forms that are newer than it", () =>
    Effect.gen(function* () {
      const handlers = { elicit: () => Effect.succeed({ action: "accept", content: { name: "Ada" } } as const) }
      const { peer } = yield* connectLegacy({ handlers }, { protocolVersion: "2025-06-18" })
      const properties = {
        name: { type: "string" },
        age: { type: "integer", default: 30 },
        tags: { type: "array", items: { type: "string", enum: ["a", "b"] }, default: ["a"] }
      }
      expect(yield* ask(peer, "elicitation/create", form(properties))).toEqual({
        jsonrpc: "2.0",
        id: "q",
        result: { action: "accept", content: { name: "Ada", age: 30 } }
      })
    })
  )

  it.effect("[ELIC-13] has content only for a form that was accepted", () =>
    Effect.gen(function* () {
      for (const action of ["decline", "cancel"] as const) {
        const { peer } = yield* answering({ action, content: { name: "x" } })
        const reply = yield* ask(peer, "elicitation/create", form({ name: { type: "string" } }))
        expect(reply).toMatchObject({ result: { action } })
        expect(reply).not.toHaveProperty("result.content")
      }
      const { peer } = yield* connectLegacy({
        handlers: { elicitUrl: () => Effect.succeed({ action: "accept", content: { a: "b" } } as const) }
      })
      expect(yield* ask(peer, "elicitation/create", url)).toEqual({
        jsonrpc: "2.0",
        id: "q",
        result: { action: "accept" }
      })
    })
  )

  it.effect("[ELIC-27] does not send what does not fit the form", () =>
    Effect.gen(function* () {
      const { peer } = yield* answering({ action: "accept", content: { age: "old" } })
      for (const asked of [form({ age: { type: "integer" } }), form({ name: { type: "string" } }, ["name"])]) {
        expect(yield* ask(peer, "elicitation/create", asked)).toMatchObject({ error: { code: -32603 } })
      }
    })
  )

  it.effect(
    "[ELIC-05] [ELIC-07] is refused with -32602 in a mode that was not declared, with -32601 in all when there is no handler",
    () =>
      Effect.gen(function* () {
        const forms = yield* answering({ action: "accept", content: {} })
        expect(yield* ask(forms.peer, "elicitation/create", url)).toMatchObject({ error: { code: -32602 } })
        expect(yield* ask(forms.peer, "elicitation/create", { ...form({}), mode: "form" })).toMatchObject({
          result: { action: "accept" }
        })
        const pages = yield* connectLegacy({
          handlers: { elicitUrl: () => Effect.succeed({ action: "cancel" } as const) }
        })
        expect(yield* ask(pages.peer, "elicitation/create", form({}))).toMatchObject({ error: { code: -32602 } })
        const none = yield* connectLegacy()
        for (const params of [url, form({}), {}]) {
          expect(yield* ask(none.peer, "elicitation/create", params)).toMatchObject({ error: { code: -32601 } })
        }
      })
  )

  it.effect("is refused with -32602 when it is malformed", () =>
    Effect.gen(function* () {
      const { peer } = yield* answering({ action: "cancel" })
      expect(yield* ask(peer, "elicitation/create", { message: 1 })).toMatchObject({ error: { code: -32602 } })
    })
  )
})

describe("sampling/createMessage", () => {
  it.effect("[SAMP-03] gives what the handler says", () =>
    Effect.gen(function* () {
      const { peer } = yield* sampling(false)
      expect(yield* ask(peer, "sampling/createMessage", { messages, maxTokens: 5 })).toMatchObject({
        result: completion
      })
    })
  )

  it.effect("[SAMP-08] is refused with -32602 when it brings tools that were not declared", () =>
    Effect.gen(function* () {
      const tools = [{ name: "t", inputSchema: { type: "object" } }]
      const plain = yield* sampling(false)
      for (const more of [{ tools }, { toolChoice: { mode: "auto" } }]) {
        const reply = yield* ask(plain.peer, "sampling/createMessage", { messages, maxTokens: 5, ...more })
        expect(reply).toMatchObject({ error: { code: -32602 } })
      }
      const able = yield* sampling(true)
      const reply = yield* ask(able.peer, "sampling/createMessage", { messages, maxTokens: 5, tools })
      expect(reply).toMatchObject({ result: completion })
    })
  )

  it.effect("[SAMP-12] is refused with -32602 when tool results are missing, mixed or of no use", () =>
    Effect.gen(function* () {
      const { peer } = yield* sampling(true)
      const good = talk(text("hi"), [use("1"), use("2")], [result("2"), result("1")], text("ok"))
      expect(yield* ask(peer, "sampling/createMessage", good)).toMatchObject({ result: completion })
      for (const bad of [
        talk(text("hi"), [use("1")], text("well")),
        talk(text("hi"), [use("1"), use("2")], [result("1")]),
        talk(text("hi"), [use("1")], [result("1"), text("and")]),
        talk(text("hi"), [use("1")]),
        talk([result("1")])
      ]) {
        expect(yield* ask(peer, "sampling/createMessage", bad)).toMatchObject({ error: { code: -32602 } })
      }
    })
  )

  it.effect("[ERR-16] passes on the code of a handler", () =>
    Effect.gen(function* () {
      const { peer } = yield* connectLegacy({
        handlers: { sample: () => Effect.fail(McpError.protocol(-1, "User rejected sampling request")) }
      })
      expect(yield* ask(peer, "sampling/createMessage", { messages, maxTokens: 5 })).toMatchObject({
        error: { code: -1, message: "User rejected sampling request" }
      })
    })
  )
})

describe("roots/list", () => {
  it.effect("[ROOT-06] [ROOT-08] gives file URIs, and nothing when one of them is none", () =>
    Effect.gen(function* () {
      const good = yield* connectLegacy({ handlers: { roots: Effect.succeed([{ uri: "file:///work", name: "w" }]) } })
      expect(yield* ask(good.peer, "roots/list")).toMatchObject({
        result: { roots: [{ uri: "file:///work", name: "w" }] }
      })
      const bad = yield* connectLegacy({ handlers: { roots: Effect.succeed([{ uri: "https://work" }]) } })
      expect(yield* ask(bad.peer, "roots/list")).toMatchObject({ error: { code: -32603 } })
    })
  )

  it.effect("[ROOT-07] is -32601 without a handler", () =>
    Effect.gen(function* () {
      const { peer } = yield* connectLegacy()
      expect(yield* ask(peer, "roots/list")).toMatchObject({ error: { code: -32601 } })
      expect(yield* ask(peer, "sampling/createMessage", { messages, maxTokens: 1 })).toMatchObject({
        error: { code: -32601 }
      })
    })
  )

  it.effect("[ROOT-05] has changes, which legacy servers are told of", () =>
    Effect.gen(function* () {
      const { peer } = yield* connectLegacy({
        handlers: { roots: Effect.succeed([]), rootsChanges: Stream.make(undefined, undefined) }
      })
      yield* peer.expectNotification("notifications/roots/list_changed")
      yield* peer.expectNotification("notifications/roots/list_changed")
    })
  )
})

describe("other requests", () => {
  it.effect("ping is answered, and what does not exist is -32601", () =>
    Effect.gen(function* () {
      const { peer } = yield* connectLegacy()
      expect(yield* ask(peer, "ping")).toEqual({ jsonrpc: "2.0", id: "q", result: {} })
      expect(yield* ask(peer, "constructor")).toMatchObject({ error: { code: -32601 } })
    })
  )

  it.effect("[CANC-04] a handler is interrupted when the server gives up its question", () =>
    Effect.gen(function* () {
      let interrupted = false
      const roots = Effect.onInterrupt(Effect.never, () =>
        Effect.sync(() => {
          interrupted = true
        })
      )
      const { peer } = yield* connectLegacy({ handlers: { roots } })
      yield* peer.send({ jsonrpc: "2.0", id: 5, method: "roots/list" })
      yield* peer.notify("notifications/cancelled", { requestId: 5 })
      yield* Effect.yieldNow
      expect(interrupted).toBe(true)
      yield* peer.expectNothing
    })
  )
})

describe("a person who takes their time", () => {
  it.effect("does not make the call time out that the server asked for, but for its maximum", () =>
    Effect.gen(function* () {
      const asked = yield* Deferred.make<ElicitResult>()
      const { client, peer } = yield* connectLegacy({
        timeout: "10 seconds",
        handlers: { elicit: () => Deferred.await(asked) }
      })
      const fiber = yield* Effect.forkScoped(client.callTool("ask"))
      const strict = yield* Effect.forkScoped(Effect.flip(client.callTool("strict", {}, { extendOnProgress: false })))
      const call = yield* peer.expectRequest("tools/call")
      yield* peer.expectRequest("tools/call")
      yield* peer.send({ jsonrpc: "2.0", id: "q", method: "elicitation/create", params: form({}) })
      yield* TestClock.adjust("9 minutes")
      expect((yield* Fiber.join(strict)).reason).toMatchObject({ _tag: "Timeout", after: 10_000 })
      yield* peer.expectNotification("notifications/cancelled")
      yield* Deferred.succeed(asked, { action: "decline" })
      yield* peer.expect({ id: "q", result: { action: "decline" } })
      yield* TestClock.adjust("9 seconds")
      yield* peer.respond(call, { content: [] })
      yield* Fiber.join(fiber)

      const last = yield* Effect.forkScoped(Effect.flip(client.callTool("ask")))
      yield* peer.expectRequest("tools/call")
      yield* TestClock.adjust("10 seconds")
      expect((yield* Fiber.join(last)).reason).toMatchObject({ _tag: "Timeout", after: 10_000 })
    })
  )

  it.effect("has ten minutes at most", () =>
    Effect.gen(function* () {
      const { client, peer } = yield* connectLegacy({ handlers: { elicit: () => Effect.never } })
      const fiber = yield* Effect.forkScoped(Effect.flip(client.callTool("ask")))
      yield* peer.expectRequest("tools/call")
      yield* peer.send({ jsonrpc: "2.0", id: "q", method: "elicitation/create", params: form({}) })
      yield* TestClock.adjust("10 minutes")
      expect((yield* Fiber.join(fiber)).reason).toMatchObject({ _tag: "Timeout", after: 600_000 })
    })
  )
})

describe("the services of handlers", () => {
  class Person extends Context.Service<Person, { readonly name: string }>()("test/Person") {}
  class Model extends Context.Service<Model, { readonly answer: CreateMessageResult }>()("test/Model") {}

  it.effect("are in the type of the client, and are there when a server asks", () =>
    Effect.gen(function* () {
      const server = yield* ScriptedPeer.server
      const make = McpClient.make({
        ...identity,
        prior: "legacy",
        handlers: {
          elicit: (request) =>
            Effect.map(
              Person,
              ({ name }) => ({ action: "accept", content: { name, asked: request.message } }) as const
            ),
          sample: () => Effect.map(Model, ({ answer }) => answer)
        }
      })
      const typed: Effect.Effect<McpClient.Client, McpError, ClientTransport | Scope.Scope | Person | Model> = make
      yield* typed.pipe(
        Effect.provideService(ClientTransport, server.transport),
        Effect.provideService(Person, { name: "Ada" }),
        Effect.provideService(Model, { answer: completion }),
        Effect.forkScoped
      )
      const peer = yield* server.accept
      yield* answerInitialize(peer)
      expect(yield* ask(peer, "elicitation/create", form({ name: { type: "string" } }))).toMatchObject({
        result: { content: { name: "Ada", asked: "?" } }
      })
      expect(yield* ask(peer, "sampling/createMessage", { messages, maxTokens: 5 })).toMatchObject({
        result: completion
      })
    })
  )
})
