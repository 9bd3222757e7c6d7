/**
 * What broken, slow and hostile clients do over HTTP. What the server answers to it, if anything, is checked.
 */
import { connect } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { expectAnswer, open } from "./honest.ts"
import { expectEqual, Lost, Wrong } from "./Tally.ts"
import { eventsOf, type Json, textOf, type Wire } from "./Wire.ts"
import type { Behaviour, Setting } from "./Worker.ts"

const fault = (
  kind: string,
  weight: number,
  run: (wire: Wire, setting: Setting) => Promise<void>,
  applies: (wire: Wire) => boolean = () => true
): Behaviour<Wire> => ({
  kind,
  weight,
  run: async (wire, setting) => {
    if (!applies(wire)) return
    await run(wire, setting)
    setting.tally.fault(kind)
  }
})

const inLegacy = (wire: Wire) => !wire.isModern

const post = async (wire: Wire, body: string, headers: { readonly [name: string]: string | undefined } = {}) => {
  const reply = await wire.send("POST", { ...wire.headersOf({ method: "tools/list" }), ...headers }, body)
  return { status: reply.status, text: await textOf(reply) }
}

/** The code of an error, read from its text. */
const codeOf = (text: string): unknown => ((JSON.parse(text) as Json).error as Json | undefined)?.code

const malformed = fault("malformed JSON", 3, async (wire, { random }) => {
  const body = random.pick(["{", '{"jsonrpc":"2.0",', "nonsense", '"\\ud800', "[1,", "\u0000", "{}{}"])
  const { status, text } = await post(wire, body)
  expectEqual([status, codeOf(text)], [400, -32700], "The refusal")
})

const wrongEnvelope = fault("wrong ids and envelopes", 3, async (wire, { random }) => {
  const body = random.pick<unknown>([
    { jsonrpc: "2.0", id: null, method: "tools/list" },
    { jsonrpc: "2.0", id: [], method: "tools/list" },
    { jsonrpc: "2.0", id: {}, method: "tools/list" },
    { jsonrpc: "1.0", id: 1, method: "tools/list" },
    { jsonrpc: "2.0", id: 1, method: 7 },
    { jsonrpc: "2.0", id: 1, method: "tools/list", params: [1] },
    7,
    "text",
    null
  ])
  const { status, text } = await post(wire, JSON.stringify(body))
  expectEqual([status, codeOf(text)], [400, -32600], `The refusal of ${JSON.stringify(body)}`)
})

const wrongSession = fault(
  "wrong sessions",
  3,
  async (wire, { random }) => {
    const isMissing = random.next() < 0.5
    const message = JSON.stringify(wire.message("tools/list"))
    const { status } = await post(wire, message, {
      "mcp-session-id": isMissing ? undefined : `no session ${random.next()}`
    })
    expectEqual(status, isMissing ? 400 : 404, "The status")
  },
  inLegacy
)

const wrongHeaders = fault("wrong headers", 3, async (wire, { random }) => {
  const message = JSON.stringify(wire.message("tools/list"))
  const [headers, expected] = random.pick<readonly [{ readonly [name: string]: string }, number]>([
    [{ accept: "text/html" }, 406],
    [{ "content-type": "text/plain" }, 415],
    [{ "mcp-protocol-version": "1999-01-01" }, 400],
    [{ host: "evil.example" }, 403],
    [{ origin: "https://evil.example" }, 403]
  ])
  const { status } = await post(wire, message, headers)
  expectEqual(status, expected, `The status of ${JSON.stringify(headers)}`)
})

const unknown = fault("unknown methods and tools", 2, async (wire, { random }) => {
  const message = random.pick([
    wire.message("no/such/method"),
    wire.call("no-such-tool", {}),
    wire.call("echo", { text: 7 }),
    wire.message("resources/read", { uri: "soak://nothing" })
  ])
  const answer = (await wire.ask(message)).at(-1)
  const isRefused = answer?.error !== undefined || (answer?.result as Json | undefined)?.isError === true
  expectEqual([answer?.id, isRefused], [message.id, true], `The answer to ${String(message.method)}`)
})

const oversized = fault("oversized bodies", 0.3, async (wire, { random }) => {
  const size = 5 * 1024 * 1024
  const piece = "x".repeat(64 * 1024)
  const length = random.next() < 0.5 ? { "content-length": String(size) } : {}
  try {
    const reply = await wire.send("POST", { ...wire.headersOf({ method: "tools/list" }), ...length }, (outgoing) => {
      let sent = 0
      const write = () => {
        while (sent < size && !outgoing.destroyed) {
          sent += piece.length
          if (!outgoing.write(piece)) return void outgoing.once("drain", write)
        }
        outgoing.end()
      }
      write()
    })
    expectEqual(reply.status, 413, "The status")
    reply.request.destroy()
  } catch (cause) {
    // It hangs up on whoever goes on sending, and may do so before its answer is read.
    if (!(cause instanceof Lost)) throw cause
  }
})

/** Sends bytes, waits, and vanishes. What the server answers is of no interest. */
const rawBytes = (wire: Wire, bytes: string, milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    const socket = connect({ port: wire.port, host: "127.0.0.1" })
    socket.on("error", () => {})
    socket.on("close", () => resolve())
    socket.resume()
    socket.once("connect", () => {
      socket.write(bytes)
      setTimeout(() => socket.destroy(), milliseconds)
    })
  })

const garbage = fault("bytes that are no HTTP", 1, (wire, { random }) =>
  rawBytes(wire, random.pick(["nonsense\r\n\r\n", "\u0000\u0001\u0002", "GET / HTTP/9.9\r\n\r\n", "\r\n\r\n\r\n"]), 200)
)

const halfRequest = fault("half requests", 2, (wire, { random }) => {
  const body = JSON.stringify(wire.call("echo", { text: "half" }))
  const head = Object.entries(wire.headersOf(JSON.parse(body) as Json)).filter(([, value]) => value !== undefined)
  const text = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${body.length}\r\n${head
    .map(([name, value]) => `${name}: ${value}`)
    .join("\r\n")}\r\n\r\n${body}`
  return rawBytes(wire, text.slice(0, random.between(1, text.length - 1)), random.between(10, 1000))
})

const vanish = fault("clients that vanish during a call", 4, async (wire, { random }) => {
  const message = wire.call("slow", { text: "never read", steps: 30 }, { _meta: { progressToken: 1 } })
  const gone = new Promise<void>((resolve) => {
    wire
      .send("POST", wire.headersOf(message), (outgoing) => {
        outgoing.end(JSON.stringify(message))
        setTimeout(
          () => {
            outgoing.destroy()
            resolve()
          },
          random.between(1, 300)
        )
      })
      .catch(() => {})
  })
  await gone
})

const vanishWhileListening = fault("clients that vanish while they listen", 2, async (wire, { random }) => {
  const reply = await open(wire)
  await sleep(random.between(1, 500))
  reply.request.destroy()
})

const cancel = fault("cancelled calls", 3, async (wire, { random }) => {
  const message = wire.call("slow", { text: "cancelled", steps: 10_000 }, { _meta: { progressToken: 1 } })
  const reply = await wire.post(message)
  await sleep(random.between(1, 200))
  if (wire.isModern) return void reply.request.destroy()
  const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: message.id } }
  expectEqual((await post(wire, JSON.stringify(cancelled))).status, 202, "The status of a cancellation")
  for await (const { data } of eventsOf(reply)) {
    if (data !== "" && (JSON.parse(data) as Json).id === message.id) throw new Wrong("A cancelled call was answered")
  }
})

/** Reads a large answer bit by bit. */
const slowReader = fault("slow readers", 1, async (wire, { random }) => {
  const length = random.between(300_000, 1_500_000)
  const message = wire.call("large", { letter: "y", length })
  const reply = await wire.post(message)
  reply.body.pause()
  await sleep(random.between(100, 1000))
  const answer = (await wire.messagesOf(reply, message.id)).at(-1)
  expectAnswer(answer, message.id, "y".repeat(length))
})

const halfReader = fault("readers that stop in the middle", 1, async (wire, { random }) => {
  const reply = await wire.post(wire.call("large", { letter: "z", length: 2_000_000 }))
  reply.body.pause()
  await sleep(random.between(1, 500))
  reply.request.destroy()
})

/** Loses the connection in the middle of a call, and comes back for the answer. */
const resume = fault(
  "lost connections that are resumed",
  2,
  async (wire, { random }) => {
    const text = `resumed ${random.next()}`
    const message = wire.call("slow", { text, steps: 20 }, { _meta: { progressToken: 1 } })
    const reply = await wire.post(message)
    let last: string | undefined
    let seen = 0
    const stopAfter = random.between(1, 4)
    for await (const { id } of eventsOf(reply)) {
      last = id ?? last
      if (++seen >= stopAfter) break
    }
    reply.request.destroy()
    if (last === undefined) throw new Wrong("An event has no id")
    await sleep(random.between(1, 600))
    const resumed = await wire.send("GET", {
      accept: "text/event-stream",
      "mcp-session-id": wire.session,
      "mcp-protocol-version": wire.revision,
      "last-event-id": last
    })
    expectEqual(resumed.status, 200, "The status of a resumption")
    expectAnswer((await wire.messagesOf(resumed, message.id)).at(-1), message.id, text)
  },
  ({ revision }) => revision === "2025-11-25"
)

const lostPlace = fault(
  "resumptions after events that never were",
  1,
  async (wire, { random }) => {
    const reply = await wire.send("GET", {
      accept: "text/event-stream",
      "mcp-session-id": wire.session,
      "mcp-protocol-version": wire.revision,
      "last-event-id": random.pick(["0-99999999", "zzz-1", "nonsense", "0--1"])
    })
    await textOf(reply)
    expectEqual(reply.status, 400, "The status")
  },
  inLegacy
)

const batch = fault(
  "batches where there are none",
  1,
  async (wire) => {
    const { status } = await post(wire, JSON.stringify([wire.message("tools/list"), wire.message("tools/list")]))
    expectEqual(status, 400, "The status of a batch")
  },
  ({ revision }) => revision !== "2025-03-26"
)

const forgedState = fault(
  "forged request state",
  1,
  async (wire, { random }) => {
    const message = wire.call("ask", { question: "?" }, { requestState: `forged ${random.next()}`, inputResponses: {} })
    const answer = (await wire.ask(message)).at(-1)
    expectEqual([answer?.id, (answer?.error as Json | undefined)?.code], [message.id, -32602], "The refusal")
  },
  ({ isModern }) => isModern
)

const strayAnswer = fault("answers that nobody has asked for", 1, async (wire, { random }) => {
  const answer = { jsonrpc: "2.0", id: `stray ${random.next()}`, result: {} }
  expectEqual((await post(wire, JSON.stringify(answer))).status, 202, "The status of a stray answer")
})

const endedSession = fault(
  "sessions used after their end",
  1,
  async (wire) => {
    const session = { "mcp-session-id": wire.session, "mcp-protocol-version": wire.revision }
    const ended = await wire.send("DELETE", session)
    await textOf(ended)
    expectEqual(ended.status, 204, "The status of DELETE")
    expectEqual((await post(wire, JSON.stringify(wire.message("tools/list")))).status, 404, "The status afterwards")
    wire.session = undefined
    await wire.initialize()
  },
  inLegacy
)

/** All of them. */
export const faults: ReadonlyArray<Behaviour<Wire>> = [
  malformed,
  wrongEnvelope,
  wrongSession,
  wrongHeaders,
  unknown,
  oversized,
  garbage,
  halfRequest,
  vanish,
  vanishWhileListening,
  cancel,
  slowReader,
  halfReader,
  resume,
  lostPlace,
  batch,
  forgedState,
  strayAnswer,
  endedSession
]
