/**
 * What every connection over a byte stream shares: reading messages from a pull of bytes, one after the other.
 */
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import type * as JsonRpc from "../protocol/JsonRpc.ts"
import * as NewlineFraming from "./NewlineFraming.ts"

/** Chunks of bytes, one pull at a time; `Stream.toPull` makes it. */
export type Bytes<E> = Pull.Pull<readonly [Uint8Array, ...Array<Uint8Array>], E>

/** Hands every message to `onMessage`, in order, until the bytes end. The next bytes are asked for when it is done. */
export const readMessages = <E>(
  bytes: Bytes<E>,
  options: NewlineFraming.Options | undefined,
  onMessage: (message: JsonRpc.Incoming) => Effect.Effect<void>
): Effect.Effect<void, E> => {
  const decoder = NewlineFraming.makeDecoder(options)
  return bytes.pipe(
    Effect.flatMap((chunks) => handle(decoder, chunks, onMessage)),
    Effect.forever({ disableYield: true }),
    Pull.catchDone(() => Effect.void),
    Effect.andThen(Effect.suspend(() => Effect.forEach(decoder.end(), onMessage, { discard: true })))
  )
}

/** Nearly always there is nothing to wait for between two messages, and then this is a loop. */
const handle = (
  decoder: NewlineFraming.Decoder,
  chunks: ReadonlyArray<Uint8Array>,
  onMessage: (message: JsonRpc.Incoming) => Effect.Effect<void>
): Effect.Effect<void> => {
  let messages: ReadonlyArray<JsonRpc.Incoming> = []
  let chunk = 0
  let next = 0
  const go = (): Effect.Effect<void> => {
    while (true) {
      while (next < messages.length) {
        const handling = onMessage(messages[next++] as JsonRpc.Incoming)
        if (handling !== Effect.void) return Effect.flatMap(handling, go)
      }
      if (chunk === chunks.length) return Effect.void
      messages = decoder.push(chunks[chunk++] as Uint8Array)
      next = 0
    }
  }
  return go()
}
