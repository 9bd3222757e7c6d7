/**
 * Sends HTTP requests with `node:http` and nothing in between.
 */
import * as Http from "node:http"
import * as Https from "node:https"
import { urlToHttpOptions } from "node:url"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { McpError } from "../protocol/McpError.ts"
import { describe, HttpSender, type ReceivedResponse, type SentRequest } from "../transport/HttpSender.ts"
import { encodingOf } from "./TextEncoding.ts"

const decoder = new TextDecoder()

/** Host names may stand for several addresses, each with its own reason. */
const wordsOf = (cause: unknown): string => {
  if (cause instanceof AggregateError && cause.message === "") return cause.errors.map(wordsOf).join("; ")
  return cause instanceof Error ? describe(cause) : String(cause)
}

const nothing = () => {}

const cut = new Error("The connection was cut before the end of the response")

/** A request on its way, and the response to it. */
class Exchange implements ReceivedResponse {
  readonly #sent: SentRequest
  #request: Http.ClientRequest | undefined
  #response: Http.IncomingMessage | undefined
  #error: Error | undefined

  constructor(sent: SentRequest) {
    this.#sent = sent
  }

  get url(): string {
    return this.#sent.url
  }

  get status(): number {
    return this.#response?.statusCode ?? 0
  }

  get headers(): ReceivedResponse["headers"] {
    // Only Set-Cookie is a list, and nobody asks for it.
    return (this.#response?.headers ?? {}) as ReceivedResponse["headers"]
  }

  /** Sends the request; ends with the head of its response. */
  begin(target: Http.RequestOptions, agent: Http.Agent): Effect.Effect<ReceivedResponse, McpError> {
    return Effect.callback((resume) => {
      const { body, headers, method } = this.#sent
      try {
        const { request } = target.protocol === "https:" ? Https : Http
        this.#request = request({ ...target, method, headers, agent })
      } catch (cause) {
        return resume(this.#failed(cause))
      }
      this.#request.on("response", (response) => {
        this.#response = response
        response.on("error", (error) => (this.#error = error))
        resume(Effect.succeed(this))
      })
      this.#request.on("error", (cause) => resume(this.#failed(cause)))
      if (body === undefined) this.#request.end()
      else this.#request.end(body, encodingOf(body))
    })
  }

  get text(): Effect.Effect<string, McpError> {
    return this.#reading((response, resume) => {
      const parts: Array<Uint8Array> = []
      response.on("data", (part: Uint8Array) => parts.push(part))
      response.on("end", () => {
        const [first] = parts
        const text = Effect.succeed(decoder.decode(parts.length === 1 ? first : Buffer.concat(parts)))
        // By then the connection is free for what is sent next.
        queueMicrotask(() => resume(text))
      })
      // It is read to its end or not at all.
      return nothing
    })
  }

  get chunk(): ReceivedResponse["chunk"] {
    return this.#reading<ReadonlyArray<Uint8Array> | undefined>((response, resume) => {
      const take = (): boolean => {
        const bytes: Uint8Array | null = response.read()
        if (bytes !== null) resume(Effect.succeed([bytes]))
        else if (response.readableEnded) resume(Effect.succeed(undefined))
        else return false
        return true
      }
      if (take()) return nothing
      response.on("readable", take)
      response.on("end", take)
      return () => {
        response.off("readable", take)
        response.off("end", take)
      }
    })
  }

  /** Aborts what has not ended; what has leaves its connection to others. */
  close(): void {
    const response = this.#response
    if (response?.readableEnded === true) return
    if (response?.complete === true) response.resume()
    else this.#request?.destroy()
  }

  /** Reads once; `read` returns how to leave off, if it has not resumed yet. */
  #reading<A>(
    read: (response: Http.IncomingMessage, resume: (effect: Effect.Effect<A, McpError>) => void) => () => void
  ): Effect.Effect<A, McpError> {
    return Effect.callback((resume) => {
      const response = this.#response as Http.IncomingMessage // whoever has this object has it from `begin`
      let leave: () => void = nothing
      const done = (effect: Effect.Effect<A, McpError>) => {
        leave()
        response.off("close", onClose)
        resume(effect)
      }
      const onClose = () => {
        if (!response.readableEnded) done(this.#failed(this.#error ?? cut))
      }
      response.on("close", onClose)
      leave = read(response, done)
      if (response.destroyed) onClose()
      return Effect.sync(() => {
        leave()
        response.off("close", onClose)
      })
    })
  }

  #failed(cause: unknown): Effect.Effect<never, McpError> {
    const { method, url } = this.#sent
    const { origin, pathname } = new URL(url)
    return Effect.fail(McpError.transport(`${method} ${origin}${pathname} failed: ${wordsOf(cause)}`, { cause }))
  }
}

/**
 * A connection that is not used for so many milliseconds is closed, and earlier when the server says that it does so: what is
 * sent while the other end hangs up is lost, and nobody knows whether it has arrived. Without a time of its own Node does
 * not heed what the server says.
 */
const keeping = { keepAlive: true, timeout: 4000 }

/** Sends over connections of its own, which are kept for the next requests and end with the layer. */
export const layer: Layer.Layer<HttpSender> = Layer.effect(
  HttpSender,
  Effect.gen(function* () {
    const plain = new Http.Agent(keeping)
    const secure = new Https.Agent(keeping)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        plain.destroy()
        secure.destroy()
      })
    )
    // Nearly always the same one.
    let url: string | undefined
    let target: Http.RequestOptions = {}
    return {
      send: (request: SentRequest, scope: Scope.Scope) =>
        Effect.suspend(() => {
          if (request.url !== url) {
            target = urlToHttpOptions(new URL(request.url))
            url = request.url
          }
          const exchange = new Exchange(request)
          const aborting = Scope.addFinalizer(
            scope,
            Effect.sync(() => exchange.close())
          )
          return Effect.andThen(aborting, exchange.begin(target, target.protocol === "https:" ? secure : plain))
        })
    }
  })
)
