/**
 * What every transport has to keep, each law a program over both ends of its connections.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as JsonRpc from "../protocol/JsonRpc.ts"
import type { McpError } from "../protocol/McpError.ts"
import { broken, type Dialer, type End, type LawBroken, type Link, within } from "./LawLink.ts"

type Law = (dialer: Dialer) => Effect.Effect<void, LawBroken | McpError>

const numbered = (index: number, text = ""): JsonRpc.Notification =>
  JsonRpc.notification("law/message", { index, text })

/** The members of a message that {@link numbered} has made. */
const paramsOf = (message: JsonRpc.Incoming): Effect.Effect<JsonRpc.Members, LawBroken> =>
  !(message instanceof JsonRpc.Malformed) && !(message instanceof JsonRpc.Batch) && JsonRpc.isNotification(message)
    ? Effect.succeed(message.params ?? {})
    : broken(`Not the message that was sent: ${JSON.stringify(message)}`)

const indices = (first: number, count: number): ReadonlyArray<number> =>
  Array.from({ length: count }, (_, offset) => first + offset)

const sendAll = (end: End, first: number, count: number) =>
  Effect.forEach(indices(first, count), (index) => end.send(numbered(index)), { discard: true })

const expectAll = (end: End, first: number, count: number) =>
  Effect.forEach(
    indices(first, count),
    (expected) =>
      Effect.flatMap(Effect.flatMap(end.next, paramsOf), ({ index }) =>
        index === expected ? Effect.void : broken(`Expected message ${expected}, got ${String(index)}`)
      ),
    { discard: true }
  )

/** Each end as the one that begins, with the other. */
const bothWays = ({ client, server }: Link): ReadonlyArray<readonly [End, End]> => [
  [client, server],
  [server, client]
]

/** Sends some messages and takes them at the other end, both ways at once. */
const exchange = ({ client, server }: Link, first: number, count: number) =>
  Effect.all(
    [
      sendAll(client, first, count),
      sendAll(server, first, count),
      expectAll(client, first, count),
      expectAll(server, first, count)
    ],
    {
      concurrency: "unbounded",
      discard: true
    }
  )

const order: Law = ({ dial }) => Effect.flatMap(dial, (link) => exchange(link, 0, 300))

/** What has been known to get lost, cut or changed on the way. */
const texts: ReadonlyArray<string> = [
  "",
  "line\u2028separator, paragraph\u2029separator, next\u0085line",
  "\n\r\n\r\u000b\u000c",
  "\u0000\u0001\u001b\u007f",
  "\ufeffbyte order mark\ufeff",
  "lone surrogates \ud83d and \ude00",
  '\\ \\\\ \\n \\u000a "quoted" </script>',
  "你好 🙂 e\u0301 \u{10ffff}",
  "data: event\n\ndata: another\nid: 7\n\n",
  ...[65_535, 65_536, 65_537].map((length) => "é".repeat(length)),
  "🙂é".repeat(175_000)
]

const checkText = (from: End, to: End, text: string) =>
  Effect.gen(function* () {
    const sent = JsonRpc.notification("law/text", { text, [text.slice(0, 20)]: "as a key" })
    yield* Effect.forkChild(from.send(sent))
    const received = yield* to.next
    if (JSON.stringify(received) === JSON.stringify(sent)) return
    return yield* broken(`Text was changed on the way: ${JSON.stringify(text.slice(0, 80))}, ${text.length} long`)
  })

const integrity: Law = ({ dial }) =>
  Effect.flatMap(dial, ({ client, server }) =>
    Effect.forEach(texts, (text) => Effect.andThen(checkText(client, server, text), checkText(server, client, text)), {
      discard: true
    })
  )

const requests: Law = ({ dial }) =>
  Effect.gen(function* () {
    for (const [asker, answerer] of bothWays(yield* dial)) {
      for (const id of [0, "0", "", Number.MAX_SAFE_INTEGER]) {
        const asking = yield* Effect.forkChild(asker.send(JsonRpc.request(id, "law/question", { id })))
        const question = yield* answerer.next
        if (!JsonRpc.isRequest(question) || question.id !== id)
          return yield* broken(`A request lost its id ${JSON.stringify(id)}`)
        const answering = yield* Effect.forkChild(answerer.send(JsonRpc.result(id, { id })))
        const answer = yield* asker.next
        if (!JsonRpc.isResponse(answer) || answer.id !== id)
          return yield* broken(`An answer lost its id ${JSON.stringify(id)}`)
        yield* within("the request and its answer are sent", Effect.andThen(Fiber.join(asking), Fiber.join(answering)))
      }
    }
  })

const senders = 20
const each = 15

/** Many fibers send at once: nothing is lost, doubled or torn, and each one's messages stay in order. */
const manySenders: Law = ({ dial }) =>
  Effect.gen(function* () {
    for (const [from, to] of bothWays(yield* dial)) {
      const text = "x".repeat(5000)
      const sendOwn = (sender: number) =>
        Effect.forEach(indices(sender * each, each), (index) => from.send(numbered(index, text)), { discard: true })
      const sending = yield* Effect.forkChild(
        Effect.forEach(indices(0, senders), sendOwn, { concurrency: "unbounded", discard: true })
      )
      const expected = indices(0, senders).map((sender) => sender * each)
      for (let count = 0; count < senders * each; count++) {
        const received = yield* Effect.flatMap(to.next, paramsOf)
        const index = received.index as number
        const sender = Math.floor(index / each)
        if (expected[sender] !== index || received.text !== text)
          return yield* broken(`Message ${index} is out of place`)
        expected[sender]++
      }
      yield* within("all senders end", Fiber.join(sending))
    }
  })

const manyConnections: Law = ({ dial }) =>
  Effect.forEach(indices(0, 16), (number) => Effect.flatMap(dial, (link) => exchange(link, number * 1000, 20)), {
    concurrency: "unbounded",
    discard: true
  })

const clientHangsUp: Law = ({ dial }) =>
  Effect.gen(function* () {
    const { client, server } = yield* dial
    yield* sendAll(client, 0, 50)
    yield* Effect.all([within("hanging up ends", client.hangUp), expectAll(server, 0, 50)], { concurrency: 2 })
    const exit = yield* server.ended
    if (Exit.isFailure(exit)) return yield* broken(`A proper end is no failure: ${String(exit.cause)}`)
    yield* client.ended
    yield* refusesToSend(client)
  })

const serverHangsUp: Law = ({ dial }) =>
  Effect.gen(function* () {
    const { client, server } = yield* dial
    yield* sendAll(server, 0, 50)
    yield* Effect.all([server.hangUp, expectAll(client, 0, 50)], { concurrency: 2 })
    const exit = yield* client.ended
    if (Exit.isFailure(exit) && !isClosed(exit)) {
      return yield* broken(`A proper end is success, or "Closed": ${String(exit.cause)}`)
    }
    yield* refusesToSend(client)
  })

const isClosed = (exit: Exit.Exit<void, McpError>): boolean => {
  const [reason] = Exit.isFailure(exit) ? exit.cause.reasons : []
  return reason?._tag === "Fail" && reason.error.reason._tag === "Closed"
}

/** Sooner or later a connection that has ended says so to whoever sends. */
const refusesToSend = (end: End) => {
  const attempt = Effect.andThen(Effect.sleep("10 millis"), end.send(numbered(0)))
  return within("send fails once the connection has ended", Effect.ignore(Effect.forever(attempt)))
}

const blockLength = 64 * 1024
const blocks = 1024
/** No more than this may be under way to a receiver that does not read: 32 MiB. */
const mostBlocks = 512

/** A sender that goes on until it is told to stop; `sent` counts. */
const flood = (from: End) => {
  const text = "x".repeat(blockLength)
  const state = { sent: 0, stop: false }
  const step = Effect.suspend(() =>
    Effect.map(from.send(numbered(state.sent, text)), () => {
      state.sent++
    })
  )
  const sending = Effect.whileLoop({
    while: () => !state.stop && state.sent < blocks,
    body: () => step,
    step: () => {}
  })
  return { state, sending }
}

/** Waits until a count has stayed the same for a while. */
const stands = (count: () => number) =>
  Effect.gen(function* () {
    let before = -1
    while (count() !== before) {
      before = count()
      yield* Effect.sleep("300 millis")
    }
  })

const suspendsSender = (from: End, to: End) =>
  Effect.gen(function* () {
    yield* to.pause
    const { sending, state } = flood(from)
    const fiber = yield* Effect.forkChild(sending)
    yield* within(
      "the sender is suspended",
      stands(() => state.sent)
    )
    if (state.sent > mostBlocks)
      return yield* broken(`${state.sent} blocks of 64 KiB were taken from the sender, and not read`)
    state.stop = true
    yield* to.resume
    yield* within("the sender goes on when the receiver does", Fiber.join(fiber))
    yield* expectAll(to, 0, state.sent)
  })

const backpressure: Law = ({ dial }) =>
  Effect.gen(function* () {
    const { client, server } = yield* dial
    yield* suspendsSender(client, server)
    yield* suspendsSender(server, client)
  })

/** A peer that does not read holds up nobody but whoever sends to it. */
const independence: Law = ({ dial }) =>
  Effect.gen(function* () {
    const slow = yield* dial
    const other = yield* dial
    yield* slow.server.pause
    const { sending, state } = flood(slow.client)
    const fiber = yield* Effect.forkChild(Effect.exit(sending))
    yield* within(
      "the sender is suspended",
      stands(() => state.sent)
    )
    yield* exchange(other, 0, 20)
    state.stop = true
    yield* slow.server.resume
    yield* within("the sender goes on", Fiber.join(fiber))
  })

const interruption: Law = ({ dial }) =>
  Effect.gen(function* () {
    for (const [from, to] of bothWays(yield* dial)) {
      yield* to.pause
      const { sending, state } = flood(from)
      const fiber = yield* Effect.forkChild(sending)
      yield* within(
        "the sender is suspended",
        stands(() => state.sent)
      )
      yield* within("a send that waits can be interrupted", Fiber.interrupt(fiber))
      yield* to.resume
      yield* within("a message is sent after that", from.send(numbered(blocks)))
      // The one that was interrupted has arrived whole, or not at all.
      for (let last = -1; last < blocks;) {
        const { index, text } = yield* Effect.flatMap(to.next, paramsOf)
        const isWhole = index === blocks || (text as string).length === blockLength
        const inPlace = index === last + 1 || (index === blocks && last >= state.sent - 1)
        if (!isWhole || !inPlace) return yield* broken(`Message ${String(index)} came after ${last}`)
        last = index as number
      }
    }
  })

const reconnect: Law = ({ dial }) =>
  Effect.gen(function* () {
    const first = yield* dial
    yield* exchange(first, 0, 5)
    yield* within("hanging up ends", first.client.hangUp)
    yield* first.server.ended
    const second = yield* dial
    yield* exchange(second, 100, 5)
    yield* second.server.hangUp
    yield* exchange(yield* dial, 200, 5)
  })

/** Every law, by name. */
export const laws = {
  /** Messages arrive in the order in which they were sent. */
  order,
  /** Any text arrives unchanged, up to 1 MiB at least. */
  integrity,
  /** Requests and answers keep their ids, whatever their type. */
  requests,
  /** Fibers that send at once do not get in each other's way. */
  "many senders": manySenders,
  /** Connections at once do not see each other's messages. */
  "many connections": manyConnections,
  /** When the client hangs up, what it has sent arrives, and the server's `run` ends. */
  "client hangs up": clientHangsUp,
  /** When the server hangs up, what it has sent arrives, and the client's `run` ends. */
  "server hangs up": serverHangsUp,
  /** `send` suspends while the peer does not read, and no more than 32 MiB are under way. */
  backpressure,
  /** A peer that does not read holds up no other connection. */
  independence,
  /** A `send` that waits can be interrupted; the connection goes on. */
  interruption,
  /** After a connection has ended there can be another. */
  reconnect
} satisfies { readonly [name: string]: Law }

const nonsense: ReadonlyArray<string> = [
  '{"jsonrpc": "2.0", "method"',
  "no JSON",
  '"text"',
  "17",
  "[]",
  '{"jsonrpc":"1.0","method":"old"}',
  '{"jsonrpc":"2.0","id":{},"method":"odd"}'
]

/** Sends text as it is, framed as the transport frames messages. */
export type SendRaw<E, R> = (text: string) => Effect.Effect<void, E, R>

/** What is no message is reported as such, or refused, and costs only itself. */
export const malformed = <E, R, E2, R2>(
  { accept }: Dialer,
  open: Effect.Effect<SendRaw<E2, R2>, E, R>
): Effect.Effect<void, LawBroken | E | E2, R | R2> =>
  Effect.gen(function* () {
    const send = yield* open
    // Taken by whoever accepts.
    yield* send(JSON.stringify(numbered(0)))
    const server = yield* accept
    for (const [index, text] of nonsense.entries()) {
      yield* send(text)
      yield* send(JSON.stringify(numbered(index)))
      let received = yield* server.next
      if (received instanceof JsonRpc.Malformed) received = yield* server.next
      const params = yield* paramsOf(received)
      if (params.index !== index) return yield* broken(`After ${text} came ${JSON.stringify(params)}`)
    }
  })
