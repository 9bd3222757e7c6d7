/**
 * Requests of ours that go out as one array (BASE-14, 2025-03-26 only). Each of them is still a request of its own: it
 * fails when sending fails, and giving up one does not disturb the others.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as JsonRpc from "../protocol/JsonRpc.ts"
import type { McpError } from "../protocol/McpError.ts"
import { type Outlet, sendNow, type SendOptions } from "../transport/Transport.ts"

/** Takes messages until {@link OutgoingBatch.flush} sends them; what comes later goes out by itself. */
export class OutgoingBatch implements Outlet {
  readonly #outlet: Outlet
  readonly #fork: (effect: Effect.Effect<void, McpError>) => Fiber.Fiber<void, McpError>
  #messages: Array<JsonRpc.Message> | undefined = []
  #sending: Fiber.Fiber<void, McpError> | undefined
  /** Requests that wait until the array is sent. */
  readonly #waiting = new Set<(sent: Effect.Effect<void, McpError>) => void>()

  constructor(outlet: Outlet, fork: (effect: Effect.Effect<void, McpError>) => Fiber.Fiber<void, McpError>) {
    this.#outlet = outlet
    this.#fork = fork
  }

  readonly send = (message: JsonRpc.Outgoing, options?: SendOptions): Effect.Effect<void, McpError> =>
    Effect.suspend(() => this.sendUnsafe(message, options))

  readonly sendUnsafe = (message: JsonRpc.Outgoing, options?: SendOptions): Effect.Effect<void, McpError> => {
    if (this.#messages === undefined || JsonRpc.isBatch(message)) return sendNow(this.#outlet, message, options)
    this.#messages.push(message)
    return JsonRpc.isRequest(message) ? this.#sent : Effect.void
  }

  /** Sends what was taken. One message alone needs no array. */
  flush(): void {
    const messages = this.#messages ?? []
    this.#messages = undefined
    const [first] = messages
    if (first === undefined) return
    const sending = sendNow(this.#outlet, messages.length === 1 ? first : messages)
    if (sending === Effect.void) return this.#done(Exit.void)
    const fiber = this.#fork(sending)
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) return this.#done(exit)
    this.#sending = fiber
    fiber.addObserver((exit) => this.#done(exit))
  }

  #done(exit: Exit.Exit<void, McpError>): void {
    this.#sending = undefined
    for (const resume of this.#waiting) resume(exit)
    this.#waiting.clear()
  }

  // Over HTTP sending lasts until all answers are there, so it ends when nobody waits for one any more.
  readonly #sent: Effect.Effect<void, McpError> = Effect.callback<void, McpError>((resume) => {
    this.#waiting.add(resume)
    return Effect.sync(() => {
      this.#waiting.delete(resume)
      if (this.#waiting.size === 0) this.#sending?.interruptUnsafe()
    })
  })
}
