/** The limit of a client: write a line or a request, parse what comes back, match it by its id. */
import { spawn } from "node:child_process"
import * as Http from "node:http"
import { type Connect, type EchoClient, info, type Target, versions } from "../echo.ts"

interface Answer {
  readonly id: number
  readonly result: { readonly content: ReadonlyArray<{ readonly text: string }> }
}

const initialize = {
  protocolVersion: versions.legacy,
  capabilities: {},
  clientInfo: info
}

const modernMeta = {
  "io.modelcontextprotocol/protocolVersion": versions.modern,
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": info
}

const echoParams = (era: string, text: string) =>
  era === "modern" ? { name: "echo", arguments: { text }, _meta: modernMeta } : { name: "echo", arguments: { text } }

const overStdio = async (era: string, target: Target & { transport: "stdio" }): Promise<EchoClient> => {
  const child = spawn(target.command, target.args, { stdio: ["pipe", "pipe", "inherit"] })
  const waiting = new Map<number, (answer: Answer) => void>()
  let id = 0
  let rest = ""
  child.stdout.setEncoding("utf8")
  child.stdout.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n")
    rest = lines.pop() as string
    for (const line of lines) {
      const answer: Answer = JSON.parse(line)
      waiting.get(answer.id)?.(answer)
      waiting.delete(answer.id)
    }
  })
  const request = (method: string, params: object) =>
    new Promise<Answer>((resolve) => {
      waiting.set(++id, resolve)
      child.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n")
    })
  if (era === "legacy") await request("initialize", initialize)
  return {
    echo: async (text) => (await request("tools/call", echoParams(era, text))).result.content[0]?.text ?? "",
    close: async () => {
      child.stdin.end()
    }
  }
}

const overHttp = async (era: string, target: Target & { transport: "http" }): Promise<EchoClient> => {
  const agent = new Http.Agent({ keepAlive: true })
  const { hostname, pathname, port } = new URL(target.url)
  let id = 0
  const request = (method: string, params: object) =>
    new Promise<Answer>((resolve, reject) => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: ++id, method, params })
      const headers: Http.OutgoingHttpHeaders = {
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        "content-length": Buffer.byteLength(body),
        "mcp-protocol-version": era === "modern" ? versions.modern : versions.legacy
      }
      if (era === "modern") {
        headers["mcp-method"] = method
        headers["mcp-name"] = "echo"
      }
      const outgoing = Http.request({ agent, hostname, port, path: pathname, method: "POST", headers }, (incoming) => {
        let text = ""
        incoming.setEncoding("utf8")
        incoming.on("data", (chunk: string) => {
          text += chunk
        })
        incoming.on("end", () => resolve(JSON.parse(text)))
      })
      outgoing.on("error", reject)
      outgoing.end(body)
    })
  if (era === "legacy") await request("initialize", initialize)
  return {
    echo: async (text) => (await request("tools/call", echoParams(era, text))).result.content[0]?.text ?? "",
    close: async () => agent.destroy()
  }
}

export const connect: Connect = (era, target) =>
  target.transport === "stdio" ? overStdio(era, target) : overHttp(era, target)
