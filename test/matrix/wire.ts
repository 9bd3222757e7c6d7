/**
 * Looking at what a client and its server say to each other, in between client and transport.
 */
import { Effect, Layer } from "effect"
import { Protocol, Transport } from "mcp-effect"

/** What was said, oldest first. */
export interface Wire {
  readonly sent: Array<Protocol.JsonRpc.Outgoing>
  readonly received: Array<Protocol.JsonRpc.Incoming>
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
      wire.sent.push(message)
      return connection.send(message, options)
    }),
  sendUnsafe: (message, options) => {
    wire.sent.push(message)
    return Transport.sendNow(connection, message, options)
  },
  run: (onMessage) =>
    connection.run((message) => {
      wire.received.push(message)
      return onMessage(message)
    })
})

type Single = Protocol.JsonRpc.Message | Protocol.JsonRpc.Malformed

/** What was said, with batches taken apart. */
const sentOf = ({ sent }: Wire): ReadonlyArray<Protocol.JsonRpc.Message> => sent.flat()
const receivedOf = ({ received }: Wire): ReadonlyArray<Single> =>
  received.flatMap((message) => (message instanceof Protocol.JsonRpc.Batch ? message.messages : message))

/** The requests of this method that the client has sent. */
export const requests = (wire: Wire, method: string): ReadonlyArray<Protocol.JsonRpc.Request> =>
  sentOf(wire)
    .filter(Protocol.JsonRpc.isRequest)
    .filter((request) => request.method === method)

/** The server's answer to a request. */
export const answerTo = (wire: Wire, { id }: Protocol.JsonRpc.Request): Protocol.JsonRpc.Response | undefined =>
  receivedOf(wire)
    .filter(Protocol.JsonRpc.isResponse)
    .find((answer) => answer.id === id)

/** Whether a request was put by either side: as a message of its own, or inside a result that asks for input. */
export const wasAsked = (wire: Wire, method: string): boolean =>
  [...sentOf(wire), ...receivedOf(wire)].some((message) =>
    JSON.stringify(message).includes(`"method":${JSON.stringify(method)}`)
  )
