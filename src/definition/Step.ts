/**
 * Work that a handler does once, however often it is run again while its questions are answered.
 *
 * In 2026-07-28 a question ends the request; the client answers by sending the request anew, and the handler runs
 * from its start. What it did before the question would be done twice. A step is not: its result travels, sealed,
 * with the question.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as JsonCodec from "../protocol/JsonCodec.ts"
import { CallContext } from "./CallContext.ts"

/**
 * Runs `effect` the first time and gives its remembered result after that. `name` identifies the step within the
 * handler; `schema` is how the result is written down. In revisions where a question does not end the request this
 * just runs the effect.
 *
 * @example
 * ```ts
 * import { Effect, Schema } from "effect"
 * import { Peer, Step } from "mcp-effect"
 *
 * const book = Effect.gen(function* () {
 *   const seat = yield* Step.run("seat", Schema.String, Effect.succeed("12A"))
 *   return yield* Peer.elicit({ message: `Take ${seat}?`, schema: Schema.Struct({ sure: Schema.Boolean }) })
 * })
 * ```
 */
export const run = <S extends Schema.Codec<unknown, unknown, never, never> & Schema.Top, E, R>(
  name: string,
  schema: S,
  effect: Effect.Effect<S["Type"], E, R>
): Effect.Effect<S["Type"], E, R | CallContext> =>
  Effect.flatMap(CallContext, (call) => {
    const codec = JsonCodec.make(schema)
    const remembered = call.steps.get(name)
    if (remembered !== undefined) {
      const decoded = Schema.decodeUnknownResult(codec)(remembered.value)
      // A new release of the server may have changed the shape; then the step is done again.
      if (Result.isSuccess(decoded)) return Effect.succeed(decoded.success)
    }
    return Effect.tap(effect, (value) =>
      Effect.sync(() => call.steps.set(name, Schema.encodeUnknownSync(codec)(value)))
    )
  })
