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
export const readMessages = Effect.fnUntraced(function* <E>(
  bytes: Bytes<E>,
  options: NewlineFraming.Options | undefined,
  onMessage: (message: JsonRpc.Incoming) => Effect.Effect<void>
): Effect.fn.Return<void, E> {
  const decoder = NewlineFraming.makeDecoder(options)
  const readChunks = Effect.fnUntraced(function* (chunks: ReadonlyArray<Uint8Array>) {
    for (const chunk of chunks) {
      for (const message of decoder.push(chunk)) {
        const handling = onMessage(message)
        // Nearly always there is nothing to wait for before the next one.
        if (handling !== Effect.void) yield* handling
      }
    }
  })
  yield* bytes.pipe(
    Effect.flatMap(readChunks),
    Effect.forever({ disableYield: true }),
    Pull.catchDone(() => Effect.void)
  )
  for (const message of decoder.end()) yield* onMessage(message)
})
