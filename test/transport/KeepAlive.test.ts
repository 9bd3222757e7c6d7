/**
 * Comments on idle streams, and what is kept of streams for that.
 */
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { make } from "../../src/transport/httpServer/EventStream.ts"
import { KeepAlive } from "../../src/transport/httpServer/KeepAlive.ts"

const options = { readTimeout: 1000, onGone: () => {} }

const keepingAlive = Effect.map(
  Effect.context<never>(),
  (context) => new KeepAlive("15 seconds", Effect.runForkWith(context))
)

it.effect("[SUBS-15] an idle stream gets a comment at each interval", () =>
  Effect.gen(function* () {
    const keepAlive = yield* keepingAlive
    const stream = make(options)
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
    const [ended, left, open] = [make(options), make(options), make(options)]
    for (const stream of [ended, left, open]) keepAlive.add(stream)
    ended.end()
    left.gone()
    expect(keepAlive.size).toBe(1)
    open.end()
    expect(keepAlive.size).toBe(0)
    yield* TestClock.adjust("15 seconds")
  })
)
