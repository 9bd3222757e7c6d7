/**
 * What must compile, what must not, and what a server's type says of its handlers. Checked by the compiler alone.
 */
import { Context, Effect, Layer, Schema, Stream } from "effect"
import type { HttpRouter } from "effect/http"
import {
  Catalog,
  McpError,
  McpServer,
  type Middleware,
  Peer,
  Progress,
  Prompt,
  PromptMessage,
  Resource,
  Step
} from "mcp-effect"
import { InMemory, StreamableHttp, Tool, type Transport } from "mcp-effect"
import { expectTypeOf } from "vitest"

class Stations extends Context.Service<Stations, { readonly all: Effect.Effect<ReadonlyArray<string>> }>()(
  "Stations"
) {}
class Clock extends Context.Service<Clock, { readonly now: Effect.Effect<number> }>()("Clock") {}
class NoStation extends Schema.TaggedError<NoStation>()("NoStation", { near: Schema.Number }) {}
class Unrelated extends Schema.TaggedError<Unrelated>()("Unrelated", {}) {}

const Forecast = Tool.make("forecast", {
  input: Schema.Struct({ latitude: Schema.Number, days: Schema.optionalKey(Schema.Number) }),
  output: Schema.Struct({ summary: Schema.String, celsius: Schema.Number }),
  error: NoStation
})
const Plain = Tool.make("plain")

// A tool is typed by its schemas.
expectTypeOf<Tool.Input<typeof Forecast>>().toEqualTypeOf<{ readonly latitude: number; readonly days?: number }>()
expectTypeOf<Tool.Output<typeof Forecast>>().toEqualTypeOf<{ readonly summary: string; readonly celsius: number }>()
expectTypeOf<Tool.Failure<typeof Forecast>>().toEqualTypeOf<NoStation>()
expectTypeOf(Forecast.name).toEqualTypeOf<"forecast">()

// A handler gets the input, and may fail as declared or with an McpError.
const forecast = Tool.handle(Forecast, ({ days, latitude }) =>
  Effect.gen(function* () {
    expectTypeOf(latitude).toEqualTypeOf<number>()
    expectTypeOf(days).toEqualTypeOf<number | undefined>()
    const stations = yield* Stations
    const names = yield* stations.all
    if (names.length === 0) return yield* new NoStation({ near: latitude })
    if (names.length === 1) return yield* McpError.invalidParams("one is not enough")
    yield* Progress.report({ progress: 1 })
    return { summary: names.join(), celsius: 20 }
  })
)

// What it needs of the runtime, it gets; what it needs of the program, its type says.
expectTypeOf(forecast).toEqualTypeOf<Tool.Handled<Stations>>()
expectTypeOf(Tool.handle(Plain, () => Effect.scoped(Effect.succeed("")))).toEqualTypeOf<Tool.Handled<never>>()
expectTypeOf(Tool.handle(Plain, () => Effect.acquireRelease(Effect.succeed("a"), () => Effect.void))).toEqualTypeOf<
  Tool.Handled<never>
>()
expectTypeOf(Tool.handle(Plain, () => Peer.roots().pipe(Effect.as("")))).toEqualTypeOf<Tool.Handled<never>>()
expectTypeOf(
  Tool.handle(Plain, () =>
    Step.run(
      "now",
      Schema.Number,
      Effect.flatMap(Clock, ({ now }) => now)
    ).pipe(Effect.as(""))
  )
).toEqualTypeOf<Tool.Handled<Clock>>()
expectTypeOf(
  Tool.handle(Forecast, () => Stream.make(Progress.update({ progress: 1 }), { summary: "", celsius: 1 }))
).toEqualTypeOf<Tool.Handled<never>>()

// @ts-expect-error a wrong type in the output
Tool.handle(Forecast, () => Effect.succeed({ summary: "", celsius: "warm" }))
// @ts-expect-error a part of the output is missing
Tool.handle(Forecast, () => Effect.succeed({ summary: "" }))
// @ts-expect-error the output has a property that the schema does not know
Tool.handle(Forecast, () => Effect.succeed({ summary: "", celsius: 1, humidity: 2 }))
// @ts-expect-error a failure that was not declared
Tool.handle(Forecast, () => Effect.fail(new Unrelated()))
// @ts-expect-error a tool that declares no failure has none
Tool.handle(Plain, () => Effect.fail(new NoStation({ near: 1 })))
// @ts-expect-error an input that the tool does not have
Tool.handle(Forecast, ({ longitude }) => Effect.succeed({ summary: `${longitude}`, celsius: 1 }))
// @ts-expect-error without an output schema there is only content
Tool.handle(Plain, () => Effect.succeed({ sum: 1 }))
// @ts-expect-error a tool's input has to be an object of JSON
Tool.make("wrong", { input: Stations })
// @ts-expect-error progress is that of a call: there is none outside a handler
Effect.runSync(Progress.report({ progress: 1 }))
// @ts-expect-error nor can anybody be asked
Effect.runSync(Peer.roots())

// A server's type is what all its parts need.
const resource = Resource.make(
  "a:b",
  { name: "a" },
  Effect.flatMap(Clock, ({ now }) => Effect.map(now, String))
)
const prompt = Prompt.make("p", { arguments: Schema.Struct({ a: Schema.String }) }, ({ a }) =>
  Effect.as(Stations, [PromptMessage.user(a)])
)
const timed: Middleware.Middleware<Clock> = (_, next) => Effect.andThen(Clock, next)

expectTypeOf(McpServer.make({ name: "s", version: "1" })).toEqualTypeOf<McpServer.McpServer<never>>()
expectTypeOf(McpServer.make({ name: "s", version: "1", tools: [forecast] })).toEqualTypeOf<
  McpServer.McpServer<Stations>
>()
expectTypeOf(McpServer.make({ name: "s", version: "1", resources: [resource] })).toEqualTypeOf<
  McpServer.McpServer<Clock>
>()
expectTypeOf(McpServer.make({ name: "s", version: "1", prompts: [prompt] })).toEqualTypeOf<
  McpServer.McpServer<Stations>
>()
expectTypeOf(McpServer.make({ name: "s", version: "1", middleware: [timed] })).toEqualTypeOf<
  McpServer.McpServer<Clock>
>()
const all = McpServer.make({
  name: "s",
  version: "1",
  tools: [forecast, Tool.handle(Plain, () => Effect.succeed(""))],
  resources: [resource],
  prompts: [prompt]
})
expectTypeOf(all).toEqualTypeOf<McpServer.McpServer<Stations | Clock>>()

const catalog = Catalog.make([forecast])
expectTypeOf<Effect.Success<typeof catalog>>().toExtend<Catalog.Mutable<Tool.Handled<Stations>>>()

// And it can't be served without that.
expectTypeOf(McpServer.layer(all)).toEqualTypeOf<
  Layer.Layer<never, McpError, Stations | Clock | Transport.ServerTransport>
>()
expectTypeOf(StreamableHttp.layerRoute(all)).toEqualTypeOf<
  Layer.Layer<never, never, Stations | Clock | HttpRouter.HttpRouter>
>()
const clock = Layer.succeed(Clock, { now: Effect.succeed(0) })
const served = McpServer.layer(all).pipe(Layer.provide(InMemory.layer), Layer.provide(clock))
// @ts-expect-error Stations is missing
Effect.runFork(Layer.launch(served))
// @ts-expect-error Clock is missing
StreamableHttp.toWebHandler(all, Context.make(Stations, { all: Effect.succeed([]) }))

// Resources and prompts know their variables and arguments.
Resource.template("file:///{+path}/{name}", { name: "t" }, (variables) => {
  expectTypeOf<keyof typeof variables>().toEqualTypeOf<"path" | "name">()
  expectTypeOf(variables.path).toEqualTypeOf<string>()
  return Effect.succeed("")
})
// @ts-expect-error the template has no such variable
Resource.template("file:///{path}", { name: "t" }, ({ paths }) => Effect.succeed(paths))
// @ts-expect-error a read fails with NotFound or McpError only
Resource.make("a:b", { name: "a" }, Effect.fail(new Unrelated()))
// @ts-expect-error the arguments of a prompt are text
Prompt.make("p", { arguments: Schema.Struct({ n: Schema.Number }) }, () => Effect.succeed([]))
// @ts-expect-error the prompt has no such argument
Prompt.make("p", { arguments: Schema.Struct({ a: Schema.String }) }, ({ b }) => Effect.succeed([PromptMessage.user(b)]))

// An answer is what its form says.
Tool.handle(Plain, () =>
  Effect.map(Peer.elicit({ message: "m", schema: Schema.Struct({ sure: Schema.Boolean }) }), (answer) => {
    expectTypeOf(answer).toEqualTypeOf<Peer.Answer<{ readonly sure: boolean }>>()
    return ""
  })
)
