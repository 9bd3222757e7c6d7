/**
 * Answering a request, as a value: what runs as a fiber, with which services, and what becomes of its outcome.
 *
 * Only what the user wrote has to be an effect. Everything around it, from decoding to the answer, is plain code, so
 * that a call costs one fiber and little else, and none at all when its handler has the result at hand.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as JsonRpc from "../protocol/JsonRpc.ts"
import type { McpError } from "../protocol/McpError.ts"

/** How the work on a request ended. */
export type Outcome = Exit.Exit<JsonRpc.Members, McpError>

/** Work on one request. Made with {@link make}, which ties the effect to services that it can run with. */
export interface Work {
  readonly effect: Effect.Effect<JsonRpc.Members, McpError>
  readonly context: Context.Context<never>
  /**
   * Makes the outcome of the request of the outcome of the effect, also when it was interrupted. Returns an `Exit` unless
   * there is something to do first.
   */
  after?(outcome: Outcome): Effect.Effect<JsonRpc.Members, McpError>
}

/** Work that runs an effect with services. */
export const make = <R>(effect: Effect.Effect<JsonRpc.Members, McpError, R>, context: Context.Context<R>): Work =>
  // The services that the effect needs are in the context it is kept with.
  ({ effect, context }) as unknown as Work

/** An effect that is still to be made, by code that may throw instead: then it is a defect like any other. */
export const attempt = <A, E, R>(effect: () => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  try {
    return effect()
  } catch (defect) {
    return Exit.die(defect)
  }
}

const isOutcome = (effect: Effect.Effect<JsonRpc.Members, McpError>): effect is Outcome => Exit.isExit(effect)

/** The same work with another step after it. */
export const andThen = (work: Work, after: NonNullable<Work["after"]>): Work => ({
  effect: work.effect,
  context: work.context,
  after: (outcome) => {
    const first = work.after === undefined ? outcome : work.after(outcome)
    return isOutcome(first) ? after(first) : Effect.flatMap(Effect.exit(first), after)
  }
})

/** Work as one effect. */
export const toEffect = (work: Work): Effect.Effect<JsonRpc.Members, McpError> => {
  const provided = Effect.provideContext(work.effect, work.context)
  return Effect.flatMap(Effect.exit(provided), (outcome) => work.after?.(outcome) ?? outcome)
}
