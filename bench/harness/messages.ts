/** The messages that the driver sends, as text, in both eras. */
import { type Era, info, versions } from "../systems/echo.ts"

const modernMeta = {
  "io.modelcontextprotocol/protocolVersion": versions.modern,
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "driver", version: "1.0.0" }
}

/** A request without its id: the driver puts one between the two halves. */
export interface Template {
  readonly method: string
  /** What `Mcp-Name` says. */
  readonly name: string | undefined
  readonly before: string
  readonly after: string
}

const template = (era: Era, method: string, params: object, meta: object = {}): Template => {
  const _meta = era === "modern" ? { ...modernMeta, ...meta } : meta
  const full = Object.keys(_meta).length === 0 ? params : { ...params, _meta }
  return {
    method,
    name: "name" in params ? String(params.name) : undefined,
    before: `{"jsonrpc":"2.0","id":`,
    after: `,"method":${JSON.stringify(method)},"params":${JSON.stringify(full)}}`
  }
}

/** A text of this many bytes, none of which JSON has to escape. */
export const textOf = (bytes: number): string => "abcdefghij".repeat(Math.ceil(bytes / 10)).slice(0, bytes)

export const echo = (era: Era, text: string): Template =>
  template(era, "tools/call", { name: "echo", arguments: { text } })

export const list = (era: Era): Template => template(era, "tools/list", {})

export const progress = (era: Era, text: string, times: number): Template =>
  template(era, "tools/call", { name: "progress", arguments: { text, times } }, { progressToken: 1 })

export const initialize: Template = template("legacy", "initialize", {
  protocolVersion: versions.legacy,
  capabilities: {},
  clientInfo: { ...info, name: "driver" }
})

export const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

export const textWith = ({ after, before }: Template, id: number): string => before + id + after
