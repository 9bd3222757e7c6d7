/**
 * Drives a server over its pipes: keeps so many requests in flight, counts lines and looks at none of them, because
 * everything that it does is done at the expense of what is measured.
 */
import { type Child, type Options, start } from "./Child.ts"
import type { Contestant } from "./Contestant.ts"
import type { Expectation } from "./Expectation.ts"
import { initialize, initialized, type Template, textWith } from "./messages.ts"
import { type Sample, Stopwatch } from "./Sample.ts"
import type { Era } from "../systems/echo.ts"

/** A workload over pipes. */
export interface StdioWorkload {
  readonly era: Era
  readonly request: Template
  /** Lines that come of one request. */
  readonly lines: number
  readonly inFlight: number
  readonly expect: Expectation
}

const newline = 10

class Pipes {
  readonly #child: Child
  #onChunk: (chunk: Buffer) => void = () => {}
  id = 0

  constructor(child: Child) {
    this.#child = child
    child.process.stdout?.on("data", (chunk: Buffer) => this.#onChunk(chunk))
  }

  write(text: string): void {
    // All of it is ASCII, which costs less to write when that is known.
    this.#child.process.stdin?.write(text, "latin1")
  }

  /** The messages in this many lines. */
  read(lines: number): Promise<ReadonlyArray<unknown>> {
    return new Promise((resolve, reject) => {
      let text = ""
      this.#onChunk = (chunk) => {
        text += chunk.toString()
        const parts = text.split("\n")
        if (parts.length <= lines) return
        try {
          resolve(parts.slice(0, lines).map((line) => JSON.parse(line)))
        } catch (cause) {
          reject(new Error(`Not JSON: ${text.slice(0, 300)}`, { cause }))
        }
      }
    })
  }

  /** Keeps `inFlight` requests on their way for so long, then waits for the last answer. */
  run({ inFlight, lines, request }: StdioWorkload, milliseconds: number): Promise<Sample> {
    return new Promise((resolve) => {
      const stopwatch = inFlight === 1 ? new Stopwatch() : undefined
      const started = performance.now()
      let sent = 0
      let seen = 0
      let answered = 0
      let sentAt = started
      const send = (count: number) => {
        let text = ""
        for (let index = 0; index < count; index++) text += textWith(request, ++this.id) + "\n"
        sent += count
        sentAt = performance.now()
        this.write(text)
      }
      this.#onChunk = (chunk) => {
        for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, at + 1)) seen++
        const done = Math.floor(seen / lines) - answered
        if (done === 0) return
        answered += done
        const now = performance.now()
        stopwatch?.add((now - sentAt) * 1000)
        if (now - started < milliseconds) send(done)
        else if (answered === sent) {
          resolve({ calls: answered, seconds: (now - started) / 1000, latencies: stopwatch?.take() })
        }
      }
      send(inFlight)
    })
  }
}

/** Opens a server, greets it, and checks its answer. */
export const open = async (file: string, workload: StdioWorkload, options: Options = {}): Promise<Contestant> => {
  const child = start(file, options)
  const pipes = new Pipes(child)
  try {
    if (workload.era === "legacy") {
      const greeted = child.alive(pipes.read(1))
      pipes.write(textWith(initialize, ++pipes.id) + "\n")
      await greeted
      pipes.write(initialized + "\n")
    }
    const answered = child.alive(pipes.read(workload.lines))
    pipes.write(textWith(workload.request, ++pipes.id) + "\n")
    workload.expect(await answered)
  } catch (cause) {
    await child.close()
    throw cause
  }
  return {
    child,
    run: (milliseconds) => child.alive(pipes.run(workload, milliseconds), milliseconds + 30_000),
    close: () => child.close()
  }
}
