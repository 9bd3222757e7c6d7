/**
 * The laws that every transport has to keep, as tests for your own: order, any text unchanged, an end from either side,
 * backpressure, many connections at once, interruption.
 *
 * Both ends are needed: a layer that provides a `ClientTransport` and the `ServerTransport` that it reaches. The laws
 * wait for real sockets, processes and threads, so they need the real clock: with `@effect/vitest` that is `it.live`.
 */
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { McpError } from "../protocol/McpError.ts"
import type { ClientTransport, ServerTransport } from "../transport/Transport.ts"
import { laws, malformed, type SendRaw } from "./Laws.ts"
import * as LawLink from "./LawLink.ts"

export { LawBroken } from "./LawLink.ts"
export type { SendRaw } from "./Laws.ts"

/** The name of a law. */
export type LawName = keyof typeof laws | "malformed input"

/** A law: a program that fails, with `LawBroken` for one, when a transport does not keep it. */
export interface Law {
  /** What it is called in reports. */
  readonly name: LawName
  /** Succeeds when the transport keeps it. */
  readonly check: Effect.Effect<void, LawLink.LawBroken | McpError, ClientTransport | ServerTransport>
}

/** Every law but that of malformed input, for a test runner of another kind than {@link suite} knows. */
export const all: ReadonlyArray<Law> = Object.entries(laws).map(([name, law]) => ({
  name: name as keyof typeof laws,
  check: Effect.scoped(Effect.flatMap(LawLink.make, law))
}))

/** Registers one test. */
export type RegisterTest = (name: string, self: () => Effect.Effect<void, unknown>, timeout?: number) => void

/** The functions of a test runner, such as `describe` and `it.live` of `@effect/vitest`. */
export interface Runner {
  /** Groups tests. */
  readonly describe: (name: string, body: () => void) => void
  /** Laws that are left out are registered with `skip`, where there is one. */
  readonly test: RegisterTest & { readonly skip?: RegisterTest }
}

/** Options of {@link suite}. */
export interface Options<R> {
  /** Laws that this transport can't keep, each with the reason. */
  readonly omit?: { readonly [name in LawName]?: string } | undefined
  /**
   * Opens a connection to the server beside the client, and gives a way to send any text on it, framed as the transport
   * does it. Without it the law of malformed input is left out.
   */
  readonly raw?:
    Effect.Effect<SendRaw<unknown, never>, unknown, Scope.Scope | ClientTransport | ServerTransport | R> | undefined
  /** Milliseconds for one law. Default 60,000. */
  readonly timeout?: number | undefined
}

/**
 * Registers a test for every law. The layer is built anew for each.
 *
 * @example
 * ```ts
 * import { describe, it } from "@effect/vitest"
 * import { InMemory } from "mcp-effect"
 * import { TransportLaws } from "mcp-effect/testing"
 *
 * TransportLaws.suite({ describe, test: it.live }, "in memory", InMemory.layer)
 * ```
 */
export const suite = <R, E>(
  { describe, test }: Runner,
  name: string,
  layer: Layer.Layer<ClientTransport | ServerTransport | R, E>,
  options: Options<R> = {}
): void =>
  describe(`The laws of transports: ${name}`, () => {
    const { omit = {}, raw, timeout = 60_000 } = options
    const register = <E2>(
      law: LawName,
      check: Effect.Effect<void, E2, ClientTransport | ServerTransport | R>
    ): void => {
      const reason = omit[law]
      const self = () => Effect.provide(check, layer)
      if (reason === undefined) test(law, self, timeout)
      else test.skip?.(`${law} (left out: ${reason})`, self, timeout)
    }
    for (const law of all) register(law.name, law.check)
    if (raw !== undefined) {
      register(
        "malformed input",
        Effect.scoped(Effect.flatMap(LawLink.make, (dialer) => malformed(dialer, raw))) as Effect.Effect<
          void,
          unknown,
          ClientTransport | ServerTransport | R
        >
      )
    }
  })
