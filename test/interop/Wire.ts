/**
 * What went over the wire between a client and a server, as something between them has seen it.
 */

/** A piece of a conversation. */
export interface Piece {
  readonly from: "client" | "server"
  /** Pieces of the same stream belong together; the stream of a child process, or the body of an HTTP message. */
  readonly stream: string
  readonly text: string
}

/** A JSON-RPC message. */
export interface Message {
  readonly id?: string | number | null
  readonly method?: string
  readonly params?: { readonly [name: string]: unknown }
  readonly result?: { readonly [name: string]: unknown }
  readonly error?: { readonly code: number; readonly message: string }
}

/** Everything so far, in order. */
export interface Wire {
  readonly pieces: () => ReadonlyArray<Piece>
}

/** The messages of one side, whether they came as lines, as events or as the body of a request. */
export const messagesOf = (wire: Wire, from: Piece["from"]): ReadonlyArray<Message> => {
  const streams = new Map<string, string>()
  for (const piece of wire.pieces()) {
    if (piece.from === from && !piece.stream.endsWith(" log"))
      streams.set(piece.stream, (streams.get(piece.stream) ?? "") + piece.text)
  }
  return [...streams.values()].flatMap((text) => text.split(/\r?\n/).flatMap(parse))
}

const parse = (line: string): ReadonlyArray<Message> => {
  const text = line.startsWith("data:") ? line.slice("data:".length) : line
  if (!/^\s*[[{]/.test(text)) return []
  try {
    return [JSON.parse(text)].flat()
  } catch {
    return []
  }
}

const versionKey = "io.modelcontextprotocol/protocolVersion"

/**
 * The revision that client and server ended up with: that of the last `initialize` which the client went on from, or
 * else the one that the client's last request carries.
 */
export const negotiated = (wire: Wire): string | undefined => {
  const asked = messagesOf(wire, "client")
  const answers = messagesOf(wire, "server")
  if (asked.some(({ method }) => method === "notifications/initialized")) {
    const ids = new Set(asked.filter(({ method }) => method === "initialize").map(({ id }) => id))
    const versions = answers.filter(({ id }) => ids.has(id)).map(({ result }) => result?.["protocolVersion"])
    return versions.findLast((version) => typeof version === "string")
  }
  const metas = asked.map(({ params }) => params?.["_meta"] as { readonly [key: string]: unknown } | undefined)
  const version = metas.findLast((meta) => meta?.[versionKey] !== undefined)?.[versionKey]
  return typeof version === "string" ? version : undefined
}

/** The last pieces from a position on, one a line, to be shown as evidence. */
export const excerpt = (wire: Wire, start: number, lines = 12): ReadonlyArray<string> =>
  wire
    .pieces()
    .slice(start)
    .flatMap(({ from, text }) =>
      text
        .trim()
        .split(/\r?\n/)
        .map((line) => `${from === "client" ? "→" : "←"} ${line}`)
    )
    .filter((line) => line.length > 2)
    .slice(-lines)
    .map((line) => (line.length > 400 ? `${line.slice(0, 400)}…` : line))
