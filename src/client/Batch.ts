/**
 * Calls that are made together: as one JSON-RPC batch where the revision has batches, which is 2025-03-26 alone.
 *
 * @see https://modelcontextprotocol.io/specification/2025-03-26/basic#batching
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Result from "effect/Result"
import type { Conversation } from "./Conversation.ts"

/** Anything that may be run in a batch. */
export type Calls = ReadonlyArray<Effect.Effect<unknown, unknown, unknown>>

/** How each call has ended, in the order of the calls. */
export type Results<C extends Calls> = {
  readonly [K in keyof C]: C[K] extends Effect.Effect<infer A, infer E, infer _R> ? Result.Result<A, E> : never
}

/** Runs calls at the same time. */
export const run = <const C extends Calls>(
  conversation: Conversation,
  calls: C
): Effect.Effect<Results<C>, never, Effect.Services<C[number]>> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.withFiber((caller) => {
      const fork = Effect.runForkWith(caller.context)
      // Each runs until it has to wait for something, and what it has sent until then goes into the batch.
      const start = () => calls.map((call) => fork(Effect.result(call as Effect.Effect<unknown, unknown>))) // `caller` has what they need
      const { link, revision } = conversation.agreement
      const fibers = revision.batches ? link.session.batch(start) : start()
      const exits = Effect.onInterrupt(restore(Fiber.awaitAll(fibers)), () => Fiber.interruptAll(fibers))
      // In the order of the calls, so as `Results` says; only a defect or an interruption is none.
      return Effect.flatMap(exits, (all) => Effect.all(all) as Effect.Effect<unknown> as Effect.Effect<Results<C>>)
    })
  )
