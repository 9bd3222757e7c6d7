/**
 * A server process in plain Node.js, good and bad, for testing the client's side. The first argument says which.
 */
import { writeFileSync } from "node:fs"
import { createInterface } from "node:readline"

const [kind = "", ...rest] = process.argv.slice(2)

const send = (message: object) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n")

const onRequest = (
  handle: (request: { readonly id: number; readonly method: string; readonly params: object }) => void
) => createInterface({ input: process.stdin, crlfDelay: Infinity }).on("line", (line) => handle(JSON.parse(line)))

const answerAll = () => onRequest(({ id, params }) => send({ id, result: params ?? {} }))

const stayForever = () => setInterval(() => {}, 1_000_000)

const kinds: { readonly [kind: string]: () => void } = {
  /** Gives every byte back. */
  mirror: () => process.stdin.pipe(process.stdout),
  /** Gives every byte back in a write of its own. */
  dribble: async () => {
    for await (const chunk of process.stdin) {
      for (const byte of chunk) {
        await new Promise<void>((resolve) => process.stdout.write(new Uint8Array([byte]), () => resolve()))
      }
    }
  },
  /** Says something that is not UTF-8 first. */
  garbled: () => {
    process.stdout.write(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d, 0x0a]))
    answerAll()
  },
  /** Fails at once. */
  fails: () => {
    process.stderr.write("x".repeat(10_000) + "\nno configuration found\n", () => process.exit(3))
  },
  /** Answers, but dies of the method "crash". */
  crashes: () => onRequest(({ id, method }) => (method === "crash" ? process.exit(1) : send({ id, result: {} }))),
  /** Reads a little and leaves. */
  leaves: () => {
    process.stdin.once("data", () => process.exit(4))
  },
  /** Is killed. */
  killed: () => {
    process.kill(process.pid, "SIGKILL")
  },
  /** Fills the pipe of standard error before it answers. */
  noisy: () => {
    process.stderr.write("warning: é\r\n".repeat(100_000), () => answerAll())
  },
  /** Writes much before it reads anything. */
  talkative: () => {
    for (let n = 0; n < 256; n++) send({ method: "filling", params: { text: "x".repeat(1024) } })
    process.stdout.write("", () => answerAll())
  },
  /** Shuts down properly, which takes a while. */
  tidy: () => {
    process.stdin.resume().on("end", () => setTimeout(() => writeFileSync(rest[0] ?? "", "done"), 200))
  },
  /** Never stops writing, and never reads. */
  endless: () => {
    const write = () => {
      while (send({ method: "filling", params: { text: "x".repeat(1024) } })) {}
      process.stdout.once("drain", write)
    }
    process.stdin.resume().on("end", () => process.exit(0))
    write()
  },
  /** Does not go unless it is forced. */
  stubborn: () => {
    process.on("SIGTERM", () => {})
    stayForever()
    send({ method: "pid", params: { pid: process.pid } })
  },
  /** Goes when it is asked to, but not before. */
  deaf: () => {
    stayForever()
    send({ method: "pid", params: { pid: process.pid } })
  },
  /** Tells its environment. */
  environment: () => {
    send({ method: "environment", params: process.env })
    process.stdin.resume()
  }
}

kinds[kind]?.()
