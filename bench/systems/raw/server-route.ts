/** The limit of an `HttpRouter` route: one that parses and echoes, on Effect's own Node server. */
import * as Http from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer, Stream } from "effect"
import { HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { announce } from "../echo.ts"
import { answer } from "./answer.ts"

const route = HttpRouter.use((router) =>
  router.add(
    "POST",
    "/mcp",
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      Effect.map(request.text, (body) => {
        const message = JSON.parse(body)
        const events: Array<string> = []
        const result = answer(message, (notification) => {
          events.push(`event: message\ndata: ${JSON.stringify(notification)}\n\n`)
        })
        if (result === undefined) return HttpServerResponse.empty({ status: 202 })
        if (events.length > 0) {
          events.push(`event: message\ndata: ${JSON.stringify(result)}\n\n`)
          const stream = Stream.encodeText(Stream.fromIterable(events))
          return HttpServerResponse.stream(stream, { contentType: "text/event-stream" })
        }
        const headers = message.method === "initialize" ? { "mcp-session-id": "raw" } : {}
        return HttpServerResponse.text(JSON.stringify(result), { contentType: "application/json", headers })
      })
    )
  )
)

const listening = Layer.effectDiscard(
  Effect.map(HttpServer.HttpServer, ({ address }) => {
    if ("port" in address) announce(address.port)
  })
)

// Announced when everything is there, or a request could come too early.
listening.pipe(
  Layer.provide(HttpRouter.serve(route, { disableLogger: true, disableListenLog: true })),
  Layer.provide(NodeHttpServer.layer(Http.createServer, { port: 0, host: "127.0.0.1" })),
  Layer.launch,
  NodeRuntime.runMain
)
