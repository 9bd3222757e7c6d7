/**
 * Runs a server in memory and the driver beside it, with JSON text between the two: the driver hands over a request, the
 * server answers, the driver hands over the next request. While it is timed the driver looks at no text, because
 * everything that it does is done at the expense of what is measured.
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

let onText: (text: string) => void = () => {}
const link = await open(era, (text) => onText(text))
let id = 0

const ask = (text: string) =>
  new Promise<ReadonlyArray<unknown>>((resolve) => {
    const messages: Array<unknown> = []
    onText = (text) => {
      const message: { readonly method?: string } = JSON.parse(text)
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

/** How often the clock is looked at: seldom, but for calls that take long themselves. */
const clockEvery = request.after.length > 10_000 ? 1 : 16

/** Asks one time after the other for so long. The last answer is read afterwards: it has to be that of the last request. */
const run = (milliseconds: number) =>
  new Promise<HostMessage>((resolve) => {
    let calls = 0
    let heard = 0
    let last = ""
    let asking = false
    const started = performance.now()
    const enough = () => calls % clockEvery === 0 && performance.now() - started > milliseconds
    // An answer that is there before its request is handed over is met with the next request by this same loop.
    const askOn = () => {
      asking = true
      for (let sent = -1; sent < calls;) {
        if (enough()) {
          const seconds = (performance.now() - started) / 1000
          if (JSON.parse(last).id !== id) throw new Error(`Not the answer to ${id}: ${last.slice(0, 300)}`)
          return resolve({ host: "ran", calls, seconds })
        }
        sent = calls
        link.send(textWith(request, ++id))
      }
      asking = false
    }
    onText = (text) => {
      if (++heard < messages.length) return
      heard = 0
      last = text
      calls++
      if (!asking) askOn()
    }
    askOn()
  })

process.on("message", (message: { readonly run?: number }) => {
  if (message.run !== undefined) void run(message.run).then((ran) => process.send?.(ran))
})
process.send?.({ host: "ready", messages } satisfies HostMessage)
