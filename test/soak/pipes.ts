/**
 * What clients do over stdio, honest and otherwise, many of them in each other's way on one connection.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { expectAnswer } from "./honest.ts"
import { type End, Pipe } from "./Pipe.ts"
import { expectEqual, Lost, Wrong } from "./Tally.ts"
import type { Json } from "./Wire.ts"
import type { Behaviour, Setting } from "./Worker.ts"

const call = (kind: string, weight: number, run: (pipe: Pipe, setting: Setting) => Promise<void>): Behaviour<Pipe> => ({
  kind: `stdio: ${kind}`,
  weight,
  run: async (pipe, setting) => {
    await run(pipe, setting)
    setting.tally.call(`stdio: ${kind}`)
  }
})

const fault = (
  kind: string,
  weight: number,
  run: (pipe: Pipe, setting: Setting) => Promise<void>
): Behaviour<Pipe> => ({
  kind: `stdio: ${kind}`,
  weight,
  run: async (pipe, setting) => {
    await run(pipe, setting)
    setting.tally.fault(`stdio: ${kind}`)
  }
})

/** A call of a tool, in either era: on one connection there may be both. */
const toolCall = (pipe: Pipe, { random }: Setting, name: string, args: Json, more: Json = {}): Json => {
  const params = { name, arguments: args, ...more }
  return random.next() < 0.5 ? pipe.modern("tools/call", params) : pipe.legacy("tools/call", params)
}

const echo = call("echo", 10, async (pipe, setting) => {
  const text = `piped ${setting.random.next()} \u2028`
  const message = toolCall(pipe, setting, "echo", { text })
  expectAnswer(await pipe.ask(message), message.id, text)
})

const progress = call("progress", 4, async (pipe, setting) => {
  const steps = setting.random.between(3, 12)
  const progressToken = `token ${pipe.nextId}`
  const message = toolCall(pipe, setting, "slow", { text: "slow", steps }, { _meta: { progressToken } })
  const told: Array<unknown> = []
  const stop = pipe.listen(({ params }) => {
    if ((params as Json | undefined)?.progressToken === progressToken) told.push((params as Json).progress)
  })
  try {
    expectAnswer(await pipe.ask(message), message.id, "slow")
  } finally {
    stop()
  }
  expectEqual(
    told,
    Array.from({ length: steps }, (_, step) => step + 1),
    "The progress"
  )
})

const question = call("question", 3, async (pipe) => {
  const name = `Ada ${pipe.nextId}`
  const stop = pipe.listen(({ id, method, params }) => {
    if (method !== "elicitation/create" || (params as Json).message !== name) return
    pipe.send({ jsonrpc: "2.0", id, result: { action: "accept", content: { name } } })
  })
  try {
    const message = pipe.legacy("tools/call", { name: "ask", arguments: { question: name } })
    expectAnswer(await pipe.ask(message), message.id, `Hello, ${name}`)
  } finally {
    stop()
  }
})

const changes = call("changes", 2, async (pipe) => {
  const notifications = { resourceSubscriptions: ["soak://tick"] }
  const message = pipe.modern("subscriptions/listen", { notifications })
  const changed = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Lost("Nothing has changed within a minute")), 60_000)
    const stop = pipe.listen(({ method, params }) => {
      const _meta = (params as Json | undefined)?._meta as Json | undefined
      if (method !== "notifications/resources/updated") return
      if (_meta?.["io.modelcontextprotocol/subscriptionId"] !== message.id) return
      clearTimeout(timer)
      stop()
      resolve()
    })
  })
  pipe.send(message)
  await changed
  pipe.cancel(message.id)
})

const cancel = fault("cancelled calls", 3, async (pipe, setting) => {
  const message = toolCall(pipe, setting, "slow", { text: "cancelled", steps: 10_000 })
  pipe.send(message)
  await sleep(setting.random.between(0, 200))
  pipe.cancel(message.id)
})

const malformed = fault("malformed lines", 3, async (pipe, { random }) => {
  const line = random.pick<readonly [string | Uint8Array, number]>([
    ["{\n", -32700],
    ["nonsense\n", -32700],
    [new Uint8Array([0x22, 0xff, 0xfe, 0x22, 0x0a]), -32700],
    ["[]\n", -32600],
    ["7\n", -32600],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}\n', -32600],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}\n', -32600]
  ])
  const refusal = pipe.refusal
  pipe.write(line[0])
  // Refusals without an id are all alike: whose is whose can't be told when several are under way.
  const code = ((await refusal).error as Json | undefined)?.code
  if (code !== -32700 && code !== -32600) throw new Wrong(`The refusal has the code ${String(code)}`)
})

const longLine = fault("lines that are too long", 0.05, async (pipe) => {
  const refusal = pipe.refusal
  pipe.write(`"${"x".repeat(17 * 1024 * 1024)}"\n`)
  await refusal
})

const twice = fault("ids in use", 1, async (pipe) => {
  const message = pipe.modern("tools/call", { name: "slow", arguments: { text: "twice", steps: 10 } })
  const first = pipe.ask(message)
  const second = pipe.ask(message)
  const answers = await Promise.all([first, second])
  expectEqual((answers[0].error as Json | undefined)?.code, -32600, "The code of the first answer")
  expectAnswer(answers[1], message.id, "twice")
})

const pieces = fault("messages in pieces", 2, async (pipe, { random }) => {
  const message = pipe.modern("tools/call", { name: "echo", arguments: { text: "in pieces ❄" } })
  const bytes = Buffer.from(`${JSON.stringify(message)}\r\n`)
  const answer = pipe.answerTo(message.id)
  for (let at = 0; at < bytes.length;) {
    const size = random.between(1, 40)
    pipe.write(bytes.subarray(at, at + size))
    at += size
  }
  expectAnswer(await answer, message.id, "in pieces ❄")
})

const slowReader = fault("slow readers", 1, async (pipe, { random }) => {
  pipe.child.stdout.pause()
  setTimeout(() => pipe.child.stdout.resume(), random.between(50, 500))
  const length = random.between(100_000, 1_000_000)
  const message = pipe.modern("tools/call", { name: "large", arguments: { letter: "w", length } })
  expectAnswer(await pipe.ask(message), message.id, "w".repeat(length))
})

const stray = fault("answers that nobody has asked for", 1, async (pipe, { random }) => {
  pipe.send({ jsonrpc: "2.0", id: `stray ${random.next()}`, result: {} })
  pipe.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "never" } })
})

/** What clients do on a connection that they share. */
export const behaviours: ReadonlyArray<Behaviour<Pipe>> = [
  echo,
  progress,
  question,
  changes,
  cancel,
  malformed,
  longLine,
  twice,
  pieces,
  slowReader,
  stray
]

const endings: ReadonlyArray<readonly [string, (pipe: Pipe) => void, (end: End) => boolean]> = [
  ["that end their input", (pipe) => pipe.child.stdin.end(), ({ code }) => code === 0],
  [
    "that vanish",
    ({ child }) => {
      child.stdout.destroy()
      child.stdin.destroy()
    },
    ({ code }) => code === 0
  ],
  [
    "that stop reading and end their input",
    ({ child }) => void child.stdin.end(child.stdout.pause() && ""),
    () => true
  ],
  ["that terminate it", ({ child }) => void child.kill("SIGTERM"), ({ code }) => code === 0 || code === 130],
  ["that kill it", ({ child }) => void child.kill("SIGKILL"), ({ signal }) => signal === "SIGKILL"]
]

/** A client that starts a server for itself, calls, and leaves in one way or another; the server must not outlive it. */
export const visit = async (setting: Setting): Promise<void> => {
  const { random, tally } = setting
  const [kind, leave, isRight] = random.pick(endings)
  const pipe = new Pipe()
  try {
    if (random.next() < 0.5) await pipe.initialize()
    const message = pipe.modern("tools/call", { name: "echo", arguments: { text: "hello" } })
    expectAnswer(await pipe.ask(message), message.id, "hello")
    tally.call("stdio: a process of its own")
    pipe.send(pipe.modern("tools/call", { name: "slow", arguments: { text: "never read", steps: 50 } }))
    await sleep(random.between(0, 100))
    leave(pipe)
    const end = await Promise.race([pipe.ended, sleep(30_000)])
    if (end === undefined) throw new Wrong(`A server outlives clients ${kind}`)
    if (!isRight(end)) throw new Wrong(`A server of clients ${kind} has ended with ${JSON.stringify(end)}`)
    tally.fault(`stdio: clients ${kind}`)
  } catch (cause) {
    tally.failure(`stdio: clients ${kind}`, cause)
  } finally {
    pipe.child.kill("SIGKILL")
  }
}
