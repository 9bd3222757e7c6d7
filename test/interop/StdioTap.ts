/**
 * Stands between a client and a server on standard input and output, and writes down what they say.
 *
 *     node StdioTap.ts LOG COMMAND [ARGUMENT…]
 *
 * Every line of LOG is a `Piece` as JSON; the last says how the server ended.
 */
import { spawn } from "node:child_process"
import { appendFileSync } from "node:fs"

const [log = "", command = "", ...args] = process.argv.slice(2)

const write = (from: "client" | "server", stream: string, text: string): void =>
  appendFileSync(log, `${JSON.stringify({ from, stream, text })}\n`)

const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"] })
const stream = String(child.pid)

process.stdin.on("data", (chunk: Buffer) => {
  write("client", `${stream} in`, chunk.toString())
  child.stdin.write(chunk)
})
let inputEnded: number | undefined
process.stdin.on("end", () => {
  inputEnded = performance.now()
  write("client", `${stream} end`, "(end of input)\n")
  child.stdin.end()
})
child.stdout.on("data", (chunk: Buffer) => {
  write("server", `${stream} out`, chunk.toString())
  process.stdout.write(chunk)
})
child.stderr.on("data", (chunk: Buffer) => write("server", `${stream} log`, chunk.toString()))
child.stdin.on("error", () => {})
process.stdout.on("error", () => {})
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.on(signal, () => {
    const after = inputEnded === undefined ? 0 : Math.round(performance.now() - inputEnded)
    write("client", `${stream} end`, `(${signal} ${after} ms after the end of input)\n`)
    child.kill(signal)
  })
}
child.on("error", ({ message }) => write("server", `${stream} end`, `(could not be started: ${message})\n`))
child.on("close", (code, signal) => {
  write("server", `${stream} end`, `(exit ${signal ?? code})\n`)
  process.exit(code ?? 1)
})
