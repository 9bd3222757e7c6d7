/**
 * A server's standard error, as its client sees it: always read, so that the server never blocks on it; remembered a
 * little; passed on if somebody wants it (STDIO-04, STDIO-05).
 */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type { Read } from "./ByteStream.ts"

/** What is done with the lines: nothing, copied to our standard error, or given to a function, one after the other. */
export type StderrOption = "ignore" | "inherit" | ((line: string) => Effect.Effect<void>)

/** Standard error that is being read. */
export interface Stderr {
  /** The last 4 Ki characters of it. */
  readonly tail: () => string
  /** Ends when there is no more. */
  readonly drained: Effect.Effect<void>
}

const tailLength = 4 * 1024

/** A line that gets longer is passed on in pieces of this many characters. */
const longestLine = 64 * 1024

/** Reads standard error in the background until it ends or the scope closes. Text that is not UTF-8 is made readable. */
export const makeStderr = Effect.fnUntraced(function* <E>(
  read: Read<E>,
  option: StderrOption = "ignore"
): Effect.fn.Return<Stderr, never, Scope.Scope> {
  const handleLine = typeof option === "function" ? option : option === "inherit" ? Console.error : undefined
  const utf8 = new TextDecoder()
  let tail = ""
  let line = ""

  const passOn = (text: string): Effect.Effect<void> => {
    if (handleLine === undefined) return Effect.void
    const [first = "", ...others] = text.split("\n")
    const lines = [line + first, ...others]
    line = lines.pop() ?? ""
    if (line.length > longestLine) {
      lines.push(line)
      line = ""
    }
    return Effect.forEach(lines, (each) => handleLine(each.endsWith("\r") ? each.slice(0, -1) : each), {
      discard: true
    })
  }
  const remember = (text: string): Effect.Effect<void> => {
    tail = (tail + text).slice(-tailLength)
    return passOn(text)
  }

  const reading = read((chunk) => {
    const handling = remember(utf8.decode(chunk, { stream: true }))
    if (handling === Effect.void) return handling
    // Reading must go on whatever the function does.
    return Effect.catchCause(handling, (cause) =>
      Effect.logWarning("Handling a line of the server's standard error failed", cause)
    )
  })
  const fiber = yield* reading.pipe(
    Effect.ignore,
    Effect.andThen(Effect.suspend(() => (line === "" ? Effect.void : passOn("\n")))),
    Effect.forkScoped
  )
  return { tail: () => tail, drained: Effect.asVoid(Fiber.await(fiber)) }
})
