/**
 * Looking at what a client and its server say to each other, in between client and transport.
 */
import { Effect, Layer } from "effect"
import { Protocol, Transport } from "mcp-effect"

/** What was said, oldest first, batches one by one. */
export interface Wire {
  readonly sent: Array<Protocol.JsonRpc.Message>
  readonly received: Array<Protocol.JsonRpc.Message | Protocol.JsonRpc.Malformed>
}

/** Nothing said so far. */
export const silent = (): Wire => ({ sent: [], received: [] })

/** Forgets what was said. */
export const forget = (wire: Wire): Effect.Effect<void> =>
  Effect.sync(() => {
    wire.sent.length = 0
    wire.received.length = 0
  })

/** A transport that notes down everything it carries. */
export const tapped = <E, R>(
  wire: Wire,
  transport: Layer.Layer<Transport.ClientTransport, E, R>
): Layer.Layer<Transport.ClientTransport, E, R> =>
  Layer.effect(
    Transport.ClientTransport,
    Effect.map(Transport.ClientTransport, ({ connect }) =>
      Transport.ClientTransport.of({ connect: Effect.map(connect, (connection) => tap(wire, connection)) })
    )
  ).pipe(Layer.provide(transport))

const tap = (wire: Wire, connection: Transport.Connection): Transport.Connection => ({
  send: (message, options) =>
    Effect.suspend(() => {
      wire.sent.push(...[message].flat())
      return connection.send(message, options)
    }),
  run: (onMessage) =>
    connection.run((message) => {
      wire.received.push(...(message instanceof Protocol.JsonRpc.Batch ? message.messages : [message]))
      return onMessage(message)
    })
})

/** Requests and notifications of this method, as the client has sent them. */
export const sent = (wire: Wire, method: string): ReadonlyArray<Protocol.JsonRpc.Request> =>
  wire.sent.flatMap((message) => (methodOf(message) === method ? [message as Protocol.JsonRpc.Request] : []))

/** What the server has answered to a request. */
export const answerTo = (wire: Wire, { id }: Protocol.JsonRpc.Request): Wire["received"][number] | undefined =>
  wire.received.find((message) => methodOf(message) === undefined && "id" in message && message.id === id)

/** Whether a request was put by either side: as a message of its own, or inside a result that asks for input. */
export const wasAsked = ({ received, sent }: Wire, method: string): boolean =>
  [...sent, ...received].some((message) => JSON.stringify(message).includes(`"method":${JSON.stringify(method)}`))

const methodOf = (message: Wire["received"][number]): string | undefined =>
  "method" in message ? message.method : undefined
