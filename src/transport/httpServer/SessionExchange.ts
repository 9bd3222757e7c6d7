/**
 * An exchange in a session, up to 2025-11-25: whoever leaves it may come back for the answer, so leaving is not cancelling
 * (HTTP-17).
 */
import * as Effect from "effect/Effect"
import type * as JsonRpc from "../../protocol/JsonRpc.ts"
import { Exchange, type Host } from "./Exchange.ts"
import type { HttpHead } from "./HttpMessage.ts"
import type { HttpSession } from "./HttpSessions.ts"
import * as Refusal from "./Refusal.ts"
import type { SessionStream } from "./SessionStream.ts"

/** Streams that were delivered to their end, and are kept for a client that comes back. */
const streamsKept = 64

export class SessionExchange extends Exchange {
  readonly #host: Host
  readonly #session: HttpSession
  readonly #message: JsonRpc.Message | JsonRpc.Batch
  readonly #isFirst: boolean

  /** `isFirst` when it opens the session, whose id the response then tells. */
  constructor(
    host: Host,
    head: HttpHead,
    session: HttpSession,
    message: JsonRpc.Message | JsonRpc.Batch,
    isFirst = false
  ) {
    super(host, head)
    this.#host = host
    this.#session = session
    this.#message = message
    this.#isFirst = isFirst
  }

  protected begin(): void {
    const received = this.#session.peer.receive(this.#message, this)
    if (received !== Effect.void) this.#host.fork(received)
  }

  protected statusOf(answer: JsonRpc.Response): number {
    return Refusal.statusInSession(answer)
  }

  protected override get responseHeaders(): { readonly [name: string]: string } | undefined {
    return this.#isFirst ? { "mcp-session-id": this.#session.id } : undefined
  }

  protected override openSessionStream(): SessionStream {
    this.#session.prune(streamsKept)
    return this.#session.stream()
  }

  protected override get isResumable(): boolean {
    return this.#session.primes
  }
}
