/**
 * A child process driven byte by byte, for testing what our server really writes.
 */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

/** The path of a script in `children`. */
export const childScript = (name: string) => fileURLToPath(new URL(`./children/${name}.ts`, import.meta.url))

/** Starts a script with the Node.js that runs the tests. */
export const start = (script: string, args: ReadonlyArray<string> = [], env: NodeJS.ProcessEnv = process.env) => {
  const child = spawn(process.execPath, [childScript(script), ...args], { stdio: "pipe", env })
  const stdout: Array<Buffer> = []
  let stderr = ""
  let notify: (() => void) | undefined
  child.stdout.on("data", (chunk) => {
    stdout.push(chunk)
    notify?.()
  })
  child.stderr.setEncoding("utf8").on("data", (chunk) => {
    stderr += chunk
    notify?.()
  })
  child.stdin.on("error", () => {})
  const exit = new Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>((resolve) =>
    child.once("close", (code, signal) => resolve({ code, signal }))
  )
  const text = () => Buffer.concat(stdout).toString("utf8")
  return {
    child,
    exit,
    stdout: text,
    bytes: () => Buffer.concat(stdout),
    stderr: () => stderr,
    /** Every complete line of standard output, parsed. */
    messages: (): ReadonlyArray<unknown> =>
      text()
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line)),
    write: (data: string | Uint8Array) =>
      new Promise<void>((resolve, reject) =>
        child.stdin.write(data, (error) => (error === null || error === undefined ? resolve() : reject(error)))
      ),
    /** Waits until standard output or error makes the condition true. */
    until: (condition: () => boolean) =>
      new Promise<void>((resolve, reject) => {
        const check = () => (condition() ? resolve() : undefined)
        notify = check
        child.once("close", (code) =>
          condition() ? resolve() : reject(new Error(`The process ended with code ${code}: ${stderr}`))
        )
        check()
      })
  }
}
