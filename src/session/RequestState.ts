/**
 * `requestState`: what a server must remember between two rounds of a request, kept by the client. It is encrypted
 * and authenticated, bound to the request and the caller, and expires; a client can only hand it back as it was
 * (MRTR-12, MRTR-14).
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Aead from "effect/crypto/Aead"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Base64Url from "effect/encoding/Base64Url"
import { McpError } from "../protocol/McpError.ts"

/** What is remembered between two rounds. */
export interface Memory {
  /** Answers of earlier rounds, by the key of their question. */
  readonly answers: { readonly [key: string]: unknown }
  /** Results of steps, by name. */
  readonly steps: { readonly [name: string]: unknown }
}

/** How memories are sealed and opened. */
export interface Sealing {
  /** Seals a memory for the request that `binding` describes. */
  readonly seal: (memory: Memory, binding: string) => Effect.Effect<string>
  /** Opens what `seal` made; fails with `-32602` when it was changed, has expired, or belongs elsewhere. */
  readonly open: (sealed: string, binding: string) => Effect.Effect<Memory, McpError>
}

/** Seals and opens `requestState`. A server without this service makes its own, with a random key. */
export class RequestState extends Context.Service<RequestState, Sealing>()("mcp-effect/session/RequestState") {}

/** Options of {@link make}. */
export interface Options {
  /**
   * 32-byte keys, newest first. The first seals, all of them open, so a key is rotated by putting a new one in front.
   * Servers that share keys can answer each other's rounds. Default: one random key, known to this process alone.
   */
  readonly keys?: ReadonlyArray<Redacted.Redacted<Uint8Array>> | undefined
  /** How long a client may take to answer. Default 10 minutes. */
  readonly lifetime?: Duration.Input | undefined
}

const algorithm = Aead.xchacha20Poly1305
const encoder = new TextEncoder()
const decoder = new TextDecoder()
const rejected = () =>
  McpError.invalidParams("requestState is not valid for this request; send the request anew without it")

/** Makes the service. A key that has not 32 bytes is a mistake in the program and dies with a message that says so. */
export const make = (options: Options = {}): Effect.Effect<Sealing> => {
  const sealing = makeSealing(options)
  if (options.keys !== undefined && options.keys.length > 0) return sealing
  // Most servers never seal anything, and start sooner without cryptography.
  return Effect.map(Effect.cached(sealing), (made) => ({
    seal: (memory, binding) => Effect.flatMap(made, ({ seal }) => seal(memory, binding)),
    open: (sealed, binding) => Effect.flatMap(made, ({ open }) => open(sealed, binding))
  }))
}

const makeSealing = (options: Options): Effect.Effect<Sealing> =>
  Effect.gen(function* () {
    const aead = yield* Aead.Aead
    const random = yield* SecureRandom.SecureRandom
    const lifetime = Duration.toMillis(Duration.fromInputUnsafe(options.lifetime ?? Duration.minutes(10)))
    const given = yield* Effect.forEach(options.keys ?? [], (key) => Aead.key(algorithm, Redacted.value(key)))
    const keys = given.length > 0 ? given : [yield* aead.generateKey(algorithm)]

    const seal = Effect.fnUntraced(function* (memory: Memory, binding: string) {
      const [key] = keys
      const nonce = yield* random.randomBytes(algorithm.nonceLength)
      const expires = (yield* Clock.currentTimeMillis) + lifetime
      const plaintext = encoder.encode(JSON.stringify({ expires, ...memory }))
      const sealed = yield* aead.encrypt(key as Aead.Key, plaintext, { nonce, aad: encoder.encode(binding) })
      const bytes = new Uint8Array(nonce.length + sealed.length)
      bytes.set(nonce)
      bytes.set(sealed, nonce.length)
      return Base64Url.encode(bytes)
    }, Effect.orDie)

    const open = Effect.fnUntraced(function* (sealed: string, binding: string) {
      const bytes = Base64Url.decode(sealed)
      if (Result.isFailure(bytes) || bytes.success.length <= algorithm.nonceLength) return yield* rejected()
      const nonce = bytes.success.subarray(0, algorithm.nonceLength)
      const ciphertext = bytes.success.subarray(algorithm.nonceLength)
      const aad = encoder.encode(binding)
      for (const key of keys) {
        const plaintext = yield* Effect.option(aead.decrypt(key, ciphertext, { nonce, aad }))
        if (Option.isNone(plaintext)) continue
        const { answers, expires, steps } = JSON.parse(decoder.decode(plaintext.value)) as Memory & { expires: number }
        if (expires < (yield* Clock.currentTimeMillis)) return yield* rejected()
        return { answers, steps }
      }
      return yield* rejected()
    })

    return { seal, open } satisfies Sealing
  }).pipe(Effect.orDie, Effect.provide(Aead.layerWebCrypto.pipe(Layer.provideMerge(SecureRandom.layerWebCrypto))))

/**
 * Provides the service with keys of one's own, for servers that run in more than one process or must survive a
 * restart between two rounds.
 *
 * @example
 * ```ts
 * import { Layer, Redacted } from "effect"
 * import { McpServer, RequestState } from "mcp-effect"
 * import { Stdio } from "mcp-effect/node"
 *
 * const server = McpServer.make({ name: "demo", version: "1.0.0" })
 * const key = Redacted.make(Buffer.from(process.env.STATE_KEY ?? "", "base64"))
 *
 * const main = McpServer.layer(server).pipe(
 *   Layer.provide(RequestState.layer({ keys: [key], lifetime: "5 minutes" })),
 *   Layer.provide(Stdio.layerServer)
 * )
 * ```
 */
export const layer = (options: Options): Layer.Layer<RequestState> => Layer.effect(RequestState, make(options))

/** JSON with sorted members, so that two spellings of the same request bind alike. */
export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`
  if (!Predicate.isObject(value)) return JSON.stringify(value) ?? "null"
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  members.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(",")}}`
}
