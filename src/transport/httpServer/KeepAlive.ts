/**
 * Comments on idle event streams, so that proxies and clients don't take silence for death (SUBS-15). One fiber for
 * all streams; it ends when none is left.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Sse from "../Sse.ts"
import type { EventStream } from "./EventStream.ts"

/** The open event streams of a server. */
export class KeepAlive {
  readonly #interval: Duration.Input
  readonly #fork: (effect: Effect.Effect<void>) => Fiber.Fiber<void>
  readonly #streams = new Set<EventStream>()
  #running = false

  constructor(interval: Duration.Input, fork: (effect: Effect.Effect<void>) => Fiber.Fiber<void>) {
    this.#interval = interval
    this.#fork = fork
  }

  /** How many streams are open. */
  get size(): number {
    return this.#streams.size
  }

  /** Keeps a stream alive until it is closed; then nothing of it may be held on to. */
  add(stream: EventStream): void {
    this.#streams.add(stream)
    stream.onClosed(() => this.#streams.delete(stream))
    if (this.#running) return
    this.#running = true
    this.#fork(this.#beat)
  }

  /** Ends all streams. */
  end(): void {
    for (const stream of this.#streams) stream.end()
  }

  get #beat(): Effect.Effect<void> {
    const comment = Sse.comment("keep-alive")
    const write = Effect.sync(() => {
      for (const stream of this.#streams) stream.writeIfRead(comment)
    })
    return Effect.whileLoop({
      while: () => this.#streams.size > 0,
      body: () => Effect.andThen(Effect.sleep(this.#interval), write),
      step: () => {}
    }).pipe(Effect.ensuring(Effect.sync(() => (this.#running = false))))
  }
}
