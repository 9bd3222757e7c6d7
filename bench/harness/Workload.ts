/** A workload, and how a contest of it is held: all contestants open, then round after round, each in its turn. */
import { mkdirSync } from "node:fs"
import { inBench } from "./Child.ts"
import type { Contestant } from "./Contestant.ts"
import type { Result, Row } from "./Result.ts"
import { type Sample, summarize } from "./Sample.ts"
import type { System } from "./Systems.ts"

/** How long and how often to measure. */
export interface Pace {
  readonly quick: boolean
  /** Milliseconds. */
  readonly warmUp: number
  /** Milliseconds. */
  readonly round: number
  readonly rounds: number
}

export interface Context {
  readonly systems: ReadonlyArray<System>
  readonly pace: Pace
  /** Whose CPU is profiled, by name. */
  readonly profiled: ReadonlyArray<string>
  readonly onProfile: (workload: string, system: string, path: string) => void
}

export interface Workload {
  /** Unique; what the command line selects by. */
  readonly name: string
  readonly title: string
  /** Whether `--quick` includes it. */
  readonly quick: boolean
  readonly run: (context: Context) => Promise<Result>
}

/** A workload that counts calls per second. */
export const contest = (options: {
  readonly name: string
  readonly title: string
  readonly quick?: boolean
  /** Makes rounds so many times as long, where calls are few. Default 1. */
  readonly longer?: number
  /** Whether a system takes part. */
  readonly includes: (system: System) => boolean
  readonly open: (system: System) => Promise<Contestant>
}): Workload => ({
  name: options.name,
  title: options.title,
  quick: options.quick ?? false,
  run: async (context) => {
    const { pace } = context
    const longer = options.longer ?? 1
    const systems = context.systems.filter(options.includes)
    const absent: Array<{ system: string; why: string }> = []
    const contestants: Array<{ system: System; contestant: Contestant }> = []
    for (const system of systems) {
      try {
        contestants.push({ system, contestant: await options.open(system) })
      } catch (cause) {
        absent.push({ system: system.name, why: firstLine(cause) })
      }
    }
    const samples = new Map<System, Array<Sample>>()
    try {
      const paced = { ...context, pace: { ...pace, round: pace.round * longer } }
      await hold(options.name, paced, contestants, samples, absent)
    } finally {
      await Promise.all(contestants.map(({ contestant }) => contestant.close()))
    }
    const rows = [...samples].map(([{ name, role }, taken]): Row => {
      const { callsPerSecond, cpu, p50, p99 } = summarize(taken)
      return { system: name, role, value: callsPerSecond, cpu, p50, p99 }
    })
    return { workload: options.name, title: options.title, unit: "calls/s", better: "higher", rows, absent }
  }
})

const firstLine = (cause: unknown): string =>
  String(cause instanceof Error ? cause.message : cause).split("\n")[0] ?? ""

const hold = async (
  name: string,
  { onProfile, pace, profiled }: Context,
  contestants: ReadonlyArray<{ readonly system: System; readonly contestant: Contestant }>,
  samples: Map<System, Array<Sample>>,
  absent: Array<{ system: string; why: string }>
): Promise<void> => {
  const failed = new Set<System>()
  const turn = async (system: System, act: () => Promise<void>) => {
    if (failed.has(system)) return
    try {
      await act()
    } catch (cause) {
      failed.add(system)
      samples.delete(system)
      absent.push({ system: system.name, why: firstLine(cause) })
    }
  }
  for (const { contestant, system } of contestants) {
    await turn(system, async () => {
      await contestant.run(pace.warmUp)
      samples.set(system, [])
      if (profiled.includes(system.name)) await contestant.child.startProfile()
    })
  }
  for (let round = 0; round < pace.rounds; round++) {
    for (const { contestant, system } of contestants) {
      await turn(system, async () => {
        const before = await contestant.child.cpu()
        const sample = await contestant.run(pace.round)
        samples.get(system)?.push({ ...sample, cpu: (await contestant.child.cpu()) - before })
      })
    }
  }
  for (const { contestant, system } of contestants) {
    if (!profiled.includes(system.name)) continue
    await turn(system, async () => {
      const folder = inBench("results/profiles")
      mkdirSync(folder, { recursive: true })
      const path = `${folder}/${name}.${system.name.replace(" ", "-")}.cpuprofile`
      await contestant.child.stopProfile(path)
      onProfile(name, system.name, path)
    })
  }
}
