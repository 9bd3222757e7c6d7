/**
 * A server and its client in one process, for tests: no ports, no child processes, and `TestClock` drives every timer.
 */
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as McpClient from "../client/McpClient.ts"
import type { McpError } from "../protocol/McpError.ts"
import * as McpServer from "../server/McpServer.ts"
import * as InMemory from "../transport/InMemory.ts"

/** Options of {@link layer}: those of the client, all of them optional. */
export interface Options extends Partial<McpClient.Options> {
  /** Speaks this revision, such as `2025-11-25`, so that a test can run in each. Default: the newest. */
  readonly revision?: string | undefined
}

/**
 * Provides a client that is connected to the server. Messages between the two are JSON text, as on any other transport.
 *
 * @example
 * ```ts
 * import { expect, it } from "@effect/vitest"
 * import { Effect, Schema } from "effect"
 * import { McpClient, McpServer, Tool } from "mcp-effect"
 * import { McpTest } from "mcp-effect/testing"
 *
 * const Shout = Tool.make("shout", { input: Schema.Struct({ text: Schema.String }), output: Schema.String })
 * const server = McpServer.make({
 *   name: "shouter",
 *   version: "1.0.0",
 *   tools: [Tool.handle(Shout, ({ text }) => Effect.succeed(text.toUpperCase()))]
 * })
 *
 * it.layer(McpTest.layer(server))("shouter", (it) => {
 *   it.effect("shouts", () =>
 *     Effect.gen(function* () {
 *       const client = yield* McpClient.McpClient
 *       expect(yield* client.call(Shout, { text: "hey" })).toBe("HEY")
 *     })
 *   )
 * })
 * ```
 */
export const layer = <R, const O extends Options = {}>(
  server: McpServer.McpServer<R>,
  options?: O
): Layer.Layer<McpClient.McpClient, McpError, R | Exclude<McpClient.NeedsOf<O>, Scope.Scope>> => {
  const { revision, ...rest }: Options = options ?? {}
  const client = McpClient.layer({
    name: "test",
    version: "0.0.0",
    ...(revision !== undefined && { revisions: [revision] }),
    ...rest
  })
  return Layer.merge(McpServer.layer(server), client).pipe(Layer.provide(InMemory.layer)) as Layer.Layer<
    McpClient.McpClient,
    McpError,
    // What the handlers need is in the type of the options, which filling in the defaults has widened.
    R | Exclude<McpClient.NeedsOf<O>, Scope.Scope>
  >
}
