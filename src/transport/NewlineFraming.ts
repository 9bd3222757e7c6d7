/**
 * One JSON message a line: the framing of stdio and of every other byte stream that borrows it (STDIO-01, STDIO-12).
 *
 * Lines are cut in bytes, at 0x0A and nowhere else, before anything is decoded. So no character is torn at a chunk edge,
 * and U+2028, U+2029 and U+0085 are text like any other.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
import * as JsonRpc from "../protocol/JsonRpc.ts"

const lineFeed = 0x0a
const carriageReturn = 0x0d
/** What some programs write before their first line. */
const byteOrderMark = 0xfeff

/** Bytes that one message may have when nothing else is said: 16 MiB. */
export const defaultMaxMessageBytes = 16 * 1024 * 1024

/** How a {@link Decoder} behaves. */
export interface Options {
  /**
   * The longest line that is accepted, in bytes without the line end. Of a longer one nothing is kept: it is reported
   * as one malformed message (`-32600`) as soon as the limit is passed, and reading goes on behind its line end.
   * Default: 16 MiB.
   */
  readonly maxMessageBytes?: number | undefined
  /** How deeply a message may nest; a deeper one is reported as malformed (`-32600`). Default: 128 levels. */
  readonly maxMessageDepth?: number | undefined
}

/** Turns chunks of bytes into messages. It has state: one decoder for one stream. */
export interface Decoder {
  /** The messages that this chunk completes, in order. The chunk is not kept. */
  readonly push: (chunk: Uint8Array) => ReadonlyArray<JsonRpc.Incoming>
  /** The stream has ended: what came after the last line end, as a message. */
  readonly end: () => ReadonlyArray<JsonRpc.Incoming>
}

/** A message as it goes on the wire: one line of JSON with its line end. JSON escapes every line feed in a string. */
export const encode = (message: JsonRpc.Outgoing): string => JsonRpc.stringify(message) + "\n"

const isBlank = (line: string): boolean => {
  for (let index = 0; index < line.length; index++) {
    const code = line.charCodeAt(index)
    if (code !== 0x20 && code !== 0x09 && code !== carriageReturn) return false
  }
  return true
}

/** The start of a line whose end has not come yet. Grows by doubling, so that a long line in small chunks costs linear time. */
class Partial {
  #bytes = new Uint8Array(0)
  length = 0

  append(piece: Uint8Array): void {
    const needed = this.length + piece.length
    if (needed > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2))
      grown.set(this.#bytes.subarray(0, this.length))
      this.#bytes = grown
    }
    this.#bytes.set(piece, this.length)
    this.length = needed
  }

  view(): Uint8Array {
    return this.#bytes.subarray(0, this.length)
  }

  clear(): void {
    this.length = 0
    if (this.#bytes.length > keptBytes) this.#bytes = new Uint8Array(0)
  }
}

/** A buffer up to this size stays for the next line; a larger one is given back. */
const keptBytes = 64 * 1024

const notUtf8 = () =>
  new JsonRpc.Malformed({
    code: JsonRpc.ErrorCode.ParseError,
    message: "Parse error: the message is not valid UTF-8"
  })

const tooLong = (maxMessageBytes: number) =>
  new JsonRpc.Malformed({
    code: JsonRpc.ErrorCode.InvalidRequest,
    message: `The message is longer than ${maxMessageBytes} bytes (maxMessageBytes)`
  })

/** Makes a decoder for one stream. */
export const makeDecoder = (options?: Options): Decoder => {
  const maxMessageBytes = options?.maxMessageBytes ?? defaultMaxMessageBytes
  const maxMessageDepth = options?.maxMessageDepth
  // The decoder would take a byte order mark only where it is given one first, which depends on how lines were cut.
  const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  const partial = new Partial()
  let skipping = false

  // JSON.parse takes a trailing carriage return for white space, so it needs no cutting.
  const readText = (text: string, into: Array<JsonRpc.Incoming>): void => {
    const line = text.charCodeAt(0) === byteOrderMark ? text.slice(1) : text
    if (!isBlank(line)) into.push(JsonRpc.parse(line, maxMessageDepth))
  }

  const decode = (bytes: Uint8Array): string | undefined => {
    try {
      return utf8.decode(bytes)
    } catch {
      return undefined
    }
  }

  const readLine = (line: Uint8Array, into: Array<JsonRpc.Incoming>): void => {
    if (line.length > maxMessageBytes) {
      into.push(tooLong(maxMessageBytes))
      return
    }
    const text = decode(line)
    if (text === undefined) into.push(notUtf8())
    else readText(text, into)
  }

  /** Whole lines, line ends included. Decoding them in one go is what makes many small messages cheap. */
  const readLines = (bytes: Uint8Array, into: Array<JsonRpc.Incoming>): void => {
    const text = bytes.length <= maxMessageBytes ? decode(bytes) : undefined
    if (text !== undefined) {
      let start = 0
      for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
        readText(text.slice(start, end), into)
        start = end + 1
      }
      return
    }
    // Something in there is not UTF-8, or may be too long: only the line it is in may suffer.
    let start = 0
    for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, start)) {
      readLine(bytes.subarray(start, end), into)
      start = end + 1
    }
  }

  const keep = (piece: Uint8Array, into: Array<JsonRpc.Incoming>): void => {
    if (skipping || piece.length === 0) return
    if (partial.length + piece.length > maxMessageBytes) {
      into.push(tooLong(maxMessageBytes))
      partial.clear()
      skipping = true
    } else {
      partial.append(piece)
    }
  }

  const finishPartial = (into: Array<JsonRpc.Incoming>): void => {
    if (partial.length > 0) readLine(partial.view(), into)
    partial.clear()
    skipping = false
  }

  const push = (chunk: Uint8Array): ReadonlyArray<JsonRpc.Incoming> => {
    const incoming: Array<JsonRpc.Incoming> = []
    let start = 0
    if (skipping || partial.length > 0) {
      const end = chunk.indexOf(lineFeed)
      if (end === -1) {
        keep(chunk, incoming)
        return incoming
      }
      keep(chunk.subarray(0, end), incoming)
      finishPartial(incoming)
      start = end + 1
    }
    const last = chunk.lastIndexOf(lineFeed)
    if (last >= start) {
      readLines(chunk.subarray(start, last + 1), incoming)
      start = last + 1
    }
    keep(chunk.subarray(start), incoming)
    return incoming
  }

  const end = (): ReadonlyArray<JsonRpc.Incoming> => {
    const incoming: Array<JsonRpc.Incoming> = []
    finishPartial(incoming)
    return incoming
  }

  return { push, end }
}
