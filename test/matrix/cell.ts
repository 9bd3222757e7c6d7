/**
 * One cell of the matrix: all scenarios, in one revision, over one transport.
 */
import { Cause, Effect, Exit, Logger, Option } from "effect"
import { McpClient, Protocol } from "mcp-effect"
import { isIn, type Revision, type Scenario, scenarios, type World } from "./scenarios.ts"
import type { Way } from "./transports.ts"
import * as Wire from "./wire.ts"

/** What has become of a scenario. */
export type Outcome =
  | { readonly _tag: "Passed" }
  /** The revision can't do it, and it was refused before anything was sent. */
  | { readonly _tag: "Unsupported" }
  | { readonly _tag: "Failed"; readonly why: string }

/** What has become of all scenarios, by name. */
export type Cell = ReadonlyMap<string, Outcome>

const handlers = {
  elicit: () => Effect.succeed({ action: "accept", content: { name: "Ada" } } as const),
  elicitUrl: () => Effect.succeed({ action: "accept" } as const),
  sample: ({ tools }: Protocol.CreateMessageRequestParams): Effect.Effect<Protocol.CreateMessageResult> =>
    Effect.succeed({
      role: "assistant",
      model: "oracle",
      content:
        tools === undefined
          ? { type: "text", text: "Forty-two" }
          : { type: "tool_use", id: "1", name: tools[0]?.name ?? "", input: {} }
    }),
  sampling: { tools: true },
  roots: Effect.succeed([{ uri: "file:///work" }, { uri: "file:///home" }])
}

const limit = "10 seconds"

/** Runs a cell. */
export const runCell = (way: Way, revision: Revision): Effect.Effect<Cell, unknown> =>
  Effect.gen(function* () {
    const wire = Wire.silent()
    const options = { name: "matrix", version: "1.0.0", revisions: [revision], timeout: limit, handlers } as const
    const cell = Effect.gen(function* () {
      const client = yield* McpClient.make(options)
      const agreed = client.server.revision
      if (agreed !== revision) return yield* Effect.die(new Error(`The revision that was agreed on is ${agreed}`))
      const outcomes = new Map<string, Outcome>()
      for (const scenario of scenarios) outcomes.set(scenario.name, yield* judge(scenario, { client, revision, wire }))
      return outcomes
    })
    return yield* Effect.provide(Effect.scoped(cell), Wire.tapped(wire, way.layer))
  }).pipe(
    // A server in this process would log what its handlers broke of.
    Effect.provide(Logger.layer([]))
  )

const judge = (scenario: Scenario, world: World): Effect.Effect<Outcome> =>
  Effect.gen(function* () {
    yield* Wire.forget(world.wire)
    const exit = yield* Effect.exit(Effect.timeout(scenario.run(world), limit))
    if (isIn(world.revision, scenario)) {
      return Exit.isSuccess(exit) ? { _tag: "Passed" } : { _tag: "Failed", why: whyOf(exit.cause) }
    }
    if (Exit.isSuccess(exit)) return { _tag: "Failed", why: "It has worked, though the revision does not have it" }
    const { method } = scenario
    if (Wire.wasAsked(world.wire, method))
      return { _tag: "Failed", why: `The revision has no such ${method}, but it was sent` }
    return isUnsupported(exit.cause)
      ? { _tag: "Unsupported" }
      : { _tag: "Failed", why: `It is not Unsupported but ${whyOf(exit.cause)}` }
  })

/** What went wrong, in the words of its error, and where in this package. */
export const whyOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  if (!(error instanceof Error)) return String(error)
  const lines = (error.stack ?? error.message).split("\n")
  return lines.filter((line) => !/^ +at .*(node_modules|node:|Generator)/.test(line)).join("\n")
}

/** The client says so itself, or hands on what the server said. */
const isUnsupported = (cause: Cause.Cause<unknown>): boolean => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  return (
    error instanceof Protocol.Unsupported ||
    (error instanceof Protocol.McpError && error.reason instanceof Protocol.Unsupported)
  )
}
