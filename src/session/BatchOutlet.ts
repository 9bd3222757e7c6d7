/**
 * Where the requests of one batch are answered (BASE-15, 2025-03-26 only): the answers are kept until every request of the
 * batch has come to its end, and go out as one array. What is said meanwhile passes straight through.
 */
import * as Effect from "effect/Effect"
import * as JsonRpc from "../protocol/JsonRpc.ts"
import type { McpError } from "../protocol/McpError.ts"
import { type Outlet, sendNow, type SendOptions } from "../transport/Transport.ts"

/** The outlet of one batch. */
export class BatchOutlet implements Outlet {
  readonly #outlet: Outlet
  readonly #fork: (effect: Effect.Effect<void>) => void
  readonly #answers: Array<JsonRpc.Response> = []
  #owed: number

  /** `owed` messages of the batch have to be answered. */
  constructor(outlet: Outlet, owed: number, fork: (effect: Effect.Effect<void>) => void) {
    this.#outlet = outlet
    this.#owed = owed
    this.#fork = fork
  }

  get principal(): Outlet["principal"] {
    return this.#outlet.principal
  }

  get headers(): Outlet["headers"] {
    return this.#outlet.headers
  }

  get disconnect(): Outlet["disconnect"] {
    return this.#outlet.disconnect
  }

  readonly send = (message: JsonRpc.Outgoing, options?: SendOptions): Effect.Effect<void, McpError> =>
    Effect.suspend(() => this.sendUnsafe(message, options))

  readonly sendUnsafe = (message: JsonRpc.Outgoing, options?: SendOptions): Effect.Effect<void, McpError> => {
    if (!JsonRpc.isResponse(message)) return sendNow(this.#outlet, message, options)
    // A result that has no JSON must not take the others along.
    JsonRpc.stringify(message)
    this.#answers.push(message)
    return --this.#owed === 0 ? sendNow(this.#outlet, this.#answers) : Effect.void
  }

  /** One of the requests was cancelled. When that is so of all of them, there is nothing to send. */
  readonly unanswered = (): void => {
    if (--this.#owed > 0) return
    if (this.#answers.length === 0) return this.#outlet.unanswered?.()
    const sending = sendNow(this.#outlet, this.#answers)
    if (sending !== Effect.void) this.#fork(Effect.ignore(sending))
  }
}
