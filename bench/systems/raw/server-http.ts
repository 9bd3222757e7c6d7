/** The limit over `node:http`: read the body, parse, answer, write. */
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { announce, answers } from "../echo.ts"
import { answer } from "./answer.ts"

const respond = (response: Http.ServerResponse, body: string) => {
  const message = JSON.parse(body)
  const headers: Http.OutgoingHttpHeaders = message.method === "initialize" ? { "mcp-session-id": "raw" } : {}
  let streaming = false
  const write = (event: object) => {
    if (!streaming) response.writeHead(200, { ...headers, "content-type": "text/event-stream" })
    streaming = true
    response.write(`event: message\ndata: ${JSON.stringify(event)}\n\n`)
  }
  const result = answer(message, write)
  if (result === undefined) {
    response.writeHead(202).end()
  } else if (streaming || answers === "sse") {
    write(result)
    response.end()
  } else {
    const text = JSON.stringify(result)
    headers["content-type"] = "application/json"
    headers["content-length"] = Buffer.byteLength(text)
    response.writeHead(200, headers).end(text)
  }
}

const server = Http.createServer((request, response) => {
  if (request.method !== "POST") {
    response.writeHead(request.method === "DELETE" ? 204 : 405).end()
    return
  }
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    respond(response, chunks.length === 1 ? String(chunks[0]) : Buffer.concat(chunks).toString())
  })
})
server.listen(0, "127.0.0.1", () => announce((server.address() as AddressInfo).port))
