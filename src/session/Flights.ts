/**
 * The requests of one peer that are being worked on, by id. Over HTTP several may share one.
 */
import * as Effect from "effect/Effect"
import type { RequestId } from "../protocol/JsonRpc.ts"
import type { Flight } from "./Flight.ts"

/** Requests in flight. */
export class Flights {
  readonly #byId = new Map<RequestId, Set<Flight>>()

  has(id: RequestId): boolean {
    return this.#byId.has(id)
  }

  add(flight: Flight): void {
    const flights = this.#byId.get(flight.id)
    if (flights === undefined) this.#byId.set(flight.id, new Set([flight]))
    else flights.add(flight)
  }

  delete(flight: Flight): void {
    // Whatever is done in one go was never added.
    if (this.#byId.size === 0) return
    const flights = this.#byId.get(flight.id)
    if (flights === undefined) return
    flights.delete(flight)
    if (flights.size === 0) this.#byId.delete(flight.id)
  }

  /** Interrupts the requests with this id. Whether there were any. */
  cancel(id: RequestId): boolean {
    const flights = this.#byId.get(id)
    if (flights === undefined) return false
    for (const flight of flights) flight.cancel()
    return true
  }

  /** Interrupts everything; the effect waits until it has ended. */
  cancelAll(): Effect.Effect<void> {
    const all = [...this.#byId.values()].flatMap((flights) => [...flights])
    for (const flight of all) flight.cancel()
    return Effect.forEach(all, (flight) => flight.landing, { discard: true })
  }
}
