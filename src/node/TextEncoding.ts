/**
 * How texts are written to Node's streams.
 */

/** The encoding of a text: one of as many bytes as characters is plain ASCII, which is written faster when that is known. */
export const encodingOf = (text: string, bytes = Buffer.byteLength(text)): "latin1" | "utf8" =>
  bytes === text.length ? "latin1" : "utf8"
