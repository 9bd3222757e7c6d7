/**
 * A client over HTTP that sends what it likes, in either era, and reads what comes back as it likes.
 */
import { Agent, type ClientRequest, type IncomingMessage, request } from "node:http"
import { Lost, Wrong } from "./Tally.ts"

/** Milliseconds without an answer after which it is lost. */
const patience = 60_000

/** A message, read from JSON. */
export interface Json {
  readonly [member: string]: unknown
}

/** What came back, so far. */
export interface Reply {
  readonly status: number
  readonly headers: IncomingMessage["headers"]
  readonly body: IncomingMessage
  readonly request: ClientRequest
}

/** An event of a stream. */
export interface Event {
  readonly id: string | undefined
  readonly data: string
}

export const legacy = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const
export const modern = "2026-07-28"

/** The whole body. */
export const textOf = async ({ body }: Reply): Promise<string> => {
  body.setEncoding("utf8")
  let text = ""
  try {
    for await (const chunk of body) text += chunk
  } catch (cause) {
    throw new Lost("The body was cut off", { cause })
  }
  return text
}

/** The events of a stream, until it ends or is cut off. */
export async function* eventsOf({ body }: Reply): AsyncGenerator<Event> {
  body.setEncoding("utf8")
  let text = ""
  for await (const chunk of body) {
    text += chunk
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const lines = text.slice(0, end).split("\n")
      text = text.slice(end + 2)
      const field = (name: string) =>
        lines
          .filter((line) => line.startsWith(`${name}:`))
          .map((line) => line.slice(name.length + 1).trimStart())
          .join("\n")
      const data = field("data")
      const id = field("id")
      if (data !== "" || id !== "") yield { id: id === "" ? undefined : id, data }
    }
  }
}

/** One client. */
export class Wire {
  readonly port: number
  /** Its revision. */
  readonly revision: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 8 })
  session: string | undefined
  #lastId = 0

  constructor(port: number, revision: string) {
    this.port = port
    this.revision = revision
  }

  get isModern(): boolean {
    return this.revision === modern
  }

  /** An id that was not used before. */
  get nextId(): number {
    return ++this.#lastId
  }

  /** Hangs up on everything. */
  close(): void {
    this.#agent.destroy()
  }

  /** Any request. The reply is there with its head; it must be read or destroyed. */
  async send(
    method: string,
    headers: { readonly [name: string]: string | undefined },
    body: string | ((outgoing: ClientRequest) => void) = ""
  ): Promise<Reply> {
    const defined = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined))
    while (true) {
      let isReused = false
      try {
        return await new Promise<Reply>((resolve, reject) => {
          const outgoing = request({
            host: "127.0.0.1",
            port: this.port,
            path: "/mcp",
            method,
            agent: this.#agent,
            headers: defined
          })
          outgoing.setTimeout(patience, () => outgoing.destroy(new Lost(`No answer within ${patience} ms`)))
          outgoing.once("response", (incoming) => {
            incoming.on("error", () => {})
            resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: incoming, request: outgoing })
          })
          outgoing.on("error", (cause) => {
            isReused = outgoing.reusedSocket
            reject(cause instanceof Lost ? cause : new Lost("The request failed", { cause }))
          })
          if (typeof body === "string") outgoing.end(body)
          else body(outgoing)
        })
      } catch (cause) {
        // The server may hang up on an idle connection at any moment; that is what HTTP asks a client to try again after.
        if (!isReused || typeof body !== "string") throw cause
      }
    }
  }

  /** The headers of a POST of this client. */
  headersOf(message: Json): { readonly [name: string]: string | undefined } {
    const params = message.params as Json | undefined
    const isModern = this.isModern
    return {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-session-id": this.session,
      "mcp-protocol-version": isModern || this.session !== undefined ? this.revision : undefined,
      ...(isModern && typeof message.method === "string" && { "mcp-method": message.method }),
      ...(isModern && message.method === "tools/call" && { "mcp-name": String(params?.name) }),
      ...(isModern && message.method === "resources/read" && { "mcp-name": String(params?.uri) })
    }
  }

  /** Posts a message. */
  post(message: Json, headers: { readonly [name: string]: string | undefined } = {}): Promise<Reply> {
    return this.send("POST", { ...this.headersOf(message), ...headers }, JSON.stringify(message))
  }

  /** A request in the spelling of the client's era. */
  message(method: string, params: Json = {}, id: unknown = this.nextId): Json & { readonly id: unknown } {
    const _meta = {
      ...(this.isModern && {
        "io.modelcontextprotocol/protocolVersion": modern,
        "io.modelcontextprotocol/clientInfo": { name: "soak", version: "1.0.0" },
        "io.modelcontextprotocol/clientCapabilities": { elicitation: {} }
      }),
      ...(params._meta as Json | undefined)
    }
    return {
      jsonrpc: "2.0",
      id,
      method,
      params: Object.keys(_meta).length === 0 ? params : { ...params, _meta }
    }
  }

  /** A call of a tool. */
  call(name: string, args: Json, more: Json = {}): Json & { readonly id: unknown } {
    return this.message("tools/call", { name, arguments: args, ...more })
  }

  /** Everything that a reply says up to the answer with this id, in whatever form; the answer is the last. */
  async messagesOf(reply: Reply, id: unknown, onMessage?: (message: Json) => void): Promise<ReadonlyArray<Json>> {
    if (reply.headers["content-type"]?.startsWith("text/event-stream") !== true) {
      const text = await textOf(reply)
      try {
        return [JSON.parse(text) as Json]
      } catch {
        throw new Wrong(`Status ${reply.status}, and no JSON: ${text.slice(0, 300)}`)
      }
    }
    const messages: Array<Json> = []
    try {
      for await (const { data } of eventsOf(reply)) {
        if (data === "") continue
        const message = JSON.parse(data) as Json
        messages.push(message)
        onMessage?.(message)
        if (message.id === id && !("method" in message)) {
          reply.body.destroy()
          return messages
        }
      }
    } catch (cause) {
      throw new Lost("The stream was cut off", { cause })
    }
    throw new Lost(
      `The stream has ended without the answer to ${String(id)}: ${JSON.stringify(messages).slice(0, 300)}`
    )
  }

  /** Sends a request and gives all of what comes up to the answer. */
  async ask(
    message: Json & { readonly id: unknown },
    onMessage?: (message: Json) => void
  ): Promise<ReadonlyArray<Json>> {
    return this.messagesOf(await this.post(message), message.id, onMessage)
  }

  /** Opens a session, in the legacy era. */
  async initialize(): Promise<void> {
    if (this.isModern) return
    const clientInfo = { name: "soak", version: "1.0.0" }
    const params = { protocolVersion: this.revision, capabilities: { elicitation: {} }, clientInfo }
    const message = this.message("initialize", params)
    const reply = await this.post(message)
    const [answer] = await this.messagesOf(reply, message.id)
    if ((answer?.result as Json | undefined)?.protocolVersion !== this.revision) {
      throw new Wrong(`initialize: ${JSON.stringify(answer)}`)
    }
    const session = reply.headers["mcp-session-id"]
    if (typeof session !== "string") throw new Wrong("initialize has given no session")
    this.session = session
    const done = await this.post({ jsonrpc: "2.0", method: "notifications/initialized" })
    await textOf(done)
    if (done.status !== 202) throw new Wrong(`notifications/initialized: ${done.status}`)
  }
}
