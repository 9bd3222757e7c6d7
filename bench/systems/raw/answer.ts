/**
 * The limit: the least that a server can do with a message and still answer it. A `switch`, no checks, no schemas.
 */
import { descriptions, fillers, info, versions } from "../echo.ts"

interface Message {
  readonly id?: string | number
  readonly method: string
  readonly params: {
    readonly name: string
    readonly arguments: { readonly text: string; readonly times: number }
    readonly _meta?: { readonly progressToken?: string | number }
  }
}

const text = { type: "string" }
const object = (properties: object) => ({ type: "object", properties, required: Object.keys(properties) })

const tools = [
  { name: "echo", description: descriptions.echo, inputSchema: object({ text }) },
  { name: "progress", description: descriptions.progress, inputSchema: object({ text, times: { type: "number" } }) },
  ...fillers.map(({ description, name }) => ({ name, description, inputSchema: object({ text }) }))
]

const answerTo = ({ method, params }: Message, notify: (notification: object) => void): object => {
  switch (method) {
    case "tools/call": {
      if (params.name === "progress") {
        const progressToken = params._meta?.progressToken
        const total = params.arguments.times
        for (let progress = 1; progress <= total; progress++) {
          notify({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress, total } })
        }
      }
      return { resultType: "complete", content: [{ type: "text", text: params.arguments.text }] }
    }
    case "tools/list":
      return { resultType: "complete", tools, ttlMs: 0, cacheScope: "private" }
    case "initialize":
      return { protocolVersion: versions.legacy, capabilities: { tools: {} }, serverInfo: info }
    case "server/discover":
      return {
        resultType: "complete",
        supportedVersions: [versions.modern],
        capabilities: { tools: {} },
        serverInfo: info,
        ttlMs: 0,
        cacheScope: "private"
      }
    default:
      return {}
  }
}

/** The answer to a request, `undefined` for a notification. */
export const answer = (message: Message, notify: (notification: object) => void): object | undefined =>
  message.id === undefined ? undefined : { jsonrpc: "2.0", id: message.id, result: answerTo(message, notify) }
