/**
 * Looking at what a client and its server say to each other, in between client and transport.
 */
import { Effect, Layer } from "effect"
import { type Protocol, Transport } from "mcp-effect"

/** What was said, oldest first. */
export interface Wire {
  readonly sent: Array<Protocol.JsonRpc.Message>
  readonly received: Array<Protocol.JsonRpc.Incoming>
}

/** Nothing said so far. */
export const silent = (): Wire => ({ sent: [], received: [] })

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
      wire.sent.push(message)
      return connection.send(message, options)
    }),
  run: (onMessage) =>
    connection.run((message) => {
      wire.received.push(message)
      return onMessage(message)
    })
})

/** The method that a message names; answers name none. */
export const methodOf = (message: Protocol.JsonRpc.Incoming): string | undefined =>
  "method" in message && typeof message.method === "string" ? message.method : undefined

/** Whether a request was put: by a message of its own, or inside a result that asks for input. */
export const wasAsked = ({ received, sent }: Wire, method: string): boolean =>
  [...sent, ...received].some((message) => methodOf(message) === method) ||
  received.some((message) => JSON.stringify(message).includes(`"method":${JSON.stringify(method)}`))
