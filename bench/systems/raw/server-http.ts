/** The limit over `node:http`: read the body, parse, answer, write. */
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { announce, answers } from "../echo.ts"
import { answer } from "./answer.ts"

const respond = (response: Http.ServerResponse, body: string) => {
  let streaming = answers === "sse"
  if (streaming) response.writeHead(200, { "content-type": "text/event-stream" })
  const message = JSON.parse(body)
  const result = answer(message, (notification) => {
    if (!streaming) response.writeHead(200, { "content-type": "text/event-stream" })
    streaming = true
    response.write(`event: message\ndata: ${JSON.stringify(notification)}\n\n`)
  })
  if (result === undefined) {
    response.writeHead(202)
    response.end()
  } else if (streaming) {
    response.end(`event: message\ndata: ${JSON.stringify(result)}\n\n`)
  } else {
    const text = JSON.stringify(result)
    const headers: Http.OutgoingHttpHeaders = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text)
    }
    if (message.method === "initialize") headers["mcp-session-id"] = "raw"
    response.writeHead(200, headers)
    response.end(text)
  }
}

const server = Http.createServer((request, response) => {
  if (request.method !== "POST") {
    response.writeHead(request.method === "DELETE" ? 204 : 405)
    response.end()
    return
  }
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    respond(response, chunks.length === 1 ? String(chunks[0]) : Buffer.concat(chunks).toString())
  })
})
server.listen(0, "127.0.0.1", () => announce((server.address() as AddressInfo).port))
