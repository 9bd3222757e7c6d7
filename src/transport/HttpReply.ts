/**
 * What came back for one HTTP request: its head, and its body as JSON text or as events, read no further than needed
 * and no longer than allowed.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Pull from "effect/Pull"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Headers from "effect/http/Headers"
import type * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import { McpError } from "../protocol/McpError.ts"
import { transportError } from "./HttpEndpoint.ts"
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

type Chunk = ReadonlyArray<Uint8Array> | undefined

/** A response of which the head has arrived. */
export class Reply {
  readonly status: number
  /** The media type in lower case, without parameters such as the charset. Empty when the server gave none. */
  readonly mediaType: string
  /** Whether the body was read to its end. */
  isComplete = false
  readonly #response: HttpClientResponse.HttpClientResponse
  readonly #headers: Headers.Headers
  readonly #scope: Scope.Scope
  readonly #maxMessageBytes: number
  #next: Effect.Effect<Chunk, McpError> | undefined

  constructor(response: HttpClientResponse.HttpClientResponse, scope: Scope.Scope, maxMessageBytes: number) {
    this.status = response.status
    this.#headers = response.headers
    this.mediaType = (this.#headers["content-type"] ?? "").split(";", 1)[0]!.trim().toLowerCase()
    this.#response = response
    this.#scope = scope
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
    return this.#headers[name]
  }

  /** The whole body. Fails with a limit when it is longer than allowed. */
  get text(): Effect.Effect<string, McpError> {
    const length = Number(this.header("content-length"))
    if (length > this.#maxMessageBytes) return this.#tooLong
    // A compressed body is longer than its length says.
    const isKnown = this.header("content-length") !== undefined && this.header("content-encoding") === undefined
    return isKnown ? this.#readText : this.#collect
  }

  readonly #readText: Effect.Effect<string, McpError> = Effect.suspend(() => {
    this.isComplete = true
    return Effect.mapError(this.#response.text, transportError)
  })

  get #tooLong(): Effect.Effect<never, McpError> {
    return Effect.fail(
      McpError.limit("maxMessageBytes", `The server sent a message of more than ${this.#maxMessageBytes} bytes`)
    )
  }

  readonly #collect: Effect.Effect<string, McpError> = Effect.gen({ self: this }, function* () {
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

  /** The beginning of the body, for a message to a person. Never fails, and never waits long. */
  readonly excerpt: Effect.Effect<string> = Effect.gen({ self: this }, function* () {
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
  readonly drain: Effect.Effect<void> = Effect.suspend(() => this.#chunk).pipe(
    Effect.repeat({ until: (chunk) => chunk === undefined }),
    Effect.timeoutOption(lingerTime),
    Effect.ignore
  )

  readonly #chunk: Effect.Effect<Chunk, McpError> = Effect.suspend(() => this.#next ?? this.#open)

  readonly #open: Effect.Effect<Chunk, McpError> = Effect.suspend(() =>
    Effect.flatMap(Scope.provide(Stream.toPull(this.#response.stream), this.#scope), (pull) => {
      this.#next = Effect.tap(nextChunk(pull), (chunk) =>
        Effect.sync(() => {
          this.isComplete = chunk === undefined
        })
      )
      return this.#next
    })
  )
}

const nextChunk = (
  pull: Pull.Pull<ReadonlyArray<Uint8Array>, HttpClientError.HttpClientError>
): Effect.Effect<Chunk, McpError> =>
  Pull.catchDone(pull, () => Effect.succeed(undefined)).pipe(
    Effect.catch((error) =>
      error.reason._tag === "EmptyBodyError" ? Effect.succeed(undefined) : Effect.fail(transportError(error))
    )
  )

/**
 * Opens an exchange, uses its reply, and closes it: at once when `use` fails or is interrupted, otherwise after what is
 * left of the body has been read away in `background`.
 */
export const withReply = <A>(
  open: Effect.Effect<HttpClientResponse.HttpClientResponse, McpError, Scope.Scope>,
  options: { readonly background: Scope.Scope; readonly maxMessageBytes: number },
  use: (reply: Reply) => Effect.Effect<A, McpError>
): Effect.Effect<A, McpError> =>
  Effect.uninterruptibleMask((restore) => {
    const scope = Scope.makeUnsafe()
    let reply: Reply | undefined
    const exchange = Effect.flatMap(Scope.provide(open, scope), (response) => {
      reply = new Reply(response, scope, options.maxMessageBytes)
      return use(reply)
    })
    return Effect.onExit(restore(exchange), (exit) => {
      const close = Scope.close(scope, Exit.void)
      if (reply === undefined || reply.isComplete || Exit.isFailure(exit)) return close
      if (options.background.state._tag === "Closed") return close
      return Effect.forkIn(Effect.ensuring(reply.drain, close), options.background, { startImmediately: true })
    })
  })
