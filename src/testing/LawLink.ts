/**
 * Connections that the laws of transports are checked on: both ends in the hands of the law.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Latch from "effect/Latch"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as JsonRpc from "../protocol/JsonRpc.ts"
import type { McpError } from "../protocol/McpError.ts"
import { ClientTransport, type Connection, ServerTransport } from "../transport/Transport.ts"

/** A transport does not keep a law. */
export class LawBroken extends Schema.TaggedError<LawBroken>()("LawBroken", { message: Schema.String }) {}

/** Fails with {@link LawBroken}. */
export const broken = (message: string): Effect.Effect<never, LawBroken> => Effect.fail(new LawBroken({ message }))

/** How long something that must happen may take. */
const patience = "15 seconds"

/** Waits for what must happen. */
export const within = <A, E, R>(what: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | LawBroken, R> =>
  Effect.timeoutOrElse(effect, { duration: patience, orElse: () => broken(`Waited ${patience} in vain: ${what}`) })

/** One end of a connection. */
export interface End {
  readonly send: (message: JsonRpc.Message) => Effect.Effect<void, McpError>
  /** The next message that arrived. */
  readonly next: Effect.Effect<JsonRpc.Incoming, LawBroken>
  /** Stops reading, as a receiver that is busy. */
  readonly pause: Effect.Effect<void>
  readonly resume: Effect.Effect<void>
  /** Hangs up. */
  readonly hangUp: Effect.Effect<void>
  /** How `run` has ended. */
  readonly ended: Effect.Effect<Exit.Exit<void, McpError>, LawBroken>
}

/** Both ends of one connection. */
export interface Link {
  readonly client: End
  readonly server: End
}

/** What opens connections. */
export interface Dialer {
  /** Opens one more connection. */
  readonly dial: Effect.Effect<Link, LawBroken | McpError>
  /** The server's end of a connection that somebody else opens, once its first message is there. */
  readonly accept: Effect.Effect<End, LawBroken>
}

const hello = "law/hello"

const makeEnd = (connection: Connection, hangUp: Effect.Effect<void>): Effect.Effect<End, never, Scope.Scope> =>
  Effect.gen(function* () {
    const inbox = yield* Queue.unbounded<JsonRpc.Incoming>()
    const gate = Latch.makeUnsafe(true)
    const ended = yield* Deferred.make<Exit.Exit<void, McpError>>()
    const receive = (message: JsonRpc.Incoming) => gate.whenOpen(Effect.asVoid(Queue.offer(inbox, message)))
    yield* connection.run(receive).pipe(
      Effect.exit,
      Effect.flatMap((exit) => Deferred.succeed(ended, exit)),
      Effect.forkScoped({ startImmediately: true })
    )
    return {
      send: (message) => connection.send(message),
      next: within("a message arrives", Queue.take(inbox)),
      pause: gate.close,
      resume: gate.open,
      hangUp,
      ended: within("run ends", Deferred.await(ended))
    }
  })

/** The number of the connection that a first message announces. */
const numberOf = (message: JsonRpc.Incoming): number | undefined => {
  if (message instanceof JsonRpc.Malformed || message instanceof JsonRpc.Batch || !JsonRpc.isNotification(message)) {
    return undefined
  }
  return message.method === hello ? Number(message.params?.number) : undefined
}

/** Serves and dials for as long as the scope. */
export const make: Effect.Effect<Dialer, never, ClientTransport | ServerTransport | Scope.Scope> = Effect.gen(
  function* () {
    const scope = yield* Effect.scope
    const client = yield* ClientTransport
    const server = yield* ServerTransport
    const expected = new Map<number, Deferred.Deferred<End>>()
    const strangers = yield* Queue.unbounded<End>()
    let dialled = 0

    // Who the client is shows in the first message, which is also what makes some transports open a connection at all.
    const serve = (connection: Connection) =>
      Effect.gen(function* () {
        const hungUp = yield* Deferred.make<void>()
        const end = yield* makeEnd(connection, Effect.asVoid(Deferred.succeed(hungUp, undefined)))
        const number = numberOf(yield* end.next)
        const waiting = number === undefined ? undefined : expected.get(number)
        yield* waiting === undefined ? Queue.offer(strangers, end) : Deferred.succeed(waiting, end)
        yield* Effect.raceFirst(Deferred.await(hungUp), Effect.andThen(end.ended, Effect.void))
      }).pipe(Effect.scoped, Effect.ignore)
    yield* Effect.forkIn(Effect.ignore(server.run(serve)), scope, { startImmediately: true })

    const dial = Effect.gen(function* () {
      const number = ++dialled
      const accepted = yield* Deferred.make<End>()
      expected.set(number, accepted)
      const own = yield* Scope.fork(scope)
      const connection = yield* within("a connection opens", Scope.provide(client.connect, own))
      // Reading goes on while the connection closes, as it does in a client.
      const end = yield* Scope.provide(makeEnd(connection, Scope.close(own, Exit.void)), scope)
      yield* within("the first message is sent", end.send(JsonRpc.notification(hello, { number })))
      return { client: end, server: yield* within("the server gets the connection", Deferred.await(accepted)) }
    })
    return { dial, accept: within("the server gets a connection", Queue.take(strangers)) }
  }
)
