/**
 * What is tried in every pairing of a client and a server, one after the other, on one connection.
 */
import { setTimeout as sleep } from "node:timers/promises"
import type { Answer, ClientKind, Conversation } from "./Conversation.ts"
import type { Call, Offer } from "./Offer.ts"
import { messagesOf, type Wire } from "./Wire.ts"

/** What a scenario has at hand. */
export interface Stage {
  readonly kind: ClientKind
  readonly client: Conversation
  readonly offer: Offer
  /** The revision that was negotiated. */
  readonly revision: string
  readonly wire: Wire
  readonly logs: ReadonlyArray<unknown>
}

/** A scenario; `undefined` where it does not apply: the server does not offer it, or the client can't. */
export type Scenario = (stage: Stage) => (() => Promise<void>) | undefined

const expect = (condition: boolean, message: string): void => {
  if (!condition) throw new Error(message)
}

const contains = (what: string, text: string, wanted: string): void =>
  expect(
    text.includes(wanted),
    `${what} should contain ${JSON.stringify(wanted)}: ${JSON.stringify(text.slice(0, 300))}`
  )

const includes = (what: string, list: ReadonlyArray<string>, wanted: string): void =>
  expect(list.includes(wanted), `${what} should include ${wanted}: ${list.join(", ")}`)

const within = async <A>(milliseconds: number, what: string, promise: Promise<A>): Promise<A> => {
  const giveUp = new AbortController()
  const late = sleep(milliseconds, undefined, { signal: giveUp.signal }).then(() => {
    throw new Error(`${what} has not come within ${milliseconds} ms`)
  })
  late.catch(() => undefined)
  try {
    return await Promise.race([promise, late])
  } finally {
    giveUp.abort()
  }
}

const until = async (what: string, condition: () => boolean | Promise<boolean>, milliseconds = 3000): Promise<void> => {
  const end = performance.now() + milliseconds
  while (!(await condition())) {
    expect(performance.now() < end, `${what} has not come within ${milliseconds} ms`)
    await sleep(20)
  }
}

const checked = async ({ client }: Stage, { args, name, text }: Call): Promise<Answer> => {
  const answer = await client.call(name, args)
  expect(!answer.isError, `${name} should not fail: ${answer.text}`)
  contains(`The answer of ${name}`, answer.text, text)
  return answer
}

/** A call in which the server asks the client. */
const question =
  (kind: "elicit" | "sample" | "roots", since: string): Scenario =>
  (stage) => {
    const call = stage.offer[kind]
    if (call === undefined || stage.revision < since || !stage.kind.answers.includes(kind)) return undefined
    return async () => {
      call.prepare?.()
      await within(8000, `The answer to ${call.name}`, checked(stage, call))
    }
  }

const listTools: Scenario =
  ({ client, offer }) =>
  async () =>
    includes("tools/list", await client.listTools(), offer.call.name)

const call: Scenario = (stage) => async () => void (await checked(stage, stage.offer.call))

const structured: Scenario = ({ client, offer, revision }) => {
  const wanted = offer.structured
  if (wanted === undefined || revision < "2025-06-18") return undefined
  return async () => {
    const { structured } = await client.call(wanted.name, wanted.args)
    const content = (structured ?? {}) as { readonly [name: string]: unknown }
    for (const [name, value] of Object.entries(wanted.content)) {
      expect(
        content[name] === value,
        `structuredContent.${name} should be ${String(value)}: ${JSON.stringify(structured)}`
      )
    }
  }
}

const toolError: Scenario = ({ client, offer: { fail } }) =>
  fail &&
  (async () => {
    const { isError, text } = await client.call(fail.name, fail.args)
    expect(isError, `${fail.name} should answer with isError: ${text}`)
    contains(`The answer of ${fail.name}`, text, fail.text)
  })

/** A failure of either kind: as an error of the protocol, or of the tool. The conversation goes on. */
const unknownTool: Scenario = (stage) => async () => {
  const answer = await stage.client.call("no-such-tool", {}).catch(() => undefined)
  expect(answer === undefined || answer.isError, `A tool that there is not answers ${answer?.text}`)
  await checked(stage, stage.offer.call)
}

const progress: Scenario = (stage) => {
  const wanted = stage.offer.progress
  if (wanted === undefined || !stage.kind.shows.progress) return undefined
  return async () => {
    const seen: Array<number> = []
    const { isError, text } = await stage.client.call(wanted.name, wanted.args, {
      onProgress: (value) => seen.push(value)
    })
    expect(!isError, `${wanted.name} should not fail: ${text}`)
    contains(`The answer of ${wanted.name}`, text, wanted.text)
    expect(seen.length >= wanted.atLeast, `Progress should come ${wanted.atLeast} times: ${seen.join()}`)
    expect(
      seen.every((value, index) => index === 0 || value > (seen[index - 1] ?? 0)),
      `It should grow: ${seen.join()}`
    )
  }
}

const log: Scenario = (stage) => {
  const wanted = stage.offer.log
  const { wantLogs } = stage.client
  if (wanted === undefined || wantLogs === undefined) return undefined
  return async () => {
    await wantLogs()
    const before = stage.logs.length
    await checked(stage, wanted)
    await until("A log message", () => stage.logs.length > before)
  }
}

const cancel: Scenario = (stage) => {
  const wanted = stage.offer.cancel
  if (wanted === undefined || !stage.kind.shows.cancellation) return undefined
  return async () => {
    const { client, kind, wire } = stage
    const { counter } = wanted
    const reports = wanted.reports && kind.shows.progress
    const count = async () => (counter === undefined ? 0 : Number((await client.call(counter, {})).text))
    const before = await count()
    const requests = () =>
      messagesOf(wire, "client").filter(
        ({ method, params }) => method === "tools/call" && params?.["name"] === wanted.name
      )
    const earlier = requests().length
    const abort = new AbortController()
    let running = false
    const calling = client.call(wanted.name, wanted.args, {
      signal: abort.signal,
      ...(reports && { onProgress: () => (running = true) })
    })
    const ended = calling.then(
      () => "answered",
      () => "cancelled"
    )
    if (reports) await until(`Progress of ${wanted.name}`, () => running)
    else await until(`The call of ${wanted.name}`, () => requests().length > earlier)
    const id = requests().at(-1)?.id
    abort.abort()
    const outcome = await within(2000, "The end of the call", ended)
    expect(outcome === "cancelled", "The call was answered in spite of being cancelled")
    if (counter !== undefined) await until("The end of the handler", async () => (await count()) > before)
    await checked(stage, stage.offer.call)
    const isAnswered = messagesOf(wire, "server").some((one) => one.id === id && one.result !== undefined)
    expect(!isAnswered, `The cancelled request ${String(id)} was answered`)
  }
}

const listResources: Scenario = ({ client, offer: { resource } }) =>
  resource && (async () => includes("resources/list", await client.listResources(), resource.uri))

const listTemplates: Scenario = ({ client, offer: { template } }) => {
  const { listTemplates } = client
  if (template === undefined || listTemplates === undefined) return undefined
  return async () => includes("resources/templates/list", await listTemplates(), template)
}

const read: Scenario = ({ client, offer: { resource } }) =>
  resource && (async () => contains(`The text of ${resource.uri}`, await client.read(resource.uri), resource.text))

const readMissing: Scenario = ({ client, offer: { missing } }) =>
  missing === undefined
    ? undefined
    : async () => {
        const outcome = await client.read(missing).then(
          (text) => `read as ${text}`,
          () => "refused"
        )
        expect(outcome === "refused", `${missing} should not be there: ${outcome}`)
      }

const listPrompts: Scenario = ({ client, offer: { prompt } }) =>
  prompt && (async () => includes("prompts/list", await client.listPrompts(), prompt.name))

const prompt: Scenario = ({ client, offer: { prompt } }) =>
  prompt &&
  (async () => contains(`The prompt ${prompt.name}`, await client.prompt(prompt.name, prompt.args), prompt.text))

const complete: Scenario = ({ client, offer: { complete: wanted } }) => {
  const { complete } = client
  if (wanted === undefined || complete === undefined) return undefined
  return async () => {
    const values = await complete(wanted.ref, wanted.name, wanted.value)
    for (const value of wanted.values) includes("The completion", values, value)
  }
}

const subscribe: Scenario = ({ client, offer: { subscribe: wanted } }) => {
  const { subscribe } = client
  if (wanted === undefined || subscribe === undefined) return undefined
  return async () => {
    const updates: Array<string> = []
    await subscribe(wanted.uri, (uri) => updates.push(uri))
    wanted.change()
    await until("An update", () => updates.includes(wanted.uri))
  }
}

const ping: Scenario = ({ client: { ping }, revision }) =>
  ping === undefined || revision >= "2026" ? undefined : () => within(3000, "The answer to ping", ping())

/** All scenarios, by name, in the order in which they are run. */
export const scenarios: ReadonlyArray<readonly [name: string, scenario: Scenario]> = [
  ["list tools", listTools],
  ["call", call],
  ["structured content", structured],
  ["tool error", toolError],
  ["unknown tool", unknownTool],
  ["list resources", listResources],
  ["list templates", listTemplates],
  ["read", read],
  ["read what is not there", readMissing],
  ["list prompts", listPrompts],
  ["get prompt", prompt],
  ["complete", complete],
  ["progress", progress],
  ["log", log],
  ["elicit", question("elicit", "2025-06-18")],
  ["sample", question("sample", "2024-11-05")],
  ["roots", question("roots", "2024-11-05")],
  ["subscribe", subscribe],
  ["ping", ping],
  ["cancel", cancel]
]
