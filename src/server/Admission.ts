/**
 * What one caller may have under way at a time where no connection tells its requests from those of others: over HTTP, from
 * 2026-07-28 on. Callers are told apart by their principal; what those without one may have is up to the HTTP server.
 */
import type { Request } from "../protocol/JsonRpc.ts"
import { McpError } from "../protocol/McpError.ts"
import type { Limits } from "../session/Limits.ts"
import type { Principal } from "../transport/Transport.ts"

interface Caller {
  requests: number
  listeners: number
}

/** Why one more request of a peer is too many. */
export const tooMany = (what: "requestsInFlight" | "listeners", most: number): McpError => {
  const name = what === "listeners" ? "open listeners" : "requests in flight"
  return McpError.limit(what, `Too many ${name}: at most ${most}`)
}

/** Counts the requests of all callers. */
export class Admission {
  readonly #limits: Limits
  readonly #callers = new Map<string, Caller>()

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /** Why the request is not let in; or else what has to be called when it is over, if anything. */
  admit(request: Request, principal: Principal | undefined): McpError | (() => void) | undefined {
    if (principal === undefined) return undefined
    const { subject } = principal
    const { listeners, requestsInFlight } = this.#limits
    const listens = request.method === "subscriptions/listen" ? 1 : 0
    const caller = this.#callers.get(subject) ?? { requests: 0, listeners: 0 }
    if (caller.requests >= requestsInFlight) return tooMany("requestsInFlight", requestsInFlight)
    if (caller.listeners + listens > listeners) return tooMany("listeners", listeners)
    caller.requests++
    caller.listeners += listens
    this.#callers.set(subject, caller)
    return () => {
      caller.requests--
      caller.listeners -= listens
      if (caller.requests === 0) this.#callers.delete(subject)
    }
  }
}
