/**
 * The route among others: what an application does with requests before they come to it.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { describe, expect, it } from "@effect/vitest"
import { ByteSize, Context, Effect, Layer, type Scope } from "effect"
import { HttpIncomingMessage, type HttpMiddleware, HttpRouter, HttpServer, HttpServerRequest } from "effect/http"
import { StreamableHttp } from "mcp-effect"
import * as Http from "node:http"
import { demo } from "../support/Demo.ts"
import { modern, modernMeta } from "../support/RawClient.ts"

const headers = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": modern,
  "mcp-method": "tools/list"
}

const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: modernMeta() } })

/** Serves the route; gives the port. */
const serve = (middleware: HttpMiddleware.HttpMiddleware = (app) => app): Effect.Effect<number, never, Scope.Scope> =>
  Layer.build(
    HttpRouter.serve(StreamableHttp.layerRoute(demo), { disableListenLog: true, disableLogger: true, middleware }).pipe(
      Layer.provideMerge(NodeHttpServer.layer(Http.createServer, { port: 0, host: "127.0.0.1" }))
    )
  ).pipe(
    Effect.map((context) => {
      const { address } = Context.get(context, HttpServer.HttpServer)
      return "port" in address ? address.port : 0
    }),
    Effect.orDie
  )

interface Posted {
  readonly status: number | undefined
  readonly text: string
  /** Whether the server has asked for the body. */
  readonly continued: boolean
}

const post = (port: number, more: Http.OutgoingHttpHeaders, write: (request: Http.ClientRequest) => void) =>
  Effect.callback<Posted>((resume) => {
    let continued = false
    const request = Http.request({
      host: "127.0.0.1",
      port,
      path: "/mcp",
      method: "POST",
      headers: { ...headers, ...more }
    })
    request.on("continue", () => (continued = true))
    request.on("response", (response) => {
      let text = ""
      response.setEncoding("utf8")
      response.on("data", (part: string) => (text += part))
      response.on("end", () => resume(Effect.succeed({ status: response.statusCode, text, continued })))
    })
    write(request)
  })

const answered = { status: 200, text: expect.stringContaining('"tools":[') }

describe("the body of a request to the route", () => {
  it.live("comes in pieces of any size, with its length", () =>
    Effect.gen(function* () {
      const port = yield* serve()
      const posted = yield* post(port, { "content-length": body.length }, (request) => {
        request.write(body.slice(0, 10))
        setTimeout(() => request.end(body.slice(10)), 5)
      })
      expect(posted).toMatchObject(answered)
    })
  )

  it.live("or in chunks, without it", () =>
    Effect.gen(function* () {
      const port = yield* serve()
      const posted = yield* post(port, { "transfer-encoding": "chunked" }, (request) => {
        request.write(body.slice(0, 10))
        request.end(body.slice(10))
      })
      expect(posted).toMatchObject(answered)
    })
  )

  it.live("is asked for when the client waits for that", () =>
    Effect.gen(function* () {
      const port = yield* serve()
      const more = { "content-length": body.length, expect: "100-continue" }
      const posted = yield* post(port, more, (request) => request.on("continue", () => request.end(body)))
      expect(posted).toMatchObject({ ...answered, continued: true })
    })
  )

  it.live("may have been read by a middleware before", () =>
    Effect.gen(function* () {
      const read: Array<string> = []
      const port = yield* serve((app) =>
        Effect.gen(function* () {
          const request = yield* HttpServerRequest.HttpServerRequest
          read.push(yield* Effect.orDie(request.text))
          return yield* app
        })
      )
      expect(yield* post(port, {}, (request) => request.end(body))).toMatchObject(answered)
      expect(read).toEqual([body])
    })
  )

  it.live("is bounded by the application, too", () =>
    Effect.gen(function* () {
      const port = yield* serve((app) =>
        Effect.provideService(app, HttpIncomingMessage.MaxBodySize, ByteSize.bytes(10))
      )
      expect(yield* post(port, {}, (request) => request.end(body))).toMatchObject({ status: 400 })
      expect(yield* post(port, {}, (request) => request.end("{}"))).toMatchObject({
        status: 400,
        text: expect.stringContaining("jsonrpc")
      })
    })
  )
})
