/** A process that is measured: a server, or a host that runs a client or an in-memory link. */
import { type ChildProcess, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

/** What `hosts/control.ts` can be told. */
export type Command =
  | { readonly control: "heap" }
  | { readonly control: "cpu" }
  | { readonly control: "startProfile" }
  | { readonly control: "stopProfile"; readonly path: string }

/** What it says. */
export type Reply =
  | { readonly control: "heap"; readonly bytes: number }
  | { readonly control: "cpu"; readonly microseconds: number }
  | { readonly control: "done" }

/** The path of a file of this folder. */
export const inBench = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url))

const control = inBench("hosts/control.ts")

/** Options of {@link start}. */
export interface Options {
  readonly args?: ReadonlyArray<string> | undefined
  readonly env?: { readonly [name: string]: string } | undefined
}

export class Child {
  readonly process: ChildProcess
  #stderr = ""
  #exited = false

  constructor(process: ChildProcess) {
    this.process = process
    process.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-2000)
    })
    process.once("exit", () => {
      this.#exited = true
    })
    // That it has ended is told by "exit".
    process.stdin?.on("error", () => {})
    process.on("error", () => {})
  }

  /** Sends a message over the channel, and waits for the one that `pick` accepts. */
  ask<A>(message: object, pick: (reply: unknown) => A | undefined): Promise<A> {
    return new Promise((resolve, reject) => {
      const onMessage = (reply: unknown) => {
        const picked = pick(reply)
        if (picked === undefined) return
        settle()
        resolve(picked)
      }
      const onExit = () => {
        settle()
        reject(new Error(`The process has ended. ${this.#stderr}`))
      }
      const settle = () => {
        this.process.off("message", onMessage)
        this.process.off("exit", onExit)
      }
      this.process.on("message", onMessage)
      this.process.on("exit", onExit)
      if (this.#exited) onExit()
      else this.process.send(message)
    })
  }

  /** Bytes on the heap after a full garbage collection. */
  heap(): Promise<number> {
    return this.#control({ control: "heap" }).then((reply) => (reply.control === "heap" ? reply.bytes : Number.NaN))
  }

  /** Microseconds of CPU that the process has used so far, on all its threads. */
  cpu(): Promise<number> {
    return this.#control({ control: "cpu" }).then((reply) =>
      reply.control === "cpu" ? reply.microseconds : Number.NaN
    )
  }

  startProfile(): Promise<unknown> {
    return this.#control({ control: "startProfile" })
  }

  stopProfile(path: string): Promise<unknown> {
    return this.#control({ control: "stopProfile", path })
  }

  #control(command: Command): Promise<Reply> {
    return this.ask(command, (reply) =>
      typeof reply === "object" && reply !== null && "control" in reply ? (reply as Reply) : undefined
    )
  }

  /** Fails when the process ends before `promise` is settled, or it takes too long. */
  alive<A>(promise: Promise<A>, milliseconds = 20_000): Promise<A> {
    return new Promise((resolve, reject) => {
      const fail = (why: string) => reject(new Error(`${why}. ${this.#stderr}`))
      const timer = setTimeout(() => fail(`No answer within ${milliseconds} ms`), milliseconds)
      const onExit = () => fail("The process has ended")
      this.process.once("exit", onExit)
      promise.then(resolve, reject).finally(() => {
        clearTimeout(timer)
        this.process.off("exit", onExit)
      })
    })
  }

  async close(): Promise<void> {
    if (this.#exited) return
    const gone = new Promise((resolve) => this.process.once("exit", resolve))
    this.process.kill("SIGKILL")
    await gone
  }
}

/** Starts one of our files in a process of its own. */
export const start = (file: string, options: Options = {}): Child =>
  new Child(
    spawn(process.execPath, ["--expose-gc", "--import", control, inBench(file), ...(options.args ?? [])], {
      stdio: ["pipe", "pipe", "pipe", "ipc"],
      env: { ...process.env, NODE_ENV: "production", NODE_NO_WARNINGS: "1", ...options.env }
    })
  )
