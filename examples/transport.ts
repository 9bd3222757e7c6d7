/**
 * Your own transport: MCP over `MessagePort`s, which is how worker threads, frames and extensions talk to each other.
 *
 * A transport is two services. `ClientTransport.connect` opens a `Connection`, `ServerTransport.run` hands out the other
 * ends, and a `Connection` can send a message and run a receiver: in order, one at a time. Three things are asked of it:
 * text arrives unchanged, `send` waits while the peer does not read, and an end of either side is told to the other.
 * `TransportLaws.suite` of `mcp-effect/testing` checks all of that.
 */
import { Context, Effect, Layer, Queue, Semaphore, type Scope } from "effect"
import { McpError, Protocol, Transport } from "mcp-effect"
import { MessageChannel, type MessagePort } from "node:worker_threads"

/** Messages on their way to a peer that has not handled them yet. */
const window = 64

/** A port takes whatever it is given, so the receiver says `"next"` for every message that it is done with. */
type Letter = { readonly message: string } | "next"

/** One end of a channel as a connection, which is closed with the scope. */
export const connectionOver = (port: MessagePort): Effect.Effect<Transport.Connection, never, Scope.Scope> =>
  Effect.gen(function* () {
    const credit = Semaphore.makeUnsafe(window)
    const inbox = yield* Queue.unbounded<string>()
    let isClosed = false
    port.on("message", (letter: Letter) => {
      if (letter === "next") Effect.runSync(credit.release(1))
      else Queue.offerUnsafe(inbox, letter.message)
    })
    port.on("close", () => {
      isClosed = true
      // What was sent is still handled, then `run` ends; whoever waits for credit is told that none will come.
      Queue.offerUnsafe(inbox, "")
      Effect.runSync(credit.release(Number.MAX_SAFE_INTEGER))
    })
    yield* Effect.addFinalizer(() => Effect.sync(() => port.close()))
    return {
      send: (message) =>
        Effect.andThen(
          credit.take(1),
          Effect.suspend(() => {
            if (isClosed) return Effect.fail(McpError.closed("The port is closed"))
            return Effect.sync(() => port.postMessage({ message: Protocol.JsonRpc.stringify(message) }))
          })
        ),
      run: (onMessage) =>
        Queue.take(inbox).pipe(
          Effect.tap((text) => (text === "" ? Effect.void : onMessage(Protocol.JsonRpc.parse(text)))),
          Effect.tap((text) => Effect.sync(() => text !== "" && port.postMessage("next"))),
          Effect.repeat({ until: (text) => text === "" })
        )
    }
  })

/** A client and a server in one process, linked by a channel for every connection. */
export const layer: Layer.Layer<Transport.ClientTransport | Transport.ServerTransport> = Layer.effectContext(
  Effect.gen(function* () {
    const dialled = yield* Queue.unbounded<MessagePort>()
    const connect = Effect.suspend(() => {
      const { port1, port2 } = new MessageChannel()
      Queue.offerUnsafe(dialled, port2)
      return connectionOver(port1)
    })
    const run: Transport.ServerTransport["Service"]["run"] = (serve) =>
      Effect.scopedWith((scope) =>
        Queue.take(dialled).pipe(
          Effect.flatMap((port) => Effect.forkIn(Effect.scoped(Effect.flatMap(connectionOver(port), serve)), scope)),
          Effect.forever
        )
      )
    return Context.make(Transport.ClientTransport, { connect }).pipe(Context.add(Transport.ServerTransport, { run }))
  })
)
