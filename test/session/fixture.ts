/**
 * A session whose outlet writes down what is sent, with a handler that the test chooses.
 */
import { Context, Effect, type Scope } from "effect"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import type { McpError } from "../../src/protocol/McpError.ts"
import * as Limits from "../../src/session/Limits.ts"
import * as Session from "../../src/session/Session.ts"
import * as Work from "../../src/session/Work.ts"
import type { Outlet } from "../../src/transport/Transport.ts"

/** What a test may choose. */
export interface Options {
  readonly handler?: (request: JsonRpc.Request) => Effect.Effect<JsonRpc.Members, McpError>
  readonly limits?: Partial<Limits.Limits>
  readonly sharedIds?: boolean
  /** Whether the peer may send batches. */
  readonly batches?: () => boolean
  readonly cancellable?: (method: string) => boolean
  /** Does the sending. Default: hands over at once. */
  readonly send?: (message: JsonRpc.Message) => Effect.Effect<void, McpError>
}

/** A session and what became of it. */
export interface Fixture {
  readonly session: Session.Session
  readonly sent: Array<JsonRpc.Message>
  readonly strays: Array<JsonRpc.Incoming>
  readonly notified: Array<JsonRpc.Notification>
  /** Takes a message as text, as it comes off a wire. */
  readonly take: (message: unknown) => Effect.Effect<void>
}

/** Opens a session that lives as long as the scope. */
export const make = (options: Options = {}): Effect.Effect<Fixture, never, Scope.Scope> =>
  Effect.gen(function* () {
    const sent: Array<JsonRpc.Message> = []
    const strays: Array<JsonRpc.Incoming> = []
    const notified: Array<JsonRpc.Notification> = []
    const outlet: Outlet = {
      send: (message) =>
        Effect.andThen(
          Effect.sync(() => sent.push(message as JsonRpc.Message)),
          options.send?.(message as JsonRpc.Message) ?? Effect.void
        )
    }
    const session = yield* Session.make({
      outlet,
      limits: { ...Limits.defaults, ...options.limits },
      sharedIds: options.sharedIds,
      batches: options.batches,
      cancellable: options.cancellable,
      onRequest: (request) => Work.make(options.handler?.(request) ?? Effect.succeed({}), Context.empty()),
      onNotification: (notification) => Effect.sync(() => void notified.push(notification)),
      onStray: (message) => Effect.sync(() => void strays.push(message))
    })
    return {
      session,
      sent,
      strays,
      notified,
      take: (message) => session.receive(JsonRpc.parse(JSON.stringify(message)))
    }
  })

/** The reason of a failure, by its tag. */
export const reasonOf = <A>(call: Effect.Effect<A, McpError>): Effect.Effect<string> =>
  Effect.match(call, { onSuccess: () => "Success", onFailure: (error) => error.reason._tag })
