/**
 * Runs a program in virtual time: whenever nothing is left to do, the clock jumps to the next sleeper. How fast the machine
 * is plays no part, so the same program takes the same course every time, and hours of it take milliseconds.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as Scheduler from "effect/Scheduler"

/** How a run went. */
export interface Run<A, E> {
  /** How the program ended; `undefined` when it was still waiting and nothing was left that could have woken it. */
  readonly exit: Exit.Exit<A, E> | undefined
  /** Virtual milliseconds that it took. */
  readonly took: number
  /** Fibers that were started and have not ended, the program's own left out. */
  readonly fibers: number
  /** Sleepers that were never woken. */
  readonly sleepers: number
  /** Defects of any fiber, whether somebody looked at its end or not. */
  readonly defects: ReadonlyArray<string>
}

/** Options of {@link run}. */
export interface Options {
  /** Virtual time after which a program is given up. Default 24 hours. */
  readonly maximum?: Duration.Input | undefined
}

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

/** A clock that stands still until it is moved on. */
class VirtualClock implements Clock.Clock {
  #now = 0
  /** Latest first, so that the next to wake is the last; of two at the same time, who came first wakes first. */
  readonly #sleepers: Array<Sleeper> = []

  get sleepers(): number {
    return this.#sleepers.length
  }

  /** When the next sleeper wakes. */
  get next(): number {
    return this.#sleepers.at(-1)?.at ?? Infinity
  }

  wakeNext(): void {
    const sleeper = this.#sleepers.pop()
    if (sleeper === undefined) return
    this.#now = sleeper.at
    sleeper.wake()
  }

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    const milliseconds = Duration.toMillis(duration)
    if (milliseconds <= 0) return Effect.yieldNow
    return Effect.callback((resume) => {
      const sleeper: Sleeper = { at: this.#now + milliseconds, wake: () => resume(Effect.void) }
      const index = this.#sleepers.findIndex(({ at }) => at <= sleeper.at)
      this.#sleepers.splice(index === -1 ? this.#sleepers.length : index, 0, sleeper)
      return Effect.sync(() => {
        const at = this.#sleepers.indexOf(sleeper)
        if (at !== -1) this.#sleepers.splice(at, 1)
      })
    })
  }

  currentTimeMillisUnsafe(): number {
    return this.#now
  }
  currentTimeNanosUnsafe(): bigint {
    return BigInt(Math.round(this.#now * 1e6))
  }
  monotonicTimeNanosUnsafe(): bigint {
    return this.currentTimeNanosUnsafe()
  }
  readonly currentTimeMillis = Effect.sync(() => this.currentTimeMillisUnsafe())
  readonly currentTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe())
  readonly monotonicTimeNanos = this.currentTimeNanos
}

/** Counts fibers, and remembers those that died. */
class Census implements Metric.FiberRuntimeMetricsService {
  alive = 0
  readonly defects: Array<string> = []

  recordFiberStart(): void {
    this.alive++
  }

  recordFiberEnd(_context: Context.Context<never>, exit: Exit.Exit<unknown, unknown>): void {
    this.alive--
    if (Exit.isFailure(exit) && Cause.hasDies(exit.cause)) this.defects.push(Cause.pretty(exit.cause))
  }
}

/** Turns of the platform's event loop without anything new, after which a program that has no sleepers is stuck. */
const patience = 100

/**
 * Runs a program that waits for nothing but other fibers, the clock, and what a promise brings at once: before every jump
 * of the clock the platform gets a turn. Code that is imported on first use has to be there already.
 */
export const run = <A, E>(program: Effect.Effect<A, E>, options: Options = {}): Effect.Effect<Run<A, E>> =>
  Effect.gen(function* () {
    const maximum = Duration.toMillis(Duration.fromInputUnsafe(options.maximum ?? Duration.hours(24)))
    const clock = new VirtualClock()
    const census = new Census()
    const tasks = new Set<() => void>()
    const scheduler = new Scheduler.MixedScheduler("async", (task) => {
      tasks.add(task)
      return () => tasks.delete(task)
    })
    const context = Context.make(Clock.Clock, clock).pipe(
      Context.add(Scheduler.Scheduler, scheduler),
      Context.add(Metric.FiberRuntimeMetrics, census)
    )
    const fiber = Effect.runForkWith(context)(program)
    for (let idle = 0; idle < patience;) {
      for (const task of tasks) {
        tasks.delete(task)
        task()
      }
      if (fiber.pollUnsafe() !== undefined) break
      yield* Effect.yieldNow
      if (tasks.size > 0) idle = 0
      else if (clock.sleepers === 0) idle++
      else if (clock.next > maximum) break
      else clock.wakeNext()
    }
    const exit = fiber.pollUnsafe()
    return {
      exit,
      took: clock.currentTimeMillisUnsafe(),
      fibers: census.alive - (exit === undefined ? 1 : 0),
      sleepers: clock.sleepers,
      defects: census.defects
    }
  })
