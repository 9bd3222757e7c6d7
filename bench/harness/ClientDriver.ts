/** Drives a client against the raw server: it is the client's process that is measured. */
import type { ClientMessage } from "../hosts/client.ts"
import type { Era, Target } from "../systems/echo.ts"
import { inBench, start } from "./Child.ts"
import type { Contestant } from "./Contestant.ts"
import { listen } from "./HttpDriver.ts"

/** A workload of a client. */
export interface ClientWorkload {
  readonly era: Era
  readonly transport: Target["transport"]
  readonly inFlight: number
  readonly text: string
}

const isClientMessage = (value: unknown): value is ClientMessage =>
  typeof value === "object" && value !== null && "client" in value

/** Opens the raw server and a client of it, and checks what the client makes of its answer. */
export const open = async (system: string, workload: ClientWorkload): Promise<Contestant> => {
  const { era, inFlight, text, transport } = workload
  const raw = transport === "http" ? await listen("systems/raw/server-http.ts") : undefined
  const target: Target =
    raw === undefined
      ? { transport: "stdio", command: process.execPath, args: [inBench("systems/raw/server-stdio.ts")] }
      : { transport: "http", url: `http://127.0.0.1:${raw.port}/mcp` }
  const child = start("hosts/client.ts", { args: [system, era, JSON.stringify(target), text] })
  const close = async () => {
    await child.close()
    await raw?.child.close()
  }
  try {
    const ready = new Promise<ClientMessage>((resolve) => {
      child.process.on("message", (message) => {
        if (isClientMessage(message) && message.client === "ready") resolve(message)
      })
    })
    const message = await child.alive(ready)
    if (message.client !== "ready" || message.text !== text) throw new Error("The client has read another text")
  } catch (cause) {
    await close()
    throw cause
  }
  return {
    child,
    run: (milliseconds) =>
      child.alive(
        child.ask({ run: milliseconds, inFlight }, (reply) =>
          isClientMessage(reply) && reply.client === "ran" ? reply : undefined
        ),
        milliseconds + 30_000
      ),
    close
  }
}
