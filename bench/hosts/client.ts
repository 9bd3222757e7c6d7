/** Runs a client and calls a server with it, so many calls at a time. */
import type { Connect, Era, Target } from "../systems/echo.ts"

/** What this process is told. */
export interface ClientCommand {
  readonly run: number
  readonly inFlight: number
}

/** What it says. */
export type ClientMessage =
  | { readonly client: "ready"; readonly text: string }
  | { readonly client: "ran"; readonly calls: number; readonly seconds: number }

const [system, era, target, text] = process.argv.slice(2) as [string, Era, string, string]
const { connect } = (await import(`../systems/${system}/client.ts`)) as { readonly connect: Connect }
const client = await connect(era, JSON.parse(target) as Target)

const run = async ({ inFlight, run: milliseconds }: ClientCommand): Promise<ClientMessage> => {
  const started = performance.now()
  let calls = 0
  const lane = async () => {
    while (performance.now() - started < milliseconds) {
      await client.echo(text)
      calls++
    }
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
  return { client: "ran", calls, seconds: (performance.now() - started) / 1000 }
}

process.on("message", (message: ClientCommand) => {
  if ("run" in message) void run(message).then((ran) => process.send?.(ran))
})
process.channel?.ref()
process.send?.({ client: "ready", text: await client.echo(text) } satisfies ClientMessage)
