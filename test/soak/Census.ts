/**
 * What a process holds: its heap after garbage collection, and how many of each kind of thing are still reachable.
 */
import { Effect } from "effect"
import { setImmediate as turn } from "node:timers/promises"
import { queryObjects } from "node:v8"
import { ServerPeer } from "../../src/server/ServerPeer.ts"
import { Call } from "../../src/session/Calls.ts"
import { Flight } from "../../src/session/Flight.ts"
import { Session } from "../../src/session/Session.ts"
import { EventStream } from "../../src/transport/httpServer/EventStream.ts"
import { Exchange } from "../../src/transport/httpServer/Exchange.ts"
import { HttpSession } from "../../src/transport/httpServer/HttpSessions.ts"
import { SessionStream } from "../../src/transport/httpServer/SessionStream.ts"

/** How many there are of each kind. */
export interface Counts {
  readonly [kind: string]: number
}

/** What a process holds. */
export interface Census {
  /** Bytes in use on V8's heap. */
  readonly heap: number
  readonly counts: Counts
  /** Errors that were logged, and promises and exceptions that nobody handled, since the process began. */
  readonly unhandled: number
}

/** One entry that counts what went wrong in this process without being anybody's answer. */
export const unhandled = { count: 0 }

/** Counts what nobody handles instead of dying of it, and says what it was on standard error. */
export const countUnhandled = (): void => {
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (cause: unknown) => {
      unhandled.count++
      process.stderr.write(`${event}: ${cause instanceof Error ? cause.stack : String(cause)}\n`)
    })
  }
}

const kinds = { ServerPeer, Session, Call, Flight, HttpSession, Exchange, EventStream, SessionStream }

const FiberClass = Effect.runFork(Effect.void).constructor

const sockets = () => process.getActiveResourcesInfo().filter((name) => /^(TCPSocketWrap|PipeWrap)$/.test(name)).length

/** Collects garbage and counts what is left. Needs `node --expose-gc`. */
export const takeCensus = async (): Promise<Census> => {
  // What was let go of by one round of finalizers is collected in the next.
  for (let round = 0; round < 4; round++) {
    await globalThis.gc?.({ execution: "async", type: "major" })
    await turn()
  }
  const counts: { [kind: string]: number } = { Fiber: queryObjects(FiberClass, { format: "count" }) }
  for (const [kind, type] of Object.entries(kinds)) counts[kind] = queryObjects(type, { format: "count" })
  counts.socket = sockets()
  return { heap: process.memoryUsage().heapUsed, counts, unhandled: unhandled.count }
}
