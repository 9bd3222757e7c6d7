/**
 * A reverse proxy that writes down what passes through it.
 */
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import type { Piece, Wire } from "./Wire.ts"

/** A proxy in front of one server. */
export interface HttpTap {
  /** The URL to use in place of the server's. */
  readonly url: string
  readonly wire: Wire
  /** Requests that are under way. */
  readonly open: () => number
  readonly close: () => Promise<void>
}

const shownHeaders = ["mcp-session-id", "mcp-protocol-version", "last-event-id", "content-type"]

const show = (headers: Http.IncomingHttpHeaders): string =>
  shownHeaders.flatMap((name) => (headers[name] === undefined ? [] : [` ${name}: ${String(headers[name])}`])).join(",")

/** Starts a proxy in front of a URL. */
export const tapHttp = async (target: string): Promise<HttpTap> => {
  const upstream = new URL(target)
  const pieces: Array<Piece> = []
  const record = (from: Piece["from"], stream: string, text: string) => void pieces.push({ from, stream, text })
  let exchanges = 0
  let open = 0

  const server = Http.createServer((request, response) => {
    const stream = String(exchanges++)
    open++
    response.once("close", () => open--)
    record("client", `${stream} head`, `${request.method} ${request.url}${show(request.headers)}\n`)
    const forwarded = Http.request(
      {
        host: upstream.hostname,
        port: upstream.port,
        path: request.url,
        method: request.method,
        headers: { ...request.headers, host: upstream.host },
        agent: false
      },
      (answer) => {
        record("server", `${stream} head`, `${answer.statusCode}${show(answer.headers)}\n`)
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        response.flushHeaders()
        answer.on("data", (chunk: Buffer) => {
          record("server", stream, chunk.toString())
          response.write(chunk)
        })
        answer.on("end", () => response.end())
        answer.on("error", () => response.destroy())
      }
    )
    forwarded.on("error", () => response.destroy())
    // A client that hangs up must be seen to do so by the server.
    response.once("close", () => {
      if (!response.writableFinished) {
        record("client", `${stream} head`, `(hung up on exchange of ${request.method})\n`)
        forwarded.destroy()
      }
    })
    request.on("data", (chunk: Buffer) => {
      record("client", stream, chunk.toString())
      forwarded.write(chunk)
    })
    request.on("end", () => forwarded.end())
  })

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${upstream.pathname}`,
    wire: { pieces: () => pieces },
    open: () => open,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}
