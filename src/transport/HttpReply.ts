/**
 * What came back for one HTTP request: its head, and its body as JSON text or as events, read no further than needed
 * and no longer than allowed.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type * as JsonRpc from "../protocol/JsonRpc.ts"
import { McpError, Timeout } from "../protocol/McpError.ts"
import { nameOf } from "./HttpAsked.ts"
import type { ReceivedResponse } from "./HttpSender.ts"
import * as Sse from "./Sse.ts"

/** What a client knows about an event stream that it may have to take up again. */
export interface Cursor {
  /** The id of the last event that had one. */
  lastEventId: string | undefined
  /** What the server asked to wait before reconnecting, in milliseconds. */
  retry: number | undefined
}

/** Time in which an answered exchange may end by itself, so that its socket can be used again. */
const lingerTime = Duration.millis(250)

/** Time to wait for the text of an error, and the characters of it that are told. */
const excerptTime = Duration.seconds(1)
const excerptLength = 300

/** A response of which the head has arrived. */
export class Reply {
  readonly status: number
  /** The media type in lower case, without parameters such as the charset. Empty when the server gave none. */
  readonly mediaType: string
  /** Whether the body was read to its end. */
  isComplete = false
  readonly #response: ReceivedResponse
  readonly #maxMessageBytes: number

  constructor(response: ReceivedResponse, maxMessageBytes: number) {
    this.status = response.status
    this.mediaType = mediaTypeOf(response.headers["content-type"])
    this.#response = response
    this.#maxMessageBytes = maxMessageBytes
  }

  /** Whether the status is 2xx. */
  get isSuccess(): boolean {
    return this.status >= 200 && this.status < 300
  }

  /** Status and media type in words. */
  get summary(): string {
    return `status ${this.status}, ${this.mediaType === "" ? "no content type" : `content type ${this.mediaType}`}`
  }

  /** The value of a header. `name` is in lower case. */
  header(name: string): string | undefined {
    return this.#response.headers[name]
  }

  /** The whole body. Fails with a limit when it is longer than allowed. */
  get text(): Effect.Effect<string, McpError> {
    const length = Number(this.header("content-length"))
    if (length > this.#maxMessageBytes) return this.#tooLong
    // A compressed body is longer than its length says.
    const isKnown = this.header("content-length") !== undefined && this.header("content-encoding") === undefined
    return isKnown ? this.#readText : this.#collect
  }

  get #readText(): Effect.Effect<string, McpError> {
    return Effect.suspend(() => {
      this.isComplete = true
      return this.#response.text
    })
  }

  get #tooLong(): Effect.Effect<never, McpError> {
    return Effect.fail(
      McpError.limit("maxMessageBytes", `The server sent a message of more than ${this.#maxMessageBytes} bytes`)
    )
  }

  get #collect(): Effect.Effect<string, McpError> {
    return Effect.gen({ self: this }, function* () {
      const decoder = new TextDecoder()
      let text = ""
      let bytes = 0
      while (true) {
        const chunk = yield* this.#chunk
        if (chunk === undefined) return text + decoder.decode()
        for (const part of chunk) {
          bytes += part.length
          if (bytes > this.#maxMessageBytes) return yield* this.#tooLong
          text += decoder.decode(part, { stream: true })
        }
      }
    })
  }

  /** The beginning of the body, for a message to a person. Never fails, and never waits long. */
  get excerpt(): Effect.Effect<string> {
    return Effect.gen({ self: this }, function* () {
      const decoder = new TextDecoder()
      let text = ""
      while (text.length < excerptLength) {
        const chunk = yield* this.#chunk
        if (chunk === undefined) break
        for (const part of chunk) text += decoder.decode(part, { stream: true })
      }
      return text.replace(/\s+/g, " ").trim().slice(0, excerptLength)
    }).pipe(
      Effect.timeoutOrElse({ duration: excerptTime, orElse: () => Effect.succeed("") }),
      Effect.catch(() => Effect.succeed(""))
    )
  }

  /**
   * Hands the events of the body to `onEvent`, one after the other, until it says `true` or the body ends; the result
   * tells which. `cursor` is kept up to date. Fails with a transport failure when the stream breaks.
   */
  events(
    cursor: Cursor,
    onEvent: (event: Sse.Event) => Effect.Effect<boolean, McpError>
  ): Effect.Effect<boolean, McpError> {
    return Effect.gen({ self: this }, function* () {
      // The parser takes the byte order mark away, and must not find a second one missing.
      const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
      const parser = new Sse.Parser({ maxEventSize: this.#maxMessageBytes, lastEventId: cursor.lastEventId })
      while (true) {
        const chunk = yield* this.#chunk
        if (chunk === undefined) return false
        for (const part of chunk) {
          const events = parser.push(decoder.decode(part, { stream: true }))
          if (parser.retry !== undefined) cursor.retry = parser.retry
          for (const event of events) {
            const isLast = yield* onEvent(event)
            cursor.lastEventId = event.id
            if (isLast) return true
          }
          if (parser.exceeded) return yield* this.#tooLong
        }
      }
    })
  }

  /** Reads the rest of the body away, for a short time. */
  get drain(): Effect.Effect<void> {
    return this.#chunk.pipe(
      Effect.repeat({ until: (chunk) => chunk === undefined }),
      Effect.timeoutOption(lingerTime),
      Effect.ignore
    )
  }

  get #chunk(): ReceivedResponse["chunk"] {
    return Effect.tap(this.#response.chunk, (chunk) =>
      Effect.sync(() => {
        this.isComplete = chunk === undefined
      })
    )
  }
}

const mediaTypeOf = (contentType: string | undefined): string => {
  // Nearly always.
  if (contentType === undefined || contentType === "application/json") return contentType ?? ""
  return contentType.split(";", 1)[0]!.trim().toLowerCase()
}

/** Fails with `Timeout` when the reply to a message does not begin in time, if there is a limit. */
export const begunWithin = <A>(
  reply: Effect.Effect<A, McpError>,
  { answerTimeout }: { readonly answerTimeout?: Duration.Input | undefined },
  message: JsonRpc.Outgoing
): Effect.Effect<A, McpError> => {
  if (answerTimeout === undefined) return reply
  const method = nameOf(message)
  const after = Duration.toMillis(Duration.fromInputUnsafe(answerTimeout))
  return Effect.timeoutOrElse(reply, {
    duration: answerTimeout,
    orElse: () => Effect.fail(new McpError({ reason: new Timeout({ method, after }) }))
  })
}

/**
 * Opens an exchange, uses its reply, and closes it: at once when `use` fails or is interrupted, otherwise after what is
 * left of the body has been read away in `background`.
 */
export const withReply = <A>(
  open: (scope: Scope.Scope) => Effect.Effect<ReceivedResponse, McpError>,
  options: { readonly background: Scope.Scope; readonly maxMessageBytes: number },
  use: (reply: Reply) => Effect.Effect<A, McpError>
): Effect.Effect<A, McpError> =>
  Effect.uninterruptibleMask((restore) => {
    const scope = Scope.makeUnsafe()
    let reply: Reply | undefined
    const exchange = Effect.flatMap(open(scope), (response) => {
      reply = new Reply(response, options.maxMessageBytes)
      return use(reply)
    })
    return Effect.onExit(restore(exchange), (exit) => {
      const close = Scope.close(scope, Exit.void)
      if (reply === undefined || reply.isComplete || Exit.isFailure(exit)) return close
      if (options.background.state._tag === "Closed") return close
      return Effect.forkIn(Effect.ensuring(reply.drain, close), options.background, { startImmediately: true })
    })
  })
