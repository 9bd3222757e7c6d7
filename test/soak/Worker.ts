/**
 * A process of clients: it runs them when it is told to, and reports when they are done.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { countUnhandled, unhandled } from "./Census.ts"
import { Random } from "./Random.ts"
import { type Report, Tally } from "./Tally.ts"

/** What a worker is told. */
export interface Order {
  readonly seconds: number
  readonly clients: number
  readonly seed: number
}

/** What clients are given. */
export interface Setting {
  readonly random: Random
  readonly tally: Tally
  /** Whether it is time to come to an end. */
  readonly isOver: () => boolean
  /** Waits a little, as people do. */
  readonly think: () => Promise<void>
}

/**
 * Runs a client again and again, many at a time, as often as the parent process asks for it. `finish` is what remains to be
 * done before the report.
 */
export const work = (
  client: (setting: Setting) => Promise<void>,
  finish: (tally: Tally) => Promise<unknown> = async () => {}
): void => {
  countUnhandled()
  const tally = new Tally()
  process.on("message", async (order: Order) => {
    const until = performance.now() + order.seconds * 1000
    const isOver = () => performance.now() >= until
    const loop = async (index: number) => {
      const random = new Random(order.seed + index * 7919)
      const think = () => sleep(random.between(100, 1500))
      // Not all of them at the same moment.
      await sleep(random.between(0, Math.min(5000, order.seconds * 250)))
      while (!isOver()) {
        await client({ random, tally, isOver, think })
        await think()
      }
    }
    const before = unhandled.count
    await Promise.all(Array.from({ length: order.clients }, (_, index) => loop(index)))
    const extra = await finish(tally)
    process.send?.({ report: tally.take(unhandled.count - before), extra } satisfies Answer)
  })
  process.on("disconnect", () => process.exit())
}

/** What a worker says at the end. */
export interface Answer {
  readonly report: Report
  readonly extra?: unknown
}

/** One thing that a client may do, and how often it does so compared with the others. */
export interface Behaviour<C> {
  readonly kind: string
  readonly weight: number
  readonly run: (client: C, setting: Setting) => Promise<void>
}

/** Does one of several things, by chance, and counts what comes of it. */
export const act = async <C>(
  behaviours: ReadonlyArray<Behaviour<C>>,
  client: C,
  setting: Setting
): Promise<boolean> => {
  let left = setting.random.next() * behaviours.reduce((total, { weight }) => total + weight, 0)
  const chosen = behaviours.find(({ weight }) => (left -= weight) < 0) ?? behaviours[0]
  if (chosen === undefined) return false
  try {
    await chosen.run(client, setting)
    return true
  } catch (cause) {
    setting.tally.failure(chosen.kind, cause)
    return false
  }
}
