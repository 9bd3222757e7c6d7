/**
 * The server under flood as a child process, and what the operating system knows of it.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"

const modern = "2026-07-28"

const read = (pid: number, file: string, pattern: RegExp): number =>
  Number(pattern.exec(readFileSync(`/proc/${pid}/${file}`, "utf8"))?.[1])

/** A running server. */
export class Flooded {
  readonly child: ChildProcess
  readonly #pid: number

  constructor(child: ChildProcess) {
    this.child = child
    this.#pid = child.pid ?? 0
  }

  /** The most memory that was ever resident, in MiB. */
  get peak(): number {
    return read(this.#pid, "status", /VmHWM:\s+(\d+)/) / 1024
  }

  /** Bytes read so far, from whatever it reads. */
  get bytesRead(): number {
    return read(this.#pid, "io", /rchar: (\d+)/)
  }

  /** Ends when the server has read nothing for half a second. */
  async stalled(): Promise<void> {
    for (let before = -1; before !== this.bytesRead;) {
      before = this.bytesRead
      await sleep(500)
    }
  }

  async end(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const closed = once(this.child, "close")
    this.child.kill("SIGKILL")
    await closed
  }
}

const root = fileURLToPath(new URL("../..", import.meta.url))

/** The server as its users have it, with this package installed: Node needs 25 MB to run TypeScript as it is. */
export class Program {
  readonly #directory = mkdtempSync(join(root, "node_modules", ".flood-"))
  readonly #file = join(this.#directory, "server.mjs")

  constructor() {
    const installed = join(this.#directory, "node_modules", "mcp-effect")
    mkdirSync(installed, { recursive: true })
    copyFileSync(join(root, "package.json"), join(installed, "package.json"))
    const compiler = join(root, "node_modules", ".bin", "tsc")
    execFileSync(compiler, ["-p", "tsconfig.build.json", "--outDir", join(installed, "dist")], { cwd: root })
    writeFileSync(this.#file, stripTypeScriptTypes(readFileSync(new URL("./server.ts", import.meta.url), "utf8")))
  }

  /** Starts the server, with flags for Node; `port` is where it listens, if it does. */
  async start(
    transport: string,
    ...flags: ReadonlyArray<string>
  ): Promise<{ readonly server: Flooded; readonly port: number }> {
    const child = spawn(process.execPath, [...flags, this.#file, transport], { stdio: ["pipe", "pipe", "inherit"] })
    const server = new Flooded(child)
    if (transport === "stdio") return { server, port: 0 }
    const port = await new Promise<string>((resolve) => {
      child.stdout.on("data", (chunk: Buffer) => {
        // With some flags Node has something to say, too.
        const line = /^\d+$/m.exec(String(chunk))
        if (line !== null) resolve(line[0])
      })
    })
    return { server, port: Number(port) }
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true })
  }
}

const meta = {
  "io.modelcontextprotocol/protocolVersion": modern,
  "io.modelcontextprotocol/clientCapabilities": {}
}

const padding = "x".repeat(100)

/** A call that is answered with its own text. */
export const call = (id: number): string =>
  JSON.stringify({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name: "echo", arguments: { text: `${id} ${padding}` }, _meta: meta }
  })

/** The head of an HTTP request for a call. */
export const head = (more: ReadonlyArray<string>): string =>
  [
    "POST /mcp HTTP/1.1",
    "Host: 127.0.0.1",
    "Accept: application/json, text/event-stream",
    "Content-Type: application/json",
    `MCP-Protocol-Version: ${modern}`,
    "Mcp-Method: tools/call",
    "Mcp-Name: echo",
    ...more,
    "",
    ""
  ].join("\r\n")

/** The same call over HTTP. */
export const post = (id: number): string => {
  const body = call(id)
  return head([`Content-Length: ${body.length}`]) + body
}
