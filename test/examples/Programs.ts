/**
 * Runs the example programs as child processes, on the source of this package.
 */
import { spawn } from "node:child_process"
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

/** Flags for Node that make `mcp-effect` mean the source. */
export const nodeFlags = ["--import", fileURLToPath(new URL("./resolveSource.ts", import.meta.url))]

/** The path of an example. */
export const example = (name: string) => fileURLToPath(new URL(`../../examples/${name}`, import.meta.url))

/** A directory whose `node` has {@link nodeFlags}, for programs that start `node` themselves. */
export const nodeDirectory = () => {
  const directory = mkdtempSync(join(tmpdir(), "mcp-effect-node-"))
  const quoted = [process.execPath, ...nodeFlags].map((part) => `'${part}'`).join(" ")
  writeFileSync(join(directory, "node"), `#!/bin/sh\nexec ${quoted} "$@"\n`)
  chmodSync(join(directory, "node"), 0o755)
  return { directory, remove: () => rmSync(directory, { recursive: true }) }
}

/** Starts an example. */
export const start = (name: string, args: ReadonlyArray<string> = [], env: NodeJS.ProcessEnv = {}) => {
  const child = spawn(process.execPath, [...nodeFlags, example(name), ...args], {
    stdio: "pipe",
    env: { ...process.env, ...env }
  })
  let stdout = ""
  let stderr = ""
  let wake: (() => void) | undefined
  child.stdout.setEncoding("utf8").on("data", (text) => {
    stdout += text
    wake?.()
  })
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text
    wake?.()
  })
  child.stdin.on("error", () => {})
  const ended = new Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>((resolve) =>
    child.once("close", (code, signal) => resolve({ code, signal }))
  )
  return {
    child,
    ended,
    stdout: () => stdout,
    stderr: () => stderr,
    /** Writes messages, one a line. */
    send: (...messages: ReadonlyArray<object>) =>
      void child.stdin.write(messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join("")),
    /** Waits until the output matches, and gives the match. */
    until: (from: "stdout" | "stderr", pattern: RegExp) =>
      new Promise<RegExpExecArray>((resolve, reject) => {
        const check = () => {
          const found = pattern.exec(from === "stdout" ? stdout : stderr)
          if (found !== null) resolve(found)
        }
        wake = check
        child.once("close", () => {
          check()
          reject(new Error(`The program has ended. Standard error: ${stderr}`))
        })
        check()
      })
  }
}

/** Runs an example to its end. */
export const run = async (name: string, args?: ReadonlyArray<string>, env?: NodeJS.ProcessEnv) => {
  const program = start(name, args, env)
  program.child.stdin.end()
  const { code, signal } = await program.ended
  return { code, signal, stdout: program.stdout(), stderr: program.stderr() }
}
