/**
 * What a call may cost, in counts that are the same on any machine: the guard against a slower runtime that is no timed
 * test. The figures are what is needed and no more; a change that raises one has to say why.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Metric, Schema, SchemaGetter, Stream } from "effect"
import { InMemory, McpClient, McpServer, Progress, Tool } from "mcp-effect"
import * as Http from "node:http"
import { vi } from "vitest"
import { hosts } from "../support/HttpHosts.ts"
import { eras, legacy, modern, serve } from "../support/RawClient.ts"
import { connect } from "../support/RawHttp.ts"

/** Text that counts how often it is read and written. */
const counted = () => {
  const count = { decoded: 0, encoded: 0 }
  const schema = Schema.String.pipe(
    Schema.decodeTo(Schema.String, {
      decode: SchemaGetter.transform((text: string) => (count.decoded++, text)),
      encode: SchemaGetter.transform((text: string) => (count.encoded++, text))
    })
  )
  return { count, schema }
}

/** Counts the fibers that an effect starts. */
const fibers = () => {
  const count = { started: 0 }
  return { count, census: { recordFiberStart: () => void count.started++, recordFiberEnd: () => {} } }
}

const calls = 50

/** Calls after which all schemas are compiled, which takes writing of its own. */
const warmUp = 150

const Echo = Tool.make("echo", { input: Schema.Struct({ text: Schema.String }) })
const echo = Tool.handle(Echo, ({ text }) => Effect.succeed(text))

/** How a handler may answer, and the fibers that it takes on the server. */
const handlers = [
  { kind: "has its result at hand", fibers: 0, tool: echo },
  { kind: "is an effect to run", fibers: 1, tool: Tool.handle(Echo, ({ text }) => Effect.sync(() => text)) }
]

describe("what a call costs", () => {
  for (const { fibers: own, kind, tool } of handlers) {
    for (const version of [legacy, modern]) {
      it.effect(`in ${version}: one text read and one written each way, and few fibers, when a handler ${kind}`, () => {
        const { census, count } = fibers()
        return Effect.gen(function* () {
          const client = yield* McpClient.McpClient
          const call = client.callTool("echo", { text: "hello" })
          for (let n = 0; n < warmUp; n++) yield* call
          const parse = vi.spyOn(JSON, "parse")
          const stringify = vi.spyOn(JSON, "stringify")
          yield* Effect.addFinalizer(() => Effect.sync(() => vi.restoreAllMocks()))
          const before = count.started
          for (let n = 0; n < calls; n++) yield* call
          const made = {
            parse: parse.mock.calls.length / calls,
            stringify: stringify.mock.calls.length / calls,
            fibers: (count.started - before) / calls
          }
          vi.restoreAllMocks()
          expect(made).toEqual({ parse: 2, stringify: 2, fibers: own })
        }).pipe(
          Effect.provide(
            McpClient.layer({ name: "c", version: "1", revisions: [version] }).pipe(
              Layer.provideMerge(McpServer.layer(McpServer.make({ name: "s", version: "1", tools: [tool] }))),
              Layer.provide(InMemory.layer)
            )
          ),
          Effect.provideService(Metric.FiberRuntimeMetrics, census)
        )
      })
    }
  }

  for (const era of eras) {
    it.effect(`in ${era}: input is decoded once, output encoded once`, () =>
      Effect.gen(function* () {
        const [input, output] = [counted(), counted()]
        const Copy = Tool.make("copy", {
          input: Schema.Struct({ text: input.schema }),
          output: Schema.Struct({ text: output.schema })
        })
        const server = McpServer.make({
          name: "s",
          version: "1",
          tools: [Tool.handle(Copy, ({ text }) => Effect.succeed({ text }))]
        })
        const client = yield* (yield* serve(server))({ era })
        for (let n = 0; n < calls; n++) yield* client.call("copy", { text: "hello" })
        expect(input.count).toEqual({ decoded: calls, encoded: 0 })
        expect(output.count).toEqual({ decoded: 0, encoded: calls })
      })
    )

    for (const host of hosts.filter(({ name }) => !/web|fetch/i.test(name))) {
      it.effect(`${host.name} in ${era}: an answer is one write, and so are events of the same moment`, () =>
        Effect.gen(function* () {
          const Count = Tool.make("count")
          const count = Tool.handle(Count, () => Stream.make(Progress.update({ progress: 1 }), "counted"))
          const running = yield* host.start(McpServer.make({ name: "s", version: "1", tools: [echo, count] }))
          const client = yield* connect(running, era)
          yield* Effect.addFinalizer(() => Effect.sync(() => vi.restoreAllMocks()))
          const write = vi.spyOn(Http.ServerResponse.prototype, "write")
          const end = vi.spyOn(Http.ServerResponse.prototype, "end")
          for (let n = 0; n < calls; n++) yield* (yield* client.call("echo", { text: "hello" })).json
          for (let n = 0; n < calls; n++) {
            yield* (yield* client.call("count", {}, { _meta: { progressToken: "t" } })).messages
          }
          expect([write.mock.calls.length, end.mock.calls.length]).toEqual([0, 2 * calls])
        })
      )

      for (const { fibers: own, kind, tool } of handlers) {
        it.effect(
          `${host.name} in ${era}: fibers of a call, beside the one of the platform, when a handler ${kind}`,
          () => {
            const { census, count } = fibers()
            return Effect.gen(function* () {
              const server = McpServer.make({ name: "s", version: "1", tools: [tool] })
              const running = yield* Effect.provideService(host.start(server), Metric.FiberRuntimeMetrics, census)
              const client = yield* connect(running, era)
              const call = Effect.flatMap(client.call("echo", { text: "hello" }), ({ json }) => json)
              yield* call
              const before = count.started
              for (let n = 0; n < calls; n++) yield* call
              expect((count.started - before) / calls).toBe(own + (host.name === "layerNode" ? 0 : 1))
            })
          }
        )
      }
    }
  }
})
