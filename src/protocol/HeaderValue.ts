/**
 * How a string travels in an HTTP header: as it is when it is plain ASCII, otherwise as `=?base64?…?=`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#value-encoding
 */
import * as Result from "effect/Result"
import * as Base64 from "effect/encoding/Base64"

/**
 * Reads a header by its name, which must be compared ignoring case (HDR-04). A header that came more than once may be
 * given as a list; one that was joined with commas then fails to compare.
 */
export type HeaderLookup = (name: string) => string | ReadonlyArray<string> | null | undefined

const opening = "=?base64?"
const closing = "?="
const plain = /^[\x20-\x7e]*$/
const allowed = /^[\t\x20-\x7e]*$/

/** A string as a header value that no HTTP stack changes (HDR-14, HDR-15). Lone surrogates become U+FFFD. */
export const encode = (value: string): string => (isPlain(value) ? value : opening + Base64.encode(value) + closing)

/** Whether a string is a header value as it is. */
export const isPlain = (value: string): boolean =>
  plain.test(value) && !value.startsWith(" ") && !value.endsWith(" ") && !looksEncoded(value)

// Broader than what `decode` takes for encoded, so that no reader can mistake a plain value.
const looksEncoded = (value: string): boolean => value.startsWith(opening) && value.endsWith(closing)

/**
 * The string that a header value stands for (HDR-16). White space around the value is not part of it (RFC 9110).
 * Fails, with the reason, for characters that a header can't have and for Base64 that is malformed or not UTF-8.
 */
export const decode = (header: string): Result.Result<string, string> => {
  if (!allowed.test(header)) return Result.fail("it has characters that a header can't have")
  const value = header.replace(/^[\t ]+/, "").trimEnd()
  if (!looksEncoded(value) || value.length < opening.length + closing.length) return Result.succeed(value)
  const payload = value.slice(opening.length, -closing.length)
  const bytes = Base64.decode(payload)
  // Encoding again finds what lenient decoders let through: line ends, missing padding, stray bits.
  if (Result.isFailure(bytes) || Base64.encode(bytes.success) !== payload) {
    return Result.fail("its Base64 is malformed")
  }
  try {
    return Result.succeed(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes.success))
  } catch {
    return Result.fail("its Base64 does not hold UTF-8")
  }
}

/** The one value of a header: `undefined` when absent, a failure when it came more than once. */
export const single = (getHeader: HeaderLookup, name: string): Result.Result<string | undefined, string> => {
  const found = getHeader(name)
  if (found === null || found === undefined) return Result.succeed(undefined)
  if (typeof found === "string") return Result.succeed(found)
  return found.length > 1 ? Result.fail(`${name} header came ${found.length} times`) : Result.succeed(found[0])
}
