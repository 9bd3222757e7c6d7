/**
 * Lines on their way out: that none is left behind.
 */
import { expect, it } from "@effect/vitest"
import { Effect, Fiber, Scheduler } from "effect"
import { OutputQueue } from "../../src/transport/OutputQueue.ts"

it.effect("wakes a writer that is held up at any step of its way to waiting", () =>
  Effect.gen(function* () {
    for (let trial = 0; trial < 24; trial++) {
      const steps = trial % 12
      const queue = new OutputQueue()
      // Such a fiber lets others run after so few operations.
      const writer = yield* queue.texts.pipe(
        Effect.provideService(Scheduler.MaxOpsBeforeYield, 3 + Math.floor(trial / 12)),
        Effect.forkChild({ startImmediately: true })
      )
      for (let step = 0; step < steps; step++) yield* Effect.yieldNow
      yield* queue.offer("late")
      expect(yield* Fiber.join(writer)).toEqual(["late"])
    }
  })
)

it.effect("wakes a writer that waits when nothing more comes", () =>
  Effect.gen(function* () {
    const queue = new OutputQueue()
    const writer = yield* Effect.forkChild(Effect.exit(queue.texts), { startImmediately: true })
    queue.end()
    expect((yield* Fiber.join(writer))._tag).toBe("Failure")
  })
)
