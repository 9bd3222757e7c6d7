/**
 * One direction of a simulated link: lines of JSON as bytes, with everything that can happen to them on the way.
 */
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import type * as JsonRpc from "../protocol/JsonRpc.ts"
import { McpError } from "../protocol/McpError.ts"
import * as NewlineFraming from "../transport/NewlineFraming.ts"
import { type Dice, type Faults, pause } from "./Faults.ts"

/** Bytes on their way before a sender has to wait. */
const capacity = 16 * 1024

const encoder = new TextEncoder()

/** A direction. `onKill` breaks the link that it belongs to. */
export class SimulatedPipe {
  readonly #dice: Dice
  readonly #faults: Faults
  readonly #onKill: () => void
  readonly #ready = Latch.makeUnsafe(false)
  readonly #room = Latch.makeUnsafe(true)
  #bytes = new Uint8Array(0)
  #ended = false
  #failure: McpError | undefined

  constructor(dice: Dice, faults: Faults, onKill: () => void) {
    this.#dice = dice
    this.#faults = faults
    this.#onKill = onKill
  }

  /** Sends a message, which may be lost on the way. Waits while too much is on its way already. */
  send(message: JsonRpc.Outgoing): Effect.Effect<void, McpError> {
    return Effect.suspend(() => {
      if (this.#failure !== undefined) return Effect.fail(this.#failure)
      if (this.#ended) return Effect.fail(McpError.closed("The connection is closed"))
      const line = NewlineFraming.encode(message)
      if (this.#dice.chance(this.#faults.drop)) return Effect.void
      this.#append(this.#dice.chance(this.#faults.duplicate) ? line + line : line)
      if (this.#bytes.length <= capacity) return Effect.void
      this.#room.closeUnsafe()
      return Effect.andThen(
        this.#room.await,
        Effect.suspend(() => (this.#failure === undefined ? Effect.void : Effect.fail(this.#failure)))
      )
    })
  }

  /** The sender hangs up: what is on its way still arrives. */
  end(): void {
    this.#ended = true
    this.#ready.openUnsafe()
  }

  /** Nothing arrives any more, and nothing can be sent. */
  fail(error: McpError): void {
    this.#failure ??= error
    this.#bytes = new Uint8Array(0)
    this.#ready.openUnsafe()
    this.#room.openUnsafe()
  }

  /** Hands messages over as they arrive, until the sender hangs up (ends) or the link breaks (fails). */
  run(onMessage: (message: JsonRpc.Incoming) => Effect.Effect<void>): Effect.Effect<void, McpError> {
    return Effect.gen({ self: this }, function* () {
      const decoder = NewlineFraming.makeDecoder()
      while (true) {
        yield* this.#ready.await
        yield* pause(this.#dice, this.#faults)
        if (this.#failure !== undefined) return yield* this.#failure
        if (this.#bytes.length === 0) {
          if (this.#ended) return
          continue
        }
        if (this.#dice.chance(this.#faults.kill)) this.#onKill()
        for (const message of decoder.push(this.#take())) yield* onMessage(message)
      }
    })
  }

  #append(text: string): void {
    const more = encoder.encode(text)
    const all = new Uint8Array(this.#bytes.length + more.length)
    all.set(this.#bytes)
    all.set(more, this.#bytes.length)
    this.#bytes = all
    this.#ready.openUnsafe()
  }

  #take(): Uint8Array {
    const { length } = this.#bytes
    const end = length > 1 && this.#dice.chance(this.#faults.split) ? 1 + this.#dice.below(length - 1) : length
    const taken = this.#bytes.subarray(0, end)
    this.#bytes = this.#bytes.slice(end)
    if (this.#bytes.length === 0 && !this.#ended && this.#failure === undefined) this.#ready.closeUnsafe()
    if (this.#bytes.length <= capacity) this.#room.openUnsafe()
    return taken
  }
}
