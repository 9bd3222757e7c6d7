/** Drives a server over HTTP: so many connections, one request on its way on each, in a session of its own where there are sessions. */
import { type Era, versions } from "../systems/echo.ts"
import { type Child, type Options, start } from "./Child.ts"
import type { Contestant } from "./Contestant.ts"
import type { Expectation } from "./Expectation.ts"
import { HttpConnection, type Response } from "./HttpConnection.ts"
import { initialize, initialized, type Template, textWith } from "./messages.ts"
import { type Sample, Stopwatch } from "./Sample.ts"

/** A workload over HTTP. */
export interface HttpWorkload {
  readonly era: Era
  readonly request: Template
  readonly connections: number
  readonly expect: Expectation
}

/** Ids have this many digits, so that the length of a body is known before its id is. */
const firstId = 1_000_000_000

const head = (method: string, fields: ReadonlyArray<string>): string =>
  [
    `${method} /mcp HTTP/1.1`,
    "Host: 127.0.0.1",
    "Accept: application/json, text/event-stream",
    "Content-Type: application/json",
    ...fields
  ].join("\r\n") + "\r\n\r\n"

/** The text of a request around its id. */
const framed = (request: Template, fields: ReadonlyArray<string>): Template => {
  const length = request.before.length + String(firstId).length + request.after.length
  return { ...request, before: head("POST", [...fields, `Content-Length: ${length}`]) + request.before }
}

const post = (text: string, fields: ReadonlyArray<string>): string =>
  head("POST", [...fields, `Content-Length: ${text.length}`]) + text

/** The header fields of a request of 2026-07-28. */
export const modernFields = ({ method, name }: Template): ReadonlyArray<string> => [
  `MCP-Protocol-Version: ${versions.modern}`,
  `Mcp-Method: ${method}`,
  ...(name === undefined ? [] : [`Mcp-Name: ${name}`])
]

/** Opens a session and says which header fields name it. */
export const openSession = async (connection: HttpConnection): Promise<ReadonlyArray<string>> => {
  const response = await connection.request(textWith(framed(initialize, []), firstId))
  if (response.status !== 200) throw new Error(`initialize: ${response.head}\n${response.body.slice(0, 500)}`)
  const id = /^mcp-session-id: *(\S+)/im.exec(response.head)?.[1]
  const fields = [`MCP-Protocol-Version: ${versions.legacy}`, ...(id === undefined ? [] : [`Mcp-Session-Id: ${id}`])]
  const accepted = await connection.request(post(initialized, fields))
  if (accepted.status >= 300) throw new Error(`initialized: ${accepted.head}`)
  return fields
}

/** Ends a session. */
export const closeSession = async (connection: HttpConnection, fields: ReadonlyArray<string>): Promise<void> => {
  const { status } = await connection.request(head("DELETE", [...fields, "Content-Length: 0"]))
  if (status >= 300) throw new Error(`DELETE: ${status}`)
}

/** The messages of a response, be it JSON or events. */
const messagesOf = ({ body, head: responseHead, status }: Response): ReadonlyArray<unknown> => {
  if (status !== 200) throw new Error(`${responseHead}\n${body.slice(0, 500)}`)
  if (!/^content-type: *text\/event-stream/im.test(responseHead)) return [JSON.parse(body)]
  return body
    .split("\n\n")
    .map((event) =>
      event
        .split("\n")
        .filter((line) => line.startsWith("data:") && line.length > 6)
        .map((line) => line.slice(5))
        .join("\n")
    )
    .filter((data) => data !== "")
    .map((data) => JSON.parse(data))
}

interface Lane {
  readonly connection: HttpConnection
  readonly request: Template
}

let lastId = firstId

const run = (lanes: ReadonlyArray<Lane>, milliseconds: number): Promise<Sample> =>
  new Promise((resolve, reject) => {
    for (const { connection } of lanes) connection.refresh()
    const stopwatch = new Stopwatch()
    const started = performance.now()
    let busy = lanes.length
    let calls = 0
    for (const { connection, request } of lanes) {
      let sentAt = 0
      const send = () => {
        sentAt = performance.now()
        connection.send(textWith(request, ++lastId), false, onResponse)
      }
      const onResponse = ({ status }: Response) => {
        const now = performance.now()
        if (status !== 200) return reject(new Error(`Status ${status}`))
        calls++
        stopwatch.add((now - sentAt) * 1000)
        if (now - started < milliseconds) return send()
        busy--
        if (busy === 0) resolve({ calls, seconds: (now - started) / 1000, latencies: stopwatch.take() })
      }
      connection.onError(reject)
      send()
    }
  })

/** Starts a server and waits until it listens. */
export const listen = async (file: string, options: Options = {}): Promise<{ child: Child; port: number }> => {
  const child = start(file, options)
  const listening = new Promise<number>((resolve) => {
    let text = ""
    child.process.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString()
      const port = /port=(\d+)\n/.exec(text)
      if (port !== null) resolve(Number(port[1]))
    })
  })
  try {
    return { child, port: await child.alive(listening) }
  } catch (cause) {
    await child.close()
    throw cause
  }
}

/** Opens a server, its connections and sessions, and checks its answer. */
export const open = async (file: string, workload: HttpWorkload, options: Options = {}): Promise<Contestant> => {
  const { child, port } = await listen(file, options)
  const connections = Array.from({ length: workload.connections }, () => new HttpConnection(port))
  const close = async () => {
    for (const connection of connections) connection.close()
    await child.close()
  }
  try {
    const lanes: Array<Lane> = []
    for (const connection of connections) {
      const fields =
        workload.era === "legacy" ? await child.alive(openSession(connection)) : modernFields(workload.request)
      lanes.push({ connection, request: framed(workload.request, fields) })
    }
    const { connection, request } = lanes[0] as Lane
    workload.expect(messagesOf(await child.alive(connection.request(textWith(request, ++lastId)))))
    return { child, run: (milliseconds) => child.alive(run(lanes, milliseconds), milliseconds + 30_000), close }
  } catch (cause) {
    await close()
    throw cause
  }
}
