/**
 * What Node's sender does with connections; what it does with requests and responses is tested with the transports.
 */
import { expect, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import * as NodeHttpSender from "../../src/node/HttpSender.ts"
import { HttpSender } from "../../src/transport/HttpSender.ts"

/** A server that keeps connections for so many milliseconds; gives its URL and what dials it. */
const serve = (keepAliveTimeout: number, listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly url: string; readonly sockets: ReadonlyArray<Socket>; readonly close: () => void }>(
      (resume) => {
        const server = createServer({ keepAliveTimeout }, listener)
        const sockets: Array<Socket> = []
        server.on("connection", (socket) => sockets.push(socket))
        server.listen(0, "127.0.0.1", () => {
          const { port } = server.address() as AddressInfo
          const close = () => {
            server.close()
            server.closeAllConnections()
          }
          resume(Effect.succeed({ url: `http://127.0.0.1:${port}/`, sockets, close }))
        })
      }
    ),
    ({ close }) => Effect.sync(close)
  )

const get = (url: string) =>
  Effect.scopedWith((scope) =>
    Effect.gen(function* () {
      const response = yield* (yield* HttpSender).send({ method: "GET", url, headers: {} }, scope)
      return { status: response.status, text: yield* response.text }
    })
  )

it.live("uses a connection again, and hangs up before the server does", () =>
  Effect.gen(function* () {
    const { sockets, url } = yield* serve(3000, (_request, response) => response.end("é"))
    const context = yield* Layer.build(NodeHttpSender.layer)
    for (let n = 0; n < 3; n++) {
      expect(yield* Effect.provideContext(get(url), context)).toEqual({ status: 200, text: "é" })
    }
    expect(sockets).toHaveLength(1)
    const [socket] = sockets
    // A server that hangs up itself never sees an end.
    const ended = yield* Effect.callback<boolean>((resume) => {
      socket?.once("end", () => resume(Effect.succeed(true)))
      socket?.once("close", () => resume(Effect.succeed(false)))
    })
    expect(ended).toBe(true)
  })
)

it.live("hangs up on a response that nobody reads to its end, and on all with its layer", () =>
  Effect.gen(function* () {
    const { sockets, url } = yield* serve(60_000, (_request, response) => {
      response.write("beginning")
    })
    const begin = Effect.scopedWith((scope) =>
      Effect.gen(function* () {
        const response = yield* Context.get(context, HttpSender).send({ method: "GET", url, headers: {} }, scope)
        return String(Buffer.concat((yield* response.chunk) ?? []))
      })
    )
    const context = yield* Layer.build(NodeHttpSender.layer)
    expect(yield* begin).toBe("beginning")
    yield* Effect.callback<void>((resume) => {
      if (sockets[0]?.destroyed === true) resume(Effect.void)
      else sockets[0]?.once("close", () => resume(Effect.void))
    })
    expect(sockets).toHaveLength(1)
  })
)

it.live("a response that is cut is a failure that says so", () =>
  Effect.gen(function* () {
    const { url } = yield* serve(60_000, (request, response) => {
      response.writeHead(200, { "content-length": 100 })
      response.write("half", () => request.socket.destroy())
    })
    const error = yield* Effect.flip(Effect.provide(get(url), NodeHttpSender.layer))
    expect(error.reason._tag).toBe("TransportFailure")
    expect(error.message).toMatch(/^GET http:\/\/127\.0\.0\.1:\d+\/ failed: /)
  })
)
