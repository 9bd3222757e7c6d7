/**
 * An exchange that stands for itself, as all do from 2026-07-28 on: whoever leaves it cancels the request (HTTP-18).
 */
import type * as JsonRpc from "../../protocol/JsonRpc.ts"
import type { Cancellable, Endpoint } from "./Endpoint.ts"
import { Exchange, type Host } from "./Exchange.ts"
import type { HttpHead } from "./HttpMessage.ts"
import * as Refusal from "./Refusal.ts"

/** What such an exchange needs of the server. */
export interface ModernHost extends Host {
  readonly endpoint: Endpoint
  /** What is being worked on. */
  readonly working: Set<Cancellable>
}

export class ModernExchange extends Exchange {
  readonly #host: ModernHost
  readonly #request: JsonRpc.Request
  #work: Cancellable | undefined

  constructor(host: ModernHost, head: HttpHead, request: JsonRpc.Request) {
    super(host, head)
    this.#host = host
    this.#request = request
  }

  protected begin(): void {
    const work = this.#host.endpoint.answer(this.#request, this, this)
    if (this.isDone) return
    this.#work = work
    this.#host.working.add(work)
  }

  protected statusOf(answer: JsonRpc.Response): number {
    return Refusal.statusOf(answer)
  }

  protected override left(): void {
    this.#work?.cancel()
  }

  /** The answer waits for a client that is slow to read, which is up to the stream. */
  unread(): void {}

  /** Everything is done. */
  landed(): void {
    if (this.#work !== undefined) this.#host.working.delete(this.#work)
  }
}
