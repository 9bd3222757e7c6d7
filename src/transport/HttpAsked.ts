/**
 * What one POST asks: the requests in it that still wait for their answers. Nearly always that is one; a batch
 * (2025-03-26) may hold several.
 */
import * as JsonRpc from "../protocol/JsonRpc.ts"

/** How a message, or an array of them, is named in errors. */
export const nameOf = (message: JsonRpc.Outgoing): string => {
  if (JsonRpc.isBatch(message)) return "A batch"
  return "method" in message ? message.method : "An answer"
}

/** The requests of one POST. Made with {@link from}. */
export class Asked {
  /** How they are named in errors. */
  readonly name: string
  /** Their ids. */
  readonly ids: ReadonlyArray<JsonRpc.RequestId>
  readonly #waiting: Set<JsonRpc.RequestId>

  constructor(name: string, ids: ReadonlyArray<JsonRpc.RequestId>) {
    this.name = name
    this.ids = ids
    this.#waiting = new Set(ids)
  }

  /** Whether nothing more is waited for. */
  get isAnswered(): boolean {
    return this.#waiting.size === 0
  }

  /**
   * The response as answers to those that wait. A failure gets the id of a request when it came without one, because the
   * server could not read it (A31), or when it is all that there is in the reply; then it is the answer to all of them.
   */
  answersIn(response: JsonRpc.Response, isWholeReply: boolean): ReadonlyArray<JsonRpc.Response> {
    if (response.id !== undefined && this.#waiting.has(response.id)) return [response]
    if (!("error" in response)) return []
    const isMeant = isWholeReply || (response.id === undefined && this.#waiting.size === 1)
    return isMeant ? [...this.#waiting].map((id) => JsonRpc.error(id, response.error)) : []
  }

  /** An answer has come. Whether it was waited for. */
  answered(id: JsonRpc.RequestId | undefined): boolean {
    return id !== undefined && this.#waiting.delete(id)
  }

  /** One of several need no longer be waited for: it was cancelled, and may never be answered. */
  giveUp(id: JsonRpc.RequestId): void {
    // Whoever gives up the last one interrupts the exchange.
    if (this.#waiting.size > 1) this.#waiting.delete(id)
  }
}

/** What a message, or an array of them, asks; `undefined` when it holds no request. */
export const from = (message: JsonRpc.Outgoing): Asked | undefined => {
  const ids = (JsonRpc.isBatch(message) ? message : [message]).filter(JsonRpc.isRequest).map(({ id }) => id)
  return ids.length === 0 ? undefined : new Asked(JsonRpc.isBatch(message) ? "a batch" : nameOf(message), ids)
}
