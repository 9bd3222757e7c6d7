/**
 * Asking in rounds (2026-07-28): `input_required`, `inputResponses` and the sealed `requestState`.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import { McpError, McpServer, Peer, Prompt, PromptMessage, RequestState, Resource, Step, Tool } from "mcp-effect"
import * as ServerPeer from "../../src/server/ServerPeer.ts"
import * as ServerRuntime from "../../src/server/ServerRuntime.ts"
import * as InMemory from "../../src/transport/InMemory.ts"
import type { Json } from "../protocol/OfficialSchema.ts"
import { demo } from "../support/Demo.ts"
import { at, legacy, open, over, type RawClient, serve, settle } from "../support/RawClient.ts"

const Text = Schema.Struct({ text: Schema.String })
const forms = { capabilities: { elicitation: { form: {} } } }
const ask = (key: string) => Peer.elicit({ key, message: `${key}?`, schema: Text })
const accept = (text: string) => ({ action: "accept", content: { text } })
const textOf = (result: Json) => at(result, "content", 0, "text")
const serverOf = <R>(...tools: ReadonlyArray<Tool.Handled<R>>) => McpServer.make({ name: "s", version: "1", tools })

/** The second round: the same call with state and answers. */
const again = (client: RawClient, name: string, first: Json, inputResponses?: Json, args?: Json) =>
  client.call(name, args, {
    ...(first.requestState !== undefined && { requestState: first.requestState }),
    ...(inputResponses !== undefined && { inputResponses })
  })

/** Asks for `one`, then for `two`, and says both. */
const Both = Tool.handle(Tool.make("both"), () =>
  Effect.gen(function* () {
    const one = yield* ask("one")
    const two = yield* ask("two")
    return `${one._tag === "Accept" ? one.value.text : one._tag} ${two._tag === "Accept" ? two.value.text : two._tag}`
  })
)

const handler = ({ n }: { readonly n: number }) => Effect.map(ask("one"), (answer) => `${n} ${answer._tag}`)

const as = (runtime: ServerRuntime.ServerRuntime<never>, subject: string) =>
  Effect.gen(function* () {
    const link = yield* InMemory.link
    const outlet = { ...link.server, principal: { subject } }
    const peer = yield* ServerPeer.open(runtime, outlet)
    yield* Effect.forkScoped(Effect.ignore(link.server.run((message) => peer.receive(message, outlet))))
    return yield* over(link.client, forms)
  })

const retry = (requestState: unknown, more: Json = {}) => ({
  name: "echo",
  arguments: { n: 1 },
  requestState,
  inputResponses: { one: accept("a") },
  ...more
})

describe("rounds of input", () => {
  it.effect("[MRTR-03][MRTR-04][MRTR-20][BUG-149] the first round asks, the second answers", () =>
    Effect.gen(function* () {
      const client = yield* open(demo, forms)
      const first = yield* client.call("greet")
      expect(first.resultType).toBe("input_required")
      expect(Object.keys(first).toSorted()).toEqual(["_meta", "inputRequests", "requestState", "resultType"])
      expect(first.inputRequests).toEqual({
        who: {
          method: "elicitation/create",
          params: {
            mode: "form",
            message: "Who are you?",
            requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] }
          }
        }
      })
      const second = yield* again(client, "greet", first, { who: { action: "accept", content: { name: "Ada" } } })
      expect(second).toMatchObject({ resultType: "complete", content: [{ type: "text", text: "Hello Ada" }] })
    })
  )

  it.effect("[MRTR-06][BUG-149] a missing answer is asked for again; unknown keys are ignored", () =>
    Effect.gen(function* () {
      const client = yield* open(serverOf(Both), forms)
      const first = yield* client.call("both")
      expect(Object.keys(first.inputRequests as object)).toEqual(["one"])
      const nothing = yield* again(client, "both", first, {})
      expect(Object.keys(nothing.inputRequests as object)).toEqual(["one"])
      const strange = yield* again(client, "both", nothing, { other: accept("x") })
      expect(Object.keys(strange.inputRequests as object)).toEqual(["one"])
      const second = yield* again(client, "both", strange, { one: accept("a") })
      expect(Object.keys(second.inputRequests as object)).toEqual(["two"])
      const third = yield* again(client, "both", second, { two: accept("b") })
      expect(textOf(third)).toBe("a b")
    })
  )

  it.effect("[MRTR-06] a client that never comes back costs nothing, and state is good without answers too", () =>
    Effect.gen(function* () {
      const client = yield* open(serverOf(Both), forms)
      const firsts = yield* Effect.forEach([1, 2, 3], () => client.call("both"))
      expect(new Set(firsts.map(({ requestState }) => requestState)).size).toBe(3)
      const all = yield* client.call("both", undefined, { inputResponses: { one: accept("a"), two: accept("b") } })
      expect(textOf(all)).toBe("a b")
    })
  )

  it.effect("questions that are asked at the same time go out together", () =>
    Effect.gen(function* () {
      const Together = Tool.handle(Tool.make("together"), () =>
        Effect.map(Effect.all([ask("one"), ask("two")], { concurrency: 2 }), (answers) =>
          answers.map((answer) => answer._tag).join(" ")
        )
      )
      const client = yield* open(serverOf(Together), forms)
      const first = yield* client.call("together")
      expect(Object.keys(first.inputRequests as object).toSorted()).toEqual(["one", "two"])
      const second = yield* again(client, "together", first, { one: accept("a"), two: { action: "decline" } })
      expect(textOf(second)).toBe("Accept Decline")
    })
  )

  it.effect("[MRTR-18] nothing follows the result that asks, though the handler's finalizers run", () =>
    Effect.gen(function* () {
      let finalized = 0
      const Careful = Tool.handle(Tool.make("careful"), () =>
        Effect.ensuring(
          Effect.as(ask("one"), "never"),
          Effect.sync(() => finalized++)
        )
      )
      const client = yield* open(serverOf(Careful), forms)
      yield* client.call("careful", undefined, { _meta: { progressToken: 1 } })
      yield* settle
      expect(finalized).toBe(1)
      expect(client.received).toHaveLength(1)
    })
  )

  it.effect("[MRTR-02] prompts and resources can ask; lists and completion can't", () =>
    Effect.gen(function* () {
      const asking = Effect.map(ask("one"), (answer) => (answer._tag === "Accept" ? answer.value.text : answer._tag))
      const server = McpServer.make({
        name: "s",
        version: "1",
        tools: { list: Effect.as(Effect.orDie(ask("list")), []), find: () => Effect.undefined },
        prompts: [Prompt.make("p", {}, () => Effect.map(asking, (text) => [PromptMessage.user(text)]))],
        resources: [Resource.make("r:r", { name: "r" }, asking)]
      })
      const client = yield* open(server, forms)
      for (const [method, params] of [
        ["prompts/get", { name: "p" }],
        ["resources/read", { uri: "r:r" }]
      ] as const) {
        const first = yield* client.result(method, params)
        expect(first.resultType).toBe("input_required")
        expect(first).not.toHaveProperty("ttlMs")
        const { requestState } = first
        const second = yield* client.result(method, { ...params, requestState, inputResponses: { one: accept("yes") } })
        expect(second.resultType).toBe("complete")
        expect(JSON.stringify(second)).toContain("yes")
      }
      expect(yield* client.request("tools/list")).toHaveProperty("error")
    })
  )

  it.effect("a step is done once, however many rounds there are", () =>
    Effect.gen(function* () {
      let planned = 0
      const Deploy = Tool.handle(Tool.make("deploy"), () =>
        Effect.gen(function* () {
          const plan = yield* Step.run(
            "plan",
            Schema.Struct({ at: Schema.Date }),
            Effect.sync(() => (planned++, { at: new Date(0) }))
          )
          yield* ask("one")
          yield* ask("two")
          return plan.at.toISOString()
        })
      )
      const client = yield* open(serverOf(Deploy), forms)
      const first = yield* client.call("deploy")
      const second = yield* again(client, "deploy", first, { one: accept("") })
      const third = yield* again(client, "deploy", second, { two: accept("") })
      expect(textOf(third)).toBe("1970-01-01T00:00:00.000Z")
      expect(planned).toBe(1)
      const old = yield* open(serverOf(Deploy), { era: legacy, capabilities: { elicitation: {} } })
      yield* old.start("tools/call", { name: "deploy" }, "d")
      for (let times = 0; times < 2; times++) {
        yield* old.answer(yield* old.nextCalled("elicitation/create"), accept(""))
      }
      expect(at(yield* old.answerTo("d"), "result", "content", 0, "text")).toBe("1970-01-01T00:00:00.000Z")
      expect(planned).toBe(2)
    })
  )
})

describe("answers", () => {
  it.effect("[BUG-150][ELIC-28] the envelope of an answer is not its content; no and never mind are answers", () =>
    Effect.gen(function* () {
      const client = yield* open(demo, forms)
      const greet = (answer: Json) =>
        Effect.flatMap(client.call("greet"), (first) => again(client, "greet", first, { who: answer }))
      expect(textOf(yield* greet({ action: "accept", content: { name: "x" } }))).toBe("Hello x")
      expect(textOf(yield* greet({ action: "decline" }))).toBe("Decline")
      expect(textOf(yield* greet({ action: "cancel" }))).toBe("Cancel")
      const first = yield* client.call("greet")
      const state = { requestState: first.requestState }
      for (const answer of [
        { action: "accept", content: { name: 7 } },
        { action: "accept" },
        { action: "perhaps" },
        { content: { name: "x" } },
        { name: "x" }
      ]) {
        const error = yield* client.error("tools/call", { name: "greet", ...state, inputResponses: { who: answer } })
        expect(error.code).toBe(-32602)
      }
      expect((yield* client.error("tools/call", { name: "greet", inputResponses: [] })).code).toBe(-32602)
    })
  )
})

describe("requestState", () => {
  const key = Redacted.make(new Uint8Array(32).fill(7))
  const Echo = Tool.make("echo", { input: Schema.Struct({ n: Schema.Number }) })
  const server = serverOf(Tool.handle(Echo, handler), Tool.handle(Tool.make("other", { input: Echo.input }), handler))
  const sealed = Effect.provide(ServerRuntime.make(server), RequestState.layer({ keys: [key], lifetime: "1 minute" }))

  it.effect("[MRTR-12][BUG-151] is refused when changed, and on another tool or with other arguments", () =>
    Effect.gen(function* () {
      const client = yield* as(yield* sealed, "ada")
      const { requestState } = yield* client.call("echo", { n: 1 })
      const state = requestState as string
      const flip = (index: number) =>
        state.slice(0, index) + (state[index] === "A" ? "B" : "A") + state.slice(index + 1)
      const wrong = [flip(0), flip(20), flip(state.length - 5), state.slice(0, -4), "", "AAAA", "é", `${state}AAAA`]
      for (const changed of wrong) expect((yield* client.error("tools/call", retry(changed))).code).toBe(-32602)
      for (const more of [{ name: "other" }, { arguments: { n: 2 } }, { arguments: { n: 1, m: 1 } }]) {
        expect((yield* client.error("tools/call", retry(state, more))).code).toBe(-32602)
      }
      expect((yield* client.error("tools/call", retry(7))).code).toBe(-32602)
      expect(textOf(yield* client.result("tools/call", retry(state)))).toBe("1 Accept")
    })
  )

  it.effect("[MRTR-12][ELIC-25][SEC-10][BUG-151] is worth nothing to another principal, whatever it calls itself", () =>
    Effect.gen(function* () {
      const runtime = yield* sealed
      const [ada, alan] = [yield* as(runtime, "ada"), yield* as(runtime, "alan")]
      const { requestState } = yield* ada.call("echo", { n: 1 })
      expect((yield* alan.error("tools/call", retry(requestState))).code).toBe(-32602)
      const anonymous = yield* (yield* serve(server))(forms)
      expect((yield* anonymous.error("tools/call", retry(requestState))).code).toBe(-32602)
      expect(textOf(yield* ada.result("tools/call", retry(requestState)))).toBe("1 Accept")
    })
  )

  it.effect("[MRTR-12][BUG-151] is good for its lifetime and no longer", () =>
    Effect.gen(function* () {
      const client = yield* as(yield* sealed, "ada")
      const { requestState } = yield* client.call("echo", { n: 1 })
      yield* TestClock.adjust("59 seconds")
      expect(textOf(yield* client.result("tools/call", retry(requestState)))).toBe("1 Accept")
      yield* TestClock.adjust("2 seconds")
      expect((yield* client.error("tools/call", retry(requestState))).code).toBe(-32602)
    })
  )

  it.effect("[BUG-151] is good on another instance with the same key, and on none without", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* as(yield* sealed, "ada"), yield* as(yield* sealed, "ada")]
      const { requestState } = yield* one.call("echo", { n: 1 })
      expect(textOf(yield* two.result("tools/call", retry(requestState)))).toBe("1 Accept")
      const stranger = yield* as(yield* ServerRuntime.make(server), "ada")
      expect((yield* stranger.error("tools/call", retry(requestState))).code).toBe(-32602)
    })
  )

  it.effect("keys rotate: the newest seals, all of them open", () =>
    Effect.gen(function* () {
      const newer = Redacted.make(new Uint8Array(32).fill(8))
      const rotated = yield* Effect.provide(ServerRuntime.make(server), RequestState.layer({ keys: [newer, key] }))
      const [before, after] = [yield* as(yield* sealed, "ada"), yield* as(rotated, "ada")]
      const { requestState: old } = yield* before.call("echo", { n: 1 })
      expect(textOf(yield* after.result("tools/call", retry(old)))).toBe("1 Accept")
      const { requestState: fresh } = yield* after.call("echo", { n: 1 })
      expect((yield* before.error("tools/call", retry(fresh))).code).toBe(-32602)
    })
  )

  it.effect("[MRTR-15] where it must be used once, a service of the program's own can see to that", () =>
    Effect.gen(function* () {
      const sealing = yield* RequestState.make({ keys: [key] })
      const used = new Set<string>()
      const once = RequestState.RequestState.of({
        seal: sealing.seal,
        open: (state, binding) =>
          used.has(state)
            ? Effect.fail(McpError.invalidParams("requestState was used already"))
            : Effect.tap(sealing.open(state, binding), () => Effect.sync(() => used.add(state)))
      })
      const runtime = yield* Effect.provideService(ServerRuntime.make(server), RequestState.RequestState, once)
      const client = yield* as(runtime, "ada")
      const { requestState } = yield* client.call("echo", { n: 1 })
      expect((yield* client.error("tools/call", retry(`${requestState}A`))).code).toBe(-32602)
      expect(textOf(yield* client.result("tools/call", retry(requestState)))).toBe("1 Accept")
      expect((yield* client.error("tools/call", retry(requestState))).message).toContain("used already")
    })
  )

  it.effect("does not tell the client what is in it", () =>
    Effect.gen(function* () {
      const Secret = Tool.handle(Tool.make("secret"), () =>
        Effect.andThen(Step.run("s", Schema.String, Effect.succeed("hunter2")), Effect.as(ask("one"), "done"))
      )
      const client = yield* open(serverOf(Secret), forms)
      const { requestState } = yield* client.call("secret")
      expect(Buffer.from(requestState as string, "base64url").toString("latin1")).not.toContain("hunter2")
    })
  )
})
