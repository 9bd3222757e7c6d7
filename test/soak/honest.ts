/**
 * What well-behaved clients do over HTTP. Everything that comes back is checked.
 */
import { expectEqual, Lost, Wrong } from "./Tally.ts"
import { eventsOf, type Json, textOf, type Wire } from "./Wire.ts"
import type { Behaviour } from "./Worker.ts"

/** The text of a tool's answer. */
export const textIn = (answer: Json | undefined): unknown =>
  ((answer?.result as Json | undefined)?.content as ReadonlyArray<Json> | undefined)?.[0]?.text

/** Holds the answer of a tool against what it should be. */
export const expectAnswer = (answer: Json | undefined, id: unknown, value: string): void => {
  expectEqual(answer?.id, id, "The id")
  // A text that is no object is its own JSON.
  if (textIn(answer) !== value && textIn(answer) !== JSON.stringify(value)) {
    throw new Wrong(`The answer is ${JSON.stringify(answer).slice(0, 300)}, not ${value.slice(0, 100)}`)
  }
}

const words = ["wind", "rain", "снег", "雷", "🌈", "\u2028", 'quo"te', ""]

const echo: Behaviour<Wire> = {
  kind: "echo",
  weight: 10,
  run: async (wire, { random, tally }) => {
    const text = `${random.pick(words)} ${random.next()}`
    const message = wire.call("echo", { text })
    expectAnswer((await wire.ask(message)).at(-1), message.id, text)
    tally.call("echo")
  }
}

const progress: Behaviour<Wire> = {
  kind: "progress",
  weight: 4,
  run: async (wire, { random, tally }) => {
    const steps = random.between(3, 12)
    const text = `slow ${random.next()}`
    const message = wire.call("slow", { text, steps }, { _meta: { progressToken: `token ${text}` } })
    const messages = await wire.ask(message)
    expectAnswer(messages.at(-1), message.id, text)
    const told = messages.slice(0, -1).map(({ params }) => [(params as Json).progressToken, (params as Json).progress])
    expectEqual(
      told,
      Array.from({ length: steps }, (_, step) => [`token ${text}`, step + 1]),
      "The progress"
    )
    tally.call("progress")
  }
}

const concurrent: Behaviour<Wire> = {
  kind: "concurrent",
  weight: 2,
  run: async (wire, { random, tally }) => {
    const calls = Array.from({ length: 6 }, async (_, index) => {
      const text = `${index} ${random.next()}`
      const message = index % 2 === 0 ? wire.call("slow", { text, steps: index }) : wire.call("echo", { text })
      expectAnswer((await wire.ask(message)).at(-1), message.id, text)
      tally.call("concurrent")
    })
    await Promise.all(calls)
  }
}

const question: Behaviour<Wire> = {
  kind: "question",
  weight: 3,
  run: async (wire, { random, tally }) => {
    const name = `Ada ${random.next()}`
    const message = wire.call("ask", { question: "Who are you?" })
    const content = { action: "accept", content: { name } }
    if (!wire.isModern) {
      let answering: Promise<unknown> | undefined
      const messages = await wire.ask(message, ({ id, method }) => {
        if (method !== "elicitation/create") return
        answering = wire.post({ jsonrpc: "2.0", id, result: content }).then(textOf)
      })
      await answering
      const last = messages.at(-1)
      const result = last?.result as Json | undefined
      // Before 2025-06-18 nobody can be asked.
      if (wire.revision < "2025-06-18") expectEqual(last?.error !== undefined || result?.isError, true, "A refusal")
      else expectAnswer(last, message.id, `Hello, ${name}`)
    } else {
      const first = (await wire.ask(message)).at(-1)?.result as Json
      expectEqual(first?.resultType, "input_required", "The type of the result")
      const inputResponses = Object.fromEntries(Object.keys(first.inputRequests as Json).map((key) => [key, content]))
      const { requestState } = first
      const second = wire.call("ask", { question: "Who are you?" }, { inputResponses, requestState })
      expectAnswer((await wire.ask(second)).at(-1), second.id, `Hello, ${name}`)
    }
    tally.call("question")
  }
}

const refusal: Behaviour<Wire> = {
  kind: "refusal",
  weight: 1,
  run: async (wire, { tally }) => {
    const message = wire.call("refuse", { why: "because" })
    const answer = (await wire.ask(message)).at(-1)
    expectEqual([answer?.id, (answer?.result as Json)?.isError], [message.id, true], "The refusal")
    tally.call("refusal")
  }
}

const lists: Behaviour<Wire> = {
  kind: "lists",
  weight: 2,
  run: async (wire, { tally }) => {
    const tools = wire.message("tools/list")
    const listed = ((await wire.ask(tools)).at(-1)?.result as Json)?.tools as ReadonlyArray<Json>
    expectEqual(listed.length, 6, "The number of tools")
    const read = wire.message("resources/read", { uri: "soak://tick" })
    const contents = ((await wire.ask(read)).at(-1)?.result as Json)?.contents as ReadonlyArray<Json>
    expectEqual(contents[0]?.text, "tock", "The text of the resource")
    tally.call("lists")
  }
}

/** Listens until something has changed, and leaves. */
const changes: Behaviour<Wire> = {
  kind: "changes",
  weight: 2,
  run: async (wire, { tally }) => {
    const reply = await open(wire)
    if (!wire.isModern) {
      const subscribe = wire.message("resources/subscribe", { uri: "soak://tick" })
      expectEqual((await wire.ask(subscribe)).at(-1)?.id, subscribe.id, "The id")
    }
    let isTold = false
    for await (const { data } of eventsOf(reply)) {
      if (data === "" || (JSON.parse(data) as Json).method !== "notifications/resources/updated") continue
      isTold = true
      break
    }
    reply.request.destroy()
    if (!isTold) throw new Lost("A stream has ended without a change")
    if (!wire.isModern) {
      const unsubscribe = wire.message("resources/unsubscribe", { uri: "soak://tick" })
      expectEqual((await wire.ask(unsubscribe)).at(-1)?.id, unsubscribe.id, "The id")
    }
    tally.call("changes")
  }
}

/** Opens the stream on which changes come. */
export const open = async (wire: Wire) => {
  if (wire.isModern) {
    return wire.post(
      wire.message("subscriptions/listen", { notifications: { resourceSubscriptions: ["soak://tick"] } })
    )
  }
  const headers = { accept: "text/event-stream", "mcp-session-id": wire.session, "mcp-protocol-version": wire.revision }
  const reply = await wire.send("GET", headers)
  expectEqual(reply.status, 200, "The status of GET")
  return reply
}

/** All of them. */
export const honest: ReadonlyArray<Behaviour<Wire>> = [echo, progress, concurrent, question, refusal, lists, changes]
