/**
 * What every connection over a byte stream shares: pipes, and messages in what comes through them.
 */
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import type * as JsonRpc from "../protocol/JsonRpc.ts"
import * as NewlineFraming from "./NewlineFraming.ts"
import type { OutputQueue } from "./OutputQueue.ts"

/**
 * Hands every chunk of bytes to `onChunk`, one after the other, until the bytes end; the next one waits until the effect
 * of the one before has ended. That is `Effect.void` nearly always, and then there is nothing to run.
 */
export type Read<E> = (onChunk: (chunk: Uint8Array) => Effect.Effect<void>) => Effect.Effect<void, E>

/** Both directions of a byte stream. */
export interface Pipes {
  /** What comes. One reads at a time; what nobody has read waits for the next. */
  readonly read: Read<unknown>
  /** Writes what is queued until the queue ends, and then the end. Fails when nobody reads. */
  readonly write: (output: OutputQueue) => Effect.Effect<void, unknown>
}

/** Reads from a pull, such as `Stream.toPull` makes. */
export const fromPull =
  <E>(pull: Pull.Pull<ReadonlyArray<Uint8Array>, E>): Read<E> =>
  (onChunk) =>
    pull.pipe(
      Effect.flatMap((chunks) => forEach(chunks, onChunk)),
      Effect.forever({ disableYield: true }),
      Pull.catchDone(() => Effect.void)
    )

/** Hands every message to `onMessage`, in order, until the bytes end. Nothing more is read until it is done. */
export const readMessages = <E>(
  read: Read<E>,
  options: NewlineFraming.Options | undefined,
  onMessage: (message: JsonRpc.Incoming) => Effect.Effect<void>
): Effect.Effect<void, E> => {
  const decoder = NewlineFraming.makeDecoder(options)
  return Effect.andThen(
    read((chunk) => forEach(decoder.push(chunk), onMessage)),
    Effect.suspend(() => forEach(decoder.end(), onMessage))
  )
}

/** Nearly always there is nothing to wait for between two of them, and then this is a loop. */
const forEach = <A>(items: ReadonlyArray<A>, onItem: (item: A) => Effect.Effect<void>): Effect.Effect<void> => {
  let next = 0
  const go = (): Effect.Effect<void> => {
    while (next < items.length) {
      const handling = onItem(items[next++] as A)
      if (handling !== Effect.void) return Effect.flatMap(handling, go)
    }
    return Effect.void
  }
  return go()
}
