/**
 * What a server asks of a client, in the words of both eras: forms, pages to open, completions and roots.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { McpServer, Peer, Tool } from "mcp-effect"
import type { Json } from "../protocol/OfficialSchema.ts"
import { demo } from "../support/Demo.ts"
import { at, type Era, eras, legacy, modern, open, type RawClient } from "../support/RawClient.ts"

const serverOf = <R>(...tools: ReadonlyArray<Tool.Handled<R>>) => McpServer.make({ name: "s", version: "1", tools })

/** Starts a call and gives its only question, as `{ method, params }`. */
const questionOf = (
  client: RawClient,
  name: string
): Effect.Effect<{ readonly method: unknown; readonly params: unknown }> =>
  Effect.gen(function* () {
    if (client.era === modern) {
      const { inputRequests, resultType } = yield* client.call(name)
      expect(resultType).toBe("input_required")
      const [question] = Object.values(inputRequests as { readonly [key: string]: Json })
      expect(Object.keys(question ?? {}).toSorted()).toEqual(["method", "params"])
      return question as { method: unknown; params: unknown }
    }
    yield* client.start("tools/call", { name }, name)
    const { method, params } = yield* client.next((message) => "method" in message && "id" in message)
    return { method, params }
  })

/** Calls a tool and answers its only question; gives the text of the result. */
const answered = (client: RawClient, name: string, answer: Json): Effect.Effect<unknown> =>
  Effect.gen(function* () {
    if (client.era === modern) {
      const first = yield* client.call(name)
      const [key] = Object.keys(first.inputRequests as object)
      const { requestState } = first
      const more = { requestState, inputResponses: { [key as string]: answer } }
      return at(yield* client.call(name, undefined, more), "content", 0, "text")
    }
    yield* client.start("tools/call", { name }, `${name}-answered`)
    yield* client.answer(yield* client.next((message) => "method" in message && "id" in message), answer)
    return at(yield* client.answerTo(`${name}-answered`), "result", "content", 0, "text")
  })

const refusalOf = (era: Era, name: string, capabilities: Json, server: McpServer.McpServer<never> = demo) =>
  Effect.gen(function* () {
    const client = yield* open(server, { era, capabilities })
    const answer = yield* client.request("tools/call", { name })
    expect(client.received.filter((message) => "method" in message)).toEqual([])
    return answer.error as { readonly code: number; readonly data?: unknown } | undefined
  })

const Url = Tool.handle(Tool.make("url"), () =>
  Effect.map(Peer.elicitUrl({ message: "Log in", url: "https://example.com/login" }), (answer) => answer._tag)
)

const toolUse = { type: "tool_use", id: "u1", name: "t", input: {} } as const
const sampling = (messages: ReadonlyArray<Json>, tools = true) =>
  Tool.handle(Tool.make("agent"), () =>
    Effect.map(
      Peer.sample({
        messages: messages as never,
        maxTokens: 10,
        ...(tools && { tools: [{ name: "t", inputSchema: { type: "object" as const } }] })
      }),
      () => "sampled"
    )
  )

for (const era of eras) {
  describe(`questions in ${era}`, () => {
    it.effect(
      "[ELIC-06][ELIC-12][SAMP-04] each goes out in the way of the era, and its answer comes back to the handler",
      () =>
        Effect.gen(function* () {
          const client = yield* open(demo, { era, capabilities: { elicitation: {}, sampling: {}, roots: {} } })
          expect(yield* questionOf(client, "greet")).toMatchObject({
            method: "elicitation/create",
            params: { message: "Who are you?", requestedSchema: { type: "object", required: ["name"] } }
          })
          expect(yield* questionOf(client, "think")).toMatchObject({
            method: "sampling/createMessage",
            params: { maxTokens: 10 }
          })
          expect(yield* questionOf(client, "where")).toMatchObject({ method: "roots/list" })
          expect(yield* answered(client, "greet", { action: "accept", content: { name: "Ada" } })).toBe("Hello Ada")
          const completion = { role: "assistant", content: { type: "text", text: "…" }, model: "m1" }
          expect(yield* answered(client, "think", completion)).toBe("m1")
          expect(yield* answered(client, "where", { roots: [{ uri: "file:///a" }] })).toBe("file:///a")
          const requests = client.received.filter((message) => "method" in message && "id" in message)
          expect(requests.length).toBe(era === modern ? 0 : 6)
        })
    )

    it.effect("[BUG-122][MRTR-05][VER-10][ERR-09][ELIC-04] who did not say that it can is not asked", () =>
      Effect.gen(function* () {
        for (const capabilities of [{}, { elicitation: { url: {} } }]) {
          const error = yield* refusalOf(era, "greet", capabilities)
          expect(error).toMatchObject(
            era === modern
              ? { code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } }
              : { code: -32600 }
          )
        }
        for (const name of ["think", "where"]) expect(yield* refusalOf(era, name, { elicitation: {} })).toBeDefined()
        for (const capabilities of [{}, { elicitation: {} }, { elicitation: { form: {} } }]) {
          expect(yield* refusalOf(era, "url", capabilities, serverOf(Url))).toBeDefined()
        }
        for (const capabilities of [
          { elicitation: {} },
          { elicitation: { form: {} } },
          { elicitation: { form: {}, url: {} } }
        ]) {
          const client = yield* open(demo, { era, capabilities })
          expect(yield* answered(client, "greet", { action: "decline" })).toBe("Decline")
        }
      })
    )

    it.effect("[BUG-122] capabilities of an odd shape are refused and break nothing", () =>
      Effect.gen(function* () {
        for (const elicitation of [true, 1, "yes", null, []]) {
          const capabilities = { elicitation } as unknown as Json
          const client = yield* open(demo, { era, initialize: false, capabilities, judged: false })
          const answer = yield* era === modern
            ? client.request("tools/call", { name: "greet" })
            : client.request("initialize", {
                protocolVersion: legacy,
                capabilities,
                clientInfo: { name: "a", version: "1" }
              })
          expect([-32602, -32021]).toContain(at(answer, "error", "code"))
          expect(client.received).toHaveLength(1)
        }
      })
    )

    it.effect("[ELIC-28][BUG-150] no and never mind are answers like any other", () =>
      Effect.gen(function* () {
        const client = yield* open(demo, { era, capabilities: { elicitation: {} } })
        expect(yield* answered(client, "greet", { action: "decline" })).toBe("Decline")
        expect(yield* answered(client, "greet", { action: "cancel" })).toBe("Cancel")
      })
    )

    it.effect("[SAMP-08] tools are sent only to clients that declared them", () =>
      Effect.gen(function* () {
        const server = serverOf(sampling([{ role: "user", content: { type: "text", text: "a" } }]))
        expect(yield* refusalOf(era, "agent", { sampling: {} }, server)).toBeDefined()
        const client = yield* open(server, { era, capabilities: { sampling: { tools: {} } } })
        const { params } = yield* questionOf(client, "agent")
        expect(at(params, "tools", 0, "name")).toBe("t")
      })
    )

    it.effect("[SAMP-10][SAMP-11] a conversation whose tool results are out of order is not sent", () =>
      Effect.gen(function* () {
        const result = { type: "tool_result", toolUseId: "u1", content: [] }
        const use = { role: "assistant", content: [toolUse] }
        const wrong = [
          [use],
          [use, { role: "user", content: [{ type: "text", text: "a" }] }],
          [use, { role: "user", content: [result, { type: "text", text: "a" }] }],
          [use, { role: "user", content: [{ ...result, toolUseId: "u2" }] }],
          [{ role: "user", content: [result] }],
          [
            { role: "assistant", content: [toolUse, { ...toolUse, id: "u2" }] },
            { role: "user", content: [result] }
          ]
        ]
        for (const messages of wrong) {
          const server = serverOf(sampling(messages))
          const client = yield* open(server, { era, capabilities: { sampling: { tools: {} } } })
          const answer = yield* client.request("tools/call", { name: "agent" })
          expect(at(answer, "result", "isError") === true || "error" in answer).toBe(true)
          expect(client.called("sampling/createMessage")).toEqual([])
        }
        const right = serverOf(sampling([use, { role: "user", content: [result] }]))
        const client = yield* open(right, { era, capabilities: { sampling: { tools: {} } } })
        expect((yield* questionOf(client, "agent")).method).toBe("sampling/createMessage")
      })
    )

    it.effect("[ELIC-06] a form is flat; what can't be one is a mistake of the program that no client sees", () =>
      Effect.gen(function* () {
        const Form = Schema.Struct({
          email: Schema.String,
          age: Schema.optionalKey(Schema.Int),
          ok: Schema.Boolean,
          size: Schema.Literals(["S", "M"])
        })
        const Flat = Tool.handle(Tool.make("flat"), () => Effect.as(Peer.elicit({ message: "m", schema: Form }), ""))
        const Deep = Tool.handle(Tool.make("deep"), () =>
          Effect.as(
            Peer.elicit({ message: "m", schema: Schema.Struct({ inner: Schema.Struct({ a: Schema.String }) }) }),
            ""
          )
        )
        const client = yield* open(serverOf(Flat, Deep), { era, capabilities: { elicitation: {} } })
        const { params } = yield* questionOf(client, "flat")
        expect(at(params, "requestedSchema")).toMatchObject({
          type: "object",
          properties: {
            email: { type: "string" },
            age: { type: "integer" },
            ok: { type: "boolean" },
            size: { enum: ["S", "M"] }
          },
          required: ["email", "ok", "size"]
        })
        const deep = yield* client.call("deep")
        expect(deep.isError).toBe(true)
      })
    )
  })
}

describe("pages to open", () => {
  it.effect("[ELIC-08] in 2025-11-25 each carries an id that no other has", () =>
    Effect.gen(function* () {
      const client = yield* open(serverOf(Url), { era: legacy, capabilities: { elicitation: { url: {} } } })
      const other = yield* open(serverOf(Url), { era: legacy, capabilities: { elicitation: { url: {} } } })
      const ids: Array<unknown> = []
      for (const each of [client, client, other]) {
        const { params } = yield* questionOf(each, "url")
        expect(params).toMatchObject({ mode: "url", message: "Log in", url: "https://example.com/login" })
        ids.push(at(params, "elicitationId"))
        yield* each.notify("notifications/cancelled", { requestId: "url" })
      }
      expect(ids.every((id) => typeof id === "string" && id.length > 0)).toBe(true)
      expect(new Set(ids).size).toBe(3)
    })
  )

  it.effect("[ELIC-08] an id of the program's own is kept", () =>
    Effect.gen(function* () {
      const Own = Tool.handle(Tool.make("own"), () =>
        Effect.as(Peer.elicitUrl({ message: "m", url: "https://example.com", elicitationId: "mine" }), "")
      )
      const client = yield* open(serverOf(Own), { era: legacy, capabilities: { elicitation: { url: {} } } })
      expect(at((yield* questionOf(client, "own")).params, "elicitationId")).toBe("mine")
    })
  )

  it.effect("[ELIC-09] in 2026-07-28 they have none, and the question keeps its key from round to round", () =>
    Effect.gen(function* () {
      const client = yield* open(serverOf(Url), { capabilities: { elicitation: { url: {} } } })
      expect((yield* questionOf(client, "url")).params).toEqual({
        mode: "url",
        message: "Log in",
        url: "https://example.com/login"
      })
      expect(yield* answered(client, "url", { action: "accept" })).toBe("Accept")
    })
  )
})

describe("questions of 2025-11-25 are live requests", () => {
  it.effect("[BASE-06] answers are matched by id, whatever their order; strangers are ignored", () =>
    Effect.gen(function* () {
      const client = yield* open(demo, { era: legacy, capabilities: { elicitation: {} } })
      yield* client.start("tools/call", { name: "greet" }, "a")
      yield* client.start("tools/call", { name: "greet" }, "b")
      const first = yield* client.nextCalled("elicitation/create")
      const second = yield* client.nextCalled("elicitation/create")
      expect(first.id).not.toBe(second.id)
      yield* client.send({ jsonrpc: "2.0", id: "nobody", result: { action: "accept", content: { name: "x" } } })
      yield* client.send({ jsonrpc: "2.0", id: `${first.id}`, result: { action: "accept", content: { name: "x" } } })
      yield* client.answer(second, { action: "accept", content: { name: "two" } })
      yield* client.answer(first, { action: "accept", content: { name: "one" } })
      yield* client.answer(first, { action: "accept", content: { name: "again" } })
      expect(at(yield* client.answerTo("a"), "result", "content", 0, "text")).toBe("Hello one")
      expect(at(yield* client.answerTo("b"), "result", "content", 0, "text")).toBe("Hello two")
    })
  )

  it.effect("an error of the client, or nonsense, fails the question and not the server", () =>
    Effect.gen(function* () {
      const client = yield* open(demo, { era: legacy, capabilities: { elicitation: {} } })
      const replies = [
        { error: { code: -1, message: "I will not" } },
        { result: { action: "perhaps" } },
        { result: 7 },
        { error: "no" }
      ]
      for (const [index, reply] of replies.entries()) {
        yield* client.start("tools/call", { name: "greet" }, `g${index}`)
        const { id } = yield* client.nextCalled("elicitation/create")
        yield* client.send({ jsonrpc: "2.0", id, ...reply })
        expect(yield* client.answerTo(`g${index}`)).toHaveProperty("error")
      }
      expect(yield* client.result("ping")).toEqual({})
    })
  )
})
