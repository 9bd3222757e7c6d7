/**
 * Comments on idle streams, and what is kept of streams for that.
 */
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { EventStream } from "../../src/transport/httpServer/EventStream.ts"
import { KeepAlive } from "../../src/transport/httpServer/KeepAlive.ts"

const open = () => new EventStream(1000, () => {})

const keepingAlive = Effect.map(
  Effect.context<never>(),
  (context) => new KeepAlive("15 seconds", Effect.runForkWith(context))
)

it.effect("[SUBS-15] an idle stream gets a comment at each interval", () =>
  Effect.gen(function* () {
    const keepAlive = yield* keepingAlive
    const stream = open()
    keepAlive.add(stream)
    for (let beat = 0; beat < 3; beat++) {
      yield* TestClock.adjust("15 seconds")
      expect(stream.take()).toBe(": keep-alive\n\n")
    }
    keepAlive.end()
    yield* TestClock.adjust("15 seconds")
    expect(stream.isDone).toBe(true)
  })
)

it.effect("a stream that has ended, or whose client is gone, is not held on to until the next interval", () =>
  Effect.gen(function* () {
    const keepAlive = yield* keepingAlive
    const [ended, left, stays] = [open(), open(), open()]
    for (const stream of [ended, left, stays]) keepAlive.add(stream)
    ended.end()
    left.gone()
    expect(keepAlive.size).toBe(1)
    stays.end()
    expect(keepAlive.size).toBe(0)
    yield* TestClock.adjust("15 seconds")
  })
)
