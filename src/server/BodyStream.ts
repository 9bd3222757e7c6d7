/**
 * A request body that arrives as a stream.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { McpError } from "../protocol/McpError.ts"

export const unreadable = (cause: unknown) => McpError.transport("The request body could not be read", { cause })

/** Reads a stream to its end, or until it has more than so many bytes. */
export const collect = (
  stream: Stream.Stream<Uint8Array, McpError>,
  maximumBytes: number
): Effect.Effect<Uint8Array, McpError> => {
  const chunks: Array<Uint8Array> = []
  let length = 0
  const read = Stream.runForEach(stream, (chunk) => {
    length += chunk.length
    chunks.push(chunk)
    return length > maximumBytes
      ? Effect.fail(McpError.limit("body", `The request body has more than ${maximumBytes} bytes`))
      : Effect.void
  })
  return Effect.map(read, () => joined(chunks))
}

/** The bytes of several chunks as one. */
export const joined = (chunks: ReadonlyArray<Uint8Array>): Uint8Array => {
  if (chunks.length === 1) return chunks[0] as Uint8Array
  const bytes = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0))
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}
