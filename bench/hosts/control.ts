/**
 * Preloaded into every process that is measured: lets the driver collect garbage, read the heap and the clock of the CPU, and profile. It
 * listens on the channel to the driver, and keeps no process alive.
 */
import { writeFileSync } from "node:fs"
import { Session } from "node:inspector"
import type { Command, Reply } from "../harness/Child.ts"

const session = new Session()

const run = (command: Command): Reply => {
  switch (command.control) {
    case "heap": {
      for (let times = 0; times < 4; times++) globalThis.gc?.()
      return { control: "heap", bytes: process.memoryUsage().heapUsed }
    }
    case "cpu": {
      const { system, user } = process.cpuUsage()
      return { control: "cpu", microseconds: user + system }
    }
    case "startProfile":
      session.connect()
      session.post("Profiler.enable")
      session.post("Profiler.setSamplingInterval", { interval: 200 })
      session.post("Profiler.start")
      return { control: "done" }
    case "stopProfile":
      // In the same thread the answer is there before `post` returns.
      session.post("Profiler.stop", (_error, { profile }) => writeFileSync(command.path, JSON.stringify(profile)))
      session.disconnect()
      return { control: "done" }
  }
}

if (process.channel !== undefined && process.channel !== null) {
  process.on("message", (command: Command) => {
    if (typeof command === "object" && command !== null && "control" in command) process.send?.(run(command))
  })
  process.channel.unref()
}
