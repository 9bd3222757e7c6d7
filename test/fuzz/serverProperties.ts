/**
 * What holds for a server on a byte stream, whatever its client writes.
 */
import { Effect } from "effect"
import * as fc from "fast-check"
import { defaultMaximumDepth } from "../../src/protocol/JsonDepth.ts"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import * as ServerPeer from "../../src/server/ServerPeer.ts"
import * as ServerRuntime from "../../src/server/ServerRuntime.ts"
import * as NewlineFraming from "../../src/transport/NewlineFraming.ts"
import type { Outlet } from "../../src/transport/Transport.ts"
import { effectful, fail, type Property, settle } from "./Property.ts"
import { DefectLog, fuzz, subject, versions } from "./subject.ts"

interface Shared {
  readonly runtime: ServerRuntime.ServerRuntime<never>
  readonly defects: DefectLog
}

const shared = Effect.gen(function* () {
  const defects = new DefectLog()
  const runtime = yield* Effect.provide(ServerRuntime.make(subject), defects.layer)
  return { runtime, defects } satisfies Shared
})

/** Members of an object, without believing anything about them. */
const read = (value: unknown, member: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, member)
    ? (value as { readonly [member: string]: unknown })[member]
    : undefined

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Counts by id, where `1` and `"1"` are two. */
class Tally {
  readonly #counts = new Map<string, number>()

  add(id: unknown): void {
    const key = JSON.stringify(id)
    this.#counts.set(key, this.of(id) + 1)
  }

  of(id: unknown): number {
    return this.#counts.get(JSON.stringify(id)) ?? 0
  }

  get ids(): ReadonlyArray<string> {
    return [...this.#counts.keys()]
  }
}

/**
 * Whether something asks for an answer under an id that can be read, by the letter of JSON-RPC and not by our own code. It
 * may be wrong in everything else: then the answer is an error.
 */
const isReadableRequest = (value: unknown): boolean => {
  const id = read(value, "id")
  const isReadable = typeof id === "string" || (typeof id === "number" && Number.isInteger(id))
  return isReadable && typeof value === "object" && value !== null && "method" in value
}

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } }
}

/** A client that is not to be trusted, on one connection. */
class Client {
  readonly #version: string
  readonly #peer: ServerPeer.ServerPeer<never>
  readonly #decoder = NewlineFraming.makeDecoder({ maxMessageBytes: 1_000_000 })
  readonly #outlet: Outlet
  readonly #answered: Tally
  readonly questions: Array<unknown>

  constructor(
    version: string,
    peer: ServerPeer.ServerPeer<never>,
    outlet: Outlet,
    answered: Tally,
    questions: Array<unknown>
  ) {
    this.#version = version
    this.#peer = peer
    this.#outlet = outlet
    this.#answered = answered
    this.questions = questions
  }

  static readonly open = (version: string, runtime: ServerRuntime.ServerRuntime<never>) =>
    Effect.gen(function* () {
      const answered = new Tally()
      const questions: Array<unknown> = []
      const take = (message: unknown): void => {
        const id = read(message, "id")
        if (read(message, "method") === undefined) answered.add(id)
        else if (id !== undefined) questions.push(id)
      }
      const outlet: Outlet = {
        send: (message) => Effect.suspend(() => outlet.sendUnsafe?.(message) ?? Effect.void),
        sendUnsafe: (message) => {
          const sent: unknown = JSON.parse(JsonRpc.stringify(message))
          if (Array.isArray(sent)) sent.forEach(take)
          else take(sent)
          return Effect.void
        }
      }
      const peer = yield* ServerPeer.open(runtime, outlet)
      const client = new Client(version, peer, outlet, answered, questions)
      if (version !== "2026-07-28") {
        const capabilities = version >= "2025-06-18" ? { elicitation: {} } : {}
        const clientInfo = { name: "fuzz", version: "1" }
        yield* client.ask("hello", "initialize", { protocolVersion: version, capabilities, clientInfo })
        yield* client.feed(Buffer.from('{"jsonrpc":"2.0","method":"notifications/initialized"}\n'))
      }
      return client
    })

  /** Hands bytes over as a transport would. */
  feed(chunk: Uint8Array): Effect.Effect<void> {
    return Effect.forEach(this.#decoder.push(chunk), (message) => this.#peer.receive(message, this.#outlet), {
      discard: true
    })
  }

  /** Sends a good request, and checks that it is answered at once. */
  ask(id: string, method: string, params: object): Effect.Effect<void> {
    const all = this.#version === "2026-07-28" ? { ...params, _meta: meta } : params
    const line = `\n${JSON.stringify({ jsonrpc: "2.0", id, method, params: all })}\n`
    return Effect.map(Effect.andThen(this.feed(Buffer.from(line)), settle), () => {
      if (this.#answered.of(id) !== 1) fail(`${method} was answered ${this.#answered.of(id)} times`)
    })
  }

  /** How many answers to requests with readable ids are still to come. More answers than requests are an error. */
  owed(requests: Tally): number {
    let owed = 0
    for (const key of requests.ids) {
      const id: unknown = JSON.parse(key)
      const missing = requests.of(id) - this.#answered.of(id)
      if (missing < 0)
        fail("More answers than requests", { id, requests: requests.of(id), answers: this.#answered.of(id) })
      owed += missing
    }
    return owed
  }

  get inFlight(): number {
    return this.#peer.inFlight
  }

  get waiting(): number {
    return this.#peer.waiting
  }
}

/** How deeply a value nests. */
const depthOf = (value: unknown): number => {
  let depth = 0
  let level: ReadonlyArray<unknown> = [value]
  for (; level.length > 0; depth++) {
    level = level.flatMap((inner) => (typeof inner === "object" && inner !== null ? Object.values(inner) : []))
  }
  return depth - 1
}

/** Requests in lines of text that the server must answer. A batch that nests too deeply is refused as a whole. */
const requestsIn = (lines: ReadonlyArray<string>, batches: boolean): Tally => {
  const requests = new Tally()
  for (const line of lines) {
    const value = parse(line)
    const messages: ReadonlyArray<unknown> = !Array.isArray(value)
      ? [value]
      : batches && depthOf(value) <= defaultMaximumDepth
        ? value
        : []
    for (const message of messages) if (isReadableRequest(message)) requests.add(read(message, "id"))
  }
  return requests
}

/** One line of what UTF-8 can say. */
const lineOf = (text: string): string => `${text.toWellFormed().replaceAll("\n", " ")}\n`

const defectsIn = ({ defects }: Shared) =>
  Effect.sync(() => {
    const found = defects.take()
    if (found.length > 0) fail("A defect was logged", found)
  })

/** Ends what is still open on purpose, and checks that nothing is left over. */
const finish = (client: Client, requests: Tally) =>
  Effect.gen(function* () {
    for (const key of [...requests.ids, ...client.questions.map((id) => JSON.stringify(id))]) {
      const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${key}}}\n`
      yield* client.feed(Buffer.from(cancel))
    }
    yield* settle
    if (client.inFlight !== 0) fail(`${client.inFlight} requests still in flight`)
    if (client.waiting !== 0) fail(`${client.waiting} questions of the server still wait`)
    yield* client.ask("good", "tools/call", { name: "add", arguments: { a: 1, b: 2 } })
  })

const conversation = (version: string): Property => {
  const message = fuzz.clientMessage(version)
  const call = fc.oneof(...["add", "order", "echo", "ask", "count"].map((name) => callOf(version, name)))
  const text = fc.oneof(
    { weight: 3, arbitrary: fuzz.mutated(fc.oneof(message, call)) },
    { weight: 2, arbitrary: fc.oneof(message, call).map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: fuzz.damaged(message.map((value) => JSON.stringify(value))) },
    { weight: 1, arbitrary: fuzz.mutated(fc.array(message, { maxLength: 3 })) }
  )
  return effectful(
    `a server answers everything once (${version})`,
    fc.array(text, { minLength: 1, maxLength: 4 }),
    shared,
    (shared, texts) =>
      Effect.gen(function* () {
        const client = yield* Client.open(version, shared.runtime)
        const lines = texts.map(lineOf)
        for (const line of lines) yield* client.feed(Buffer.from(line))
        yield* settle
        const requests = requestsIn(lines, version === "2025-03-26")
        const owed = client.owed(requests)
        // What is owed is being worked on, unless the made-up messages have cancelled it.
        if (owed > client.inFlight && !lines.some((line) => /cancelled/.test(line))) {
          fail(`${owed} answers are owed and ${client.inFlight} requests in flight`)
        }
        yield* finish(client, requests)
        yield* defectsIn(shared)
      })
  )
}

const callOf = (version: string, name: string): fc.Arbitrary<unknown> =>
  fc.record({
    jsonrpc: fc.constant("2.0"),
    id: fc.nat({ max: 5 }),
    method: fc.constant("tools/call"),
    params: fc.record({
      name: fc.constant(name),
      arguments: fc.jsonValue({ maxDepth: 2 }),
      ...(version === "2026-07-28" && { _meta: fc.constant(meta) })
    })
  })

const stream: Property = effectful(
  "a server survives any bytes on a stream",
  fuzz.chunks(
    fc.oneof(
      fc.uint8Array({ maxLength: 400 }),
      fc
        .array(
          fc.oneof(fuzz.text, fuzz.damaged(fuzz.clientMessage("2025-11-25").map((value) => JSON.stringify(value)))),
          {
            maxLength: 5
          }
        )
        .map((lines) => new Uint8Array(Buffer.from(lines.join("\n"))))
    )
  ),
  shared,
  (shared, chunks) =>
    Effect.gen(function* () {
      const client = yield* Client.open("2025-11-25", shared.runtime)
      for (const chunk of chunks) yield* client.feed(chunk)
      yield* settle
      yield* finish(client, requestsIn(Buffer.concat(chunks).toString("utf8").split("\n"), false))
      yield* defectsIn(shared)
    })
)

const answers = (version: "2025-11-25" | "2025-06-18"): Property =>
  effectful(
    `a question ends with whatever answers it (${version})`,
    fuzz.mutated(
      fc.record({
        jsonrpc: fc.constant("2.0"),
        id: fc.constant(0),
        result: fc.constant({ action: "accept", content: { name: "a" } })
      })
    ),
    shared,
    (shared, answer) =>
      Effect.gen(function* () {
        const client = yield* Client.open(version, shared.runtime)
        yield* client.feed(Buffer.from('{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":"ask"}}\n'))
        yield* settle
        if (client.questions.length !== 1) fail("The server asked nothing")
        yield* client.feed(Buffer.from(lineOf(answer)))
        yield* settle
        const requests = new Tally()
        requests.add("q")
        if (client.owed(requests) !== client.waiting)
          fail("A call waits without a question, or a question without a call")
        yield* finish(client, requests)
        yield* defectsIn(shared)
      })
  )

/** All of them. */
export const serverProperties: ReadonlyArray<Property> = [
  ...versions.map(conversation),
  stream,
  answers("2025-11-25"),
  answers("2025-06-18")
]
