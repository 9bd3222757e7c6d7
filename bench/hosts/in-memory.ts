/**
 * Runs a server in memory and the driver beside it, with JSON text between the two: the driver writes a request, the
 * server answers, the driver reads the answer and writes the next request.
 */
import { initialize, initialized, type Template, textWith } from "../harness/messages.ts"
import type { Era, OpenLink } from "../systems/echo.ts"

/** What this process is told, and what it says. */
export type HostMessage =
  | { readonly host: "ready"; readonly messages: ReadonlyArray<unknown> }
  | { readonly host: "ran"; readonly calls: number; readonly seconds: number }

const [system, era] = process.argv.slice(2) as [string, Era]
const request = await new Promise<Template>((resolve) => {
  process.on("message", (message: { readonly request?: Template }) => {
    if (message.request !== undefined) resolve(message.request)
  })
  process.channel?.ref()
})
const { open } = (await import(`../systems/${system}/in-memory.ts`)) as { readonly open: OpenLink }

let onMessage: (message: { readonly id?: number; readonly method?: string }) => void = () => {}
const link = await open(era, (text) => onMessage(JSON.parse(text)))
const params = JSON.parse(textWith(request, 0)).params
let id = 0

const ask = (text: string) =>
  new Promise<ReadonlyArray<unknown>>((resolve) => {
    const messages: Array<unknown> = []
    onMessage = (message) => {
      messages.push(message)
      if (message.method === undefined) resolve(messages)
    }
    link.send(text)
  })

if (era === "legacy") {
  await ask(textWith(initialize, ++id))
  link.send(initialized)
}
const messages = await ask(textWith(request, ++id))

const nothing = (): void => {}

const run = async (milliseconds: number): Promise<HostMessage> => {
  let answered = nothing
  onMessage = (message) => {
    if (message.id === id) answered()
  }
  const executor = (resolve: () => void) => {
    answered = resolve
    link.send(JSON.stringify({ jsonrpc: "2.0", id, method: request.method, params }))
  }
  const started = performance.now()
  let calls = 0
  while (true) {
    id++
    await new Promise<void>(executor)
    calls++
    if ((calls & 15) === 0 || params.arguments?.text.length > 10_000) {
      if (performance.now() - started > milliseconds) break
    }
  }
  return { host: "ran", calls, seconds: (performance.now() - started) / 1000 }
}

process.on("message", (message: { readonly run?: number }) => {
  if (message.run !== undefined) void run(message.run).then((ran) => process.send?.(ran))
})
process.send?.({ host: "ready", messages } satisfies HostMessage)
