/**
 * A client at the other end of a server's standard input and output, which writes what it likes.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process"
import type { Readable, Writable } from "node:stream"
import { fileURLToPath } from "node:url"
import { Lost, Wrong } from "./Tally.ts"
import { type Json, modern } from "./Wire.ts"

/** Milliseconds without an answer after which it is lost. */
const patience = 60_000

const server = fileURLToPath(new URL("./server.ts", import.meta.url))

interface Waiting {
  readonly resolve: (message: Json) => void
  readonly reject: (cause: Error) => void
}

/** How a process ended. */
export interface End {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** One server process and its client. */
export class Pipe {
  readonly child: ChildProcessByStdio<Writable, Readable, null>
  readonly ended: Promise<End>
  /** Requests whose answer must not come. */
  readonly #cancelled = new Set<unknown>()
  readonly #waiting = new Map<unknown, Array<Waiting>>()
  readonly #listeners = new Set<(message: Json) => void>()
  /** Refusals of what had no id are told by none. */
  readonly #unnamed: Array<Waiting> = []
  /** What came and should not have. */
  readonly surprises: Array<string> = []
  #rest = ""
  #lastId = 0

  constructor() {
    // The flags of this process make `mcp-effect` mean its source there too.
    const args = ["--expose-gc", ...process.execArgv.filter((flag) => flag !== "--expose-gc"), server, "stdio"]
    this.child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] })
    this.child.stdin.on("error", () => {})
    this.child.stdout.on("error", () => {})
    this.child.stdout.setEncoding("utf8").on("data", (text) => this.#take(text))
    this.ended = new Promise((resolve) =>
      this.child.once("close", (code, signal) => {
        for (const waiting of [...this.#waiting.values(), this.#unnamed].flat()) {
          waiting.reject(new Lost("The server has ended"))
        }
        resolve({ code, signal })
      })
    )
  }

  get nextId(): number {
    return ++this.#lastId
  }

  /** Writes bytes. */
  write(bytes: string | Uint8Array): void {
    this.child.stdin.write(bytes)
  }

  /** Writes a message. */
  send(message: Json): void {
    this.write(`${JSON.stringify(message)}\n`)
  }

  /** Sends a request and waits for its answer. */
  async ask(message: Json): Promise<Json> {
    const answer = this.answerTo(message.id)
    this.send(message)
    return answer
  }

  /** The next answer to this id. */
  answerTo(id: unknown): Promise<Json> {
    return this.#wait(this.#waitersOf(id), String(id))
  }

  /** The next refusal without an id. */
  get refusal(): Promise<Json> {
    return this.#wait(this.#unnamed, "what had no id")
  }

  /** Cancels a request. It must not be answered any more. */
  cancel(id: unknown): void {
    this.#cancelled.add(id)
    this.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } })
  }

  /** Hears everything that is no answer, until it is told to stop. */
  listen(onMessage: (message: Json) => void): () => void {
    this.#listeners.add(onMessage)
    return () => void this.#listeners.delete(onMessage)
  }

  /** A request in the modern spelling. */
  modern(method: string, params: Json = {}, id: unknown = this.nextId): Json {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": modern,
      "io.modelcontextprotocol/clientInfo": { name: "soak", version: "1.0.0" },
      "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
      ...(params._meta as Json | undefined)
    }
    return { jsonrpc: "2.0", id, method, params: { ...params, _meta } }
  }

  /** A request in the spelling of a session. */
  legacy(method: string, params: Json = {}, id: unknown = this.nextId): Json {
    return { jsonrpc: "2.0", id, method, params }
  }

  /** The handshake of the legacy era. */
  async initialize(): Promise<void> {
    const clientInfo = { name: "soak", version: "1.0.0" }
    const params = { protocolVersion: "2025-11-25", capabilities: { elicitation: {} }, clientInfo }
    const answer = await this.ask(this.legacy("initialize", params))
    if (answer.result === undefined) throw new Wrong(`initialize: ${JSON.stringify(answer)}`)
    this.send({ jsonrpc: "2.0", method: "notifications/initialized" })
  }

  #waitersOf(id: unknown): Array<Waiting> {
    const waiters = this.#waiting.get(id) ?? []
    this.#waiting.set(id, waiters)
    return waiters
  }

  #wait(waiters: Array<Waiting>, what: string): Promise<Json> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiters.splice(waiters.indexOf(waiting), 1)
        reject(new Lost(`No answer to ${what} within ${patience} ms`))
      }, patience)
      const waiting: Waiting = {
        resolve: (message) => {
          clearTimeout(timer)
          resolve(message)
        },
        reject: (cause) => {
          clearTimeout(timer)
          reject(cause)
        }
      }
      waiters.push(waiting)
    })
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split("\n")
    this.#rest = lines.pop() ?? ""
    for (const line of lines) this.#receive(line)
  }

  #receive(line: string): void {
    let message: Json
    try {
      message = JSON.parse(line) as Json
    } catch {
      return void this.surprises.push(`No JSON: ${line.slice(0, 200)}`)
    }
    if ("method" in message) {
      for (const listener of this.#listeners) listener(message)
      return
    }
    if (this.#cancelled.has(message.id)) {
      return void this.surprises.push(`An answer to the cancelled ${String(message.id)}: ${line.slice(0, 200)}`)
    }
    const waiters = message.id === undefined || message.id === null ? this.#unnamed : this.#waitersOf(message.id)
    const waiting = waiters.shift()
    if (waiters.length === 0) this.#waiting.delete(message.id)
    if (waiting === undefined) this.surprises.push(`An answer that nobody waits for: ${line.slice(0, 200)}`)
    else waiting.resolve(message)
  }
}
