/**
 * Servers as processes, each with something in front of it that writes down what is said.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import * as Net from "node:net"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as sleep } from "node:timers/promises"
import type { Target } from "./Conversation.ts"
import { tapHttp } from "./HttpTap.ts"
import type { Start } from "./servers.ts"
import type { Piece, Wire } from "./Wire.ts"

/** A server that can be connected to, any number of times. */
export interface Started {
  /** A way to connect once, and what is said then. */
  readonly tap: () => Promise<Tap>
  readonly stop: () => Promise<void>
}

export interface Tap {
  readonly target: Target
  readonly wire: Wire
  /** Why the end was not a clean one; to be asked after the client has closed. */
  readonly unclean: () => Promise<string | undefined>
  readonly close: () => Promise<void>
}

/** Makes a server ready: one that listens is started, one on standard input and output is started by each client. */
export const start = (options: Start, directory: string): Promise<Started> =>
  options.transport === "stdio" ? Promise.resolve(onStdio(options, directory)) : listening(options)

let logs = 0

const onStdio = ({ args, env, file }: Start, directory: string): Started => ({
  tap: async () => {
    const log = join(directory, `wire-${logs++}.jsonl`)
    const tap = join(import.meta.dirname, "StdioTap.ts")
    const variables = Object.entries(env ?? {}).map(([name, value]) => `${name}=${value}`)
    const command = [process.execPath, tap, log, "env", ...variables, process.execPath, file, ...args]
    const wire: Wire = { pieces: () => readPieces(log) }
    return {
      target: { transport: "stdio", command: command[0] as string, args: command.slice(1) },
      wire,
      unclean: async () => {
        for (let waited = 0; waited < 3000 && endsOf(wire).some((end) => !isExit(end.at(-1))); waited += 20) {
          await sleep(20)
        }
        return endsOf(wire).find(isUnclean)?.join(" ")
      },
      close: async () => {}
    }
  },
  stop: async () => {}
})

/** How each process ended: what it was told, and what became of it. */
const endsOf = (wire: Wire): ReadonlyArray<ReadonlyArray<string>> => {
  const processes = new Map<string, Array<string>>()
  for (const { stream, text } of wire.pieces()) {
    const [id = "", kind] = stream.split(" ")
    const end = processes.get(id) ?? []
    processes.set(id, end)
    if (kind === "end") end.push(text.trim())
  }
  return [...processes.values()]
}

const isExit = (text: string | undefined): boolean => text !== undefined && text.startsWith("(exit")

/** How long a server may take to end by itself; clients wait for 2 seconds before they send a signal. */
const patience = 1000

/**
 * At the end of its input a server is to end by itself, with whichever code: nothing says which. Some clients do not wait
 * for that and send a signal in the same moment, to a process that was only there to be probed; that says nothing of the
 * server.
 */
const isUnclean = (end: ReadonlyArray<string>): boolean =>
  !/^\(exit \d+\)$/.test(end.at(-1) ?? "") ||
  end.some((text) => Number(/^\(SIG\w+ (\d+) ms/.exec(text)?.[1] ?? 0) >= patience)

const readPieces = (log: string): ReadonlyArray<Piece> =>
  existsSync(log)
    ? readFileSync(log, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as Piece)
    : []

const listening = async (options: Start): Promise<Started> => {
  const port = options.choosesPort === true ? await freePort() : undefined
  const child = spawn(process.execPath, [options.file, ...options.args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...options.env, ...(port !== undefined && { PORT: String(port) }) }
  })
  const url = port === undefined ? await announced(child) : await reached(child, port)
  const target = options.path === undefined ? url : new URL(options.path, url).href
  const transport = options.transport as "http" | "sse"
  return {
    tap: async () => {
      const tap = await tapHttp(target)
      return {
        target: { transport, url: tap.url },
        wire: tap.wire,
        unclean: async () => {
          for (let waited = 0; waited < 1000 && tap.open() > 0; waited += 20) await sleep(20)
          return tap.open() === 0 ? undefined : `${tap.open()} HTTP exchanges are still open`
        },
        close: tap.close
      }
    },
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, "exit")
      child.kill("SIGKILL")
      await ended
    }
  }
}

const freePort = () =>
  new Promise<number>((resolve) => {
    const probe = Net.createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as Net.AddressInfo
      probe.close(() => resolve(port))
    })
  })

/** Waits for the URL that a server prints. */
const announced = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    const printed: Array<string> = []
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue
      createInterface({ input: stream }).on("line", (line) => {
        printed.push(line)
        const url = /https?:\/\/\S+/.exec(line)?.[0]
        if (url !== undefined) resolve(url)
      })
    }
    child.once("exit", () => reject(new Error(`The server has ended: ${printed.join("\n")}`)))
  })

/** Waits until a server takes connections at its port. */
const reached = async (child: ChildProcess, port: number): Promise<string> => {
  child.stdout?.resume()
  child.stderr?.resume()
  for (let waited = 0; waited < 20_000; waited += 50) {
    const socket = Net.connect(port, "127.0.0.1")
    const isOpen = await once(socket, "connect").then(
      () => true,
      () => false
    )
    socket.destroy()
    if (isOpen) return `http://127.0.0.1:${port}`
    if (child.exitCode !== null) break
    await sleep(50)
  }
  throw new Error(`The server does not listen on port ${port}`)
}
