/**
 * The two kinds of HTTP sessions as transports of their own: a server whose sessions are connections in the hands of
 * whoever serves them, on `node:http`, and the client that reaches it.
 */
import { Context, Deferred, Effect, Layer, Queue } from "effect"
import { StreamableHttp } from "mcp-effect/node"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import type { Endpoint } from "../../src/transport/httpServer/Endpoint.ts"
import * as StreamableHttpServer from "../../src/transport/httpServer/StreamableHttpServer.ts"
import { Inbox } from "../../src/transport/Inbox.ts"
import { ClientTransport, type Connection, type Outlet, ServerTransport } from "../../src/transport/Transport.ts"

const revision = "2025-11-25"

const initialize = JsonRpc.request("initialize", "initialize", { protocolVersion: revision })
const initialized = JsonRpc.notification("notifications/initialized")

const isInitialize = (message: JsonRpc.Incoming): message is JsonRpc.Request =>
  JsonRpc.isRequest(message) && message.method === "initialize"

/** A server that hands its sessions on as connections. */
const makeEndpoint = (arrivals: Queue.Enqueue<Connection>): Endpoint => ({
  modern: [],
  legacy: [revision],
  closing: Effect.void,
  closingWithin: 0,
  handshakeWithin: Infinity,
  answer: () => ({ cancel: () => {}, landing: Effect.void }),
  open: (outlet) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const inbox = new Inbox()
        const outlets = new Map<JsonRpc.RequestId, Outlet>()
        const send = (message: JsonRpc.Outgoing) => {
          const own = JsonRpc.isResponse(message) && message.id !== undefined ? outlets.get(message.id) : undefined
          return (own ?? outlet).send(message)
        }
        Queue.offerUnsafe(arrivals, { send, run: (onMessage) => inbox.run((text) => onMessage(JsonRpc.parse(text))) })
        return {
          inbox,
          revision,
          inFlight: 0,
          receive: (message: JsonRpc.Incoming, from: Outlet) => {
            if (isInitialize(message))
              return Effect.orDie(from.send(JsonRpc.result(message.id, { protocolVersion: revision })))
            if (JsonRpc.isNotification(message) && message.method === initialized.method) return Effect.void
            if (JsonRpc.isRequest(message)) outlets.set(message.id, from)
            return Effect.ignore(inbox.offer(JSON.stringify(message)))
          }
        }
      }),
      ({ inbox }) => Effect.sync(() => inbox.end())
    )
})

const server = Layer.effectContext(
  Effect.gen(function* () {
    const arrivals = yield* Queue.unbounded<Connection>()
    const core = StreamableHttpServer.make(makeEndpoint(arrivals), { sse: {} })
    const listening = yield* StreamableHttp.host(core, { port: 0 })
    const run: ServerTransport["Service"]["run"] = (serve) =>
      Effect.scopedWith((scope) =>
        Effect.forever(Effect.flatMap(Queue.take(arrivals), (connection) => Effect.forkIn(serve(connection), scope)))
      )
    return Context.make(ServerTransport, { run }).pipe(Context.add(StreamableHttp.Listening, listening))
  })
)

/** A session has to be opened before anything else is said; the laws know nothing of that. */
const withHandshake = (connection: Connection): Connection => {
  const answered = Deferred.makeUnsafe<void>()
  const ready = Deferred.makeUnsafe<void>()
  const handshake = Effect.gen(function* () {
    yield* connection.send(initialize)
    yield* Deferred.await(answered)
    yield* connection.send(initialized)
    yield* Deferred.succeed(ready, undefined)
  })
  return {
    send: (message, options) => Effect.andThen(Deferred.await(ready), connection.send(message, options)),
    run: (onMessage) =>
      Effect.gen(function* () {
        yield* Effect.forkChild(handshake)
        yield* connection.run((message) =>
          JsonRpc.isResponse(message) && message.id === initialize.id
            ? Effect.asVoid(Deferred.succeed(answered, undefined))
            : onMessage(message)
        )
      })
  }
}

/** Sessions of Streamable HTTP up to 2025-11-25. */
export const streamable = Layer.effect(
  ClientTransport,
  Effect.gen(function* () {
    const { url } = yield* StreamableHttp.Listening
    const context = yield* Layer.build(StreamableHttp.layerClient({ url }))
    const { connect } = Context.get(context, ClientTransport)
    return { connect: Effect.map(connect, withHandshake) }
  })
).pipe(Layer.provideMerge(server))

/** Where the event stream of HTTP+SSE is. */
export const sseUrl = Effect.map(StreamableHttp.Listening, ({ port }) => `http://127.0.0.1:${port}/sse`)

/** HTTP+SSE of 2024-11-05. */
export const sse = Layer.unwrap(Effect.map(sseUrl, (url) => StreamableHttp.layerClientSse({ url }))).pipe(
  Layer.provideMerge(server)
)
