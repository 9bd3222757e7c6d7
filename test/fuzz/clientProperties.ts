/**
 * What holds for a client, whatever its server answers.
 */
import { Cause, Effect, Exit, type Scope, Stream } from "effect"
import * as fc from "fast-check"
import { McpClient } from "../../src/index.ts"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import { ClientTransport, type Connection } from "../../src/transport/Transport.ts"
import { effectful, fail, type Property, settle } from "./Property.ts"
import { DefectLog, fuzz, versions } from "./subject.ts"

const capabilities = {
  tools: { listChanged: true },
  resources: { subscribe: true },
  prompts: {},
  logging: {},
  completions: {}
}

/** A server that answers well, except for what it is told to say first. */
class Server {
  readonly #version: string
  #deliver: (text: string) => Effect.Effect<void> = () => Effect.void
  /** What is said, once, instead of the answer to this method. `"@"` in it stands for the id. */
  readonly #method: string
  readonly #texts: ReadonlyArray<string>
  #said = false

  constructor(version: string, method: string, texts: ReadonlyArray<string>) {
    this.#version = version
    this.#method = method
    this.#texts = texts
  }

  readonly transport: ClientTransport["Service"] = ClientTransport.of({
    connect: Effect.sync((): Connection => {
      let receive: ((text: string) => Effect.Effect<void>) | undefined
      this.#deliver = (text) => receive?.(text) ?? Effect.void
      return {
        send: (message) => this.#heard(JSON.parse(JsonRpc.stringify(message)) as JsonRpc.Message),
        run: (onMessage) =>
          Effect.callback((_resume) => {
            receive = (text) => onMessage(JsonRpc.parse(text))
            return Effect.sync(() => {
              receive = undefined
            })
          })
      }
    })
  })

  #heard(message: JsonRpc.Message): Effect.Effect<void> {
    if (!JsonRpc.isRequest(message)) return Effect.void
    const good = JSON.stringify(this.#answer(message))
    if (message.method !== this.#method || this.#said) return this.#deliver(good)
    this.#said = true
    const id = JSON.stringify(message.id)
    const texts = this.#texts.map((text) => text.replaceAll('"@"', id))
    return Effect.forEach([...texts, good], (text) => this.#deliver(text), { discard: true })
  }

  #answer({ id, method }: JsonRpc.Request): JsonRpc.Response {
    const modern = this.#version === "2026-07-28"
    const result = this.#resultOf(method)
    if (result === undefined) return JsonRpc.error(id, { code: JsonRpc.ErrorCode.MethodNotFound, message: "no" })
    return JsonRpc.result(id, { ...result, ...(modern && { resultType: "complete", ttlMs: 0, cacheScope: "private" }) })
  }

  #resultOf(method: string): JsonRpc.Members | undefined {
    switch (method) {
      case "server/discover":
        return this.#version === "2026-07-28" ? { supportedVersions: [this.#version], capabilities } : undefined
      case "initialize":
        return { protocolVersion: this.#version, capabilities, serverInfo: { name: "s", version: "1" } }
      case "tools/list":
        return { tools: [{ name: "good", inputSchema: { type: "object" } }] }
      case "tools/call":
        return { content: [{ type: "text", text: "good" }] }
      case "resources/list":
        return { resources: [] }
      case "resources/read":
        return { contents: [] }
      case "prompts/get":
        return { messages: [] }
      case "completion/complete":
        return { completion: { values: [] } }
      default:
        return {}
    }
  }
}

const calls: { readonly [method: string]: (client: McpClient.Client) => Effect.Effect<unknown, unknown> } = {
  "tools/list": (client) => Stream.runCollect(client.listTools),
  "tools/call": (client) => client.callTool("good", { a: 1 }),
  "resources/list": (client) => Stream.runCollect(client.listResources),
  "resources/read": (client) => client.readResource("x:y"),
  "prompts/get": (client) => client.getPrompt("p"),
  "completion/complete": (client) => client.complete({ type: "ref/prompt", name: "p" }, { name: "a", value: "" })
}

const handlers = {
  elicit: () => Effect.succeed({ action: "accept" as const, content: {} }),
  sample: () =>
    Effect.succeed({ role: "assistant" as const, model: "m", content: { type: "text" as const, text: "t" } }),
  roots: Effect.succeed([])
}

const said = (version: string, method: string): fc.Arbitrary<ReadonlyArray<string>> => {
  const answer = fuzz.result(version, method).map((result) => ({ jsonrpc: "2.0", id: "@", result }))
  return fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fuzz.mutated(answer) },
      { weight: 2, arbitrary: answer.map((value) => JSON.stringify(value)) },
      { weight: 2, arbitrary: fuzz.serverMessage(version).map((value) => JSON.stringify(value)) },
      { weight: 1, arbitrary: fuzz.mutated(fuzz.serverMessage(version)) },
      { weight: 1, arbitrary: fuzz.text }
    ),
    { minLength: 1, maxLength: 3 }
  )
}

const settlesWith = (name: string, call: Effect.Effect<unknown, unknown, Scope.Scope>) =>
  Effect.gen(function* () {
    const exit = yield* Effect.exit(Effect.timeoutOption(call, "4 seconds"))
    if (Exit.isFailure(exit) && Cause.hasDies(exit.cause)) fail(`${name} died`, Cause.pretty(exit.cause))
    if (Exit.isSuccess(exit) && exit.value._tag === "None") fail(`${name} does not settle`)
    return exit
  })

const answers = (version: string): Property =>
  effectful(
    `a client takes any answer (${version})`,
    fc.constantFrom(...Object.keys(calls)).chain((method) => fc.tuple(fc.constant(method), said(version, method))),
    Effect.sync(() => new DefectLog()),
    (defects, [method, texts]) =>
      Effect.gen(function* () {
        const server = new Server(version, method, texts)
        const client = yield* McpClient.make({
          name: "fuzz",
          version: "1",
          handlers,
          limits: { pages: 5, rounds: 3 }
        }).pipe(Effect.provideService(ClientTransport, server.transport), Effect.orDie)
        yield* settlesWith(method, calls[method]?.(client) ?? Effect.void)
        yield* settle
        const good = yield* settlesWith("a good call", client.callTool("good", {}))
        // `callTool` checks results against what was listed, which may be what was made up.
        if (Exit.isFailure(good) && method !== "tools/list") fail("A good call fails", Cause.pretty(good.cause))
        const found = defects.take()
        if (found.length > 0) fail("A defect was logged", found)
      }).pipe(Effect.provide(defects.layer))
  )

const openings = (version: string, method: "server/discover" | "initialize"): Property =>
  effectful(
    `a client opens, or says why not (${version})`,
    said(version, method),
    Effect.sync(() => new DefectLog()),
    (defects, texts) =>
      Effect.gen(function* () {
        const server = new Server(version, method, texts)
        const opening = McpClient.make({ name: "fuzz", version: "1", handlers, probeTimeout: 20, timeout: 1000 }).pipe(
          Effect.provideService(ClientTransport, server.transport)
        )
        yield* settlesWith("opening", opening)
        const found = defects.take()
        if (found.length > 0) fail("A defect was logged", found)
      }).pipe(Effect.provide(defects.layer))
  )

/** All of them. */
export const clientProperties: ReadonlyArray<Property> = [
  ...versions.map(answers),
  openings("2026-07-28", "server/discover"),
  openings("2025-11-25", "initialize")
]
