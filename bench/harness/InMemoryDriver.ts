/** Drives a server in memory, in a process of its own where the two are alone. */
import type { HostMessage } from "../hosts/in-memory.ts"
import type { Era } from "../systems/echo.ts"
import { start } from "./Child.ts"
import type { Contestant } from "./Contestant.ts"
import type { Expectation } from "./Expectation.ts"
import type { Template } from "./messages.ts"

/** A workload in memory: one request after the other. */
export interface InMemoryWorkload {
  readonly era: Era
  readonly request: Template
  readonly expect: Expectation
}

const isHostMessage = (value: unknown): value is HostMessage =>
  typeof value === "object" && value !== null && "host" in value

/** Opens a host and checks the answer of its server. */
export const open = async (
  system: string,
  { era, expect, request }: InMemoryWorkload,
  env: { readonly [name: string]: string } = {}
): Promise<Contestant> => {
  const child = start("hosts/in-memory.ts", { args: [system, era], env })
  try {
    const ready = child.ask({ request }, (reply) =>
      isHostMessage(reply) && reply.host === "ready" ? reply : undefined
    )
    expect((await child.alive(ready)).messages)
  } catch (cause) {
    await child.close()
    throw cause
  }
  return {
    child,
    run: (milliseconds) =>
      child.alive(
        child.ask({ run: milliseconds }, (reply) => (isHostMessage(reply) && reply.host === "ran" ? reply : undefined)),
        milliseconds + 30_000
      ),
    close: () => child.close()
  }
}
