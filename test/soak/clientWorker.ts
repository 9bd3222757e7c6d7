/**
 * Clients of this package over HTTP, in both eras: calls with types, progress, questions, cancellation. The argument is the
 * server's port.
 */
import { Duration, Effect, Stream } from "effect"
import { McpClient } from "mcp-effect"
import { StreamableHttp } from "mcp-effect/node"
import { takeCensus } from "./Census.ts"
import { expectEqual } from "./Tally.ts"
import * as Tools from "./Tools.ts"
import { legacy, modern } from "./Wire.ts"
import { act, type Behaviour, type Setting, work } from "./Worker.ts"

const url = `http://127.0.0.1:${process.argv[2]}/mcp`

type Client = McpClient.McpClient["Service"]

const behaviour = (
  kind: string,
  weight: number,
  run: (client: Client, setting: Setting) => Effect.Effect<unknown, unknown>
): Behaviour<Client> => ({
  kind,
  weight,
  run: async (client, setting) => {
    await Effect.runPromise(run(client, setting))
    setting.tally.call(kind)
  }
})

const behaviours = [
  behaviour("our client: call", 5, (client, { random }) => {
    const text = `typed ${random.next()}`
    return Effect.map(client.call(Tools.Echo, { text }), (answer) => expectEqual(answer, text, "The answer"))
  }),
  behaviour("our client: progress", 2, (client, { random }) => {
    const steps = random.between(2, 8)
    return Effect.map(Stream.runCollect(client.stream(Tools.Slow, { text: "told", steps })), (events) => {
      expectEqual(events.filter(({ _tag }) => _tag === "Progress").length, steps, "The number of steps told")
      expectEqual(events.at(-1)?._tag, "Result", "The last event")
    })
  }),
  behaviour("our client: refusal", 1, (client) =>
    Effect.map(Effect.flip(client.call(Tools.Refuse, { why: "because" })), (error) =>
      expectEqual(error instanceof Tools.Refused && error.why, "because", "The refusal")
    )
  ),
  behaviour("our client: question", 2, (client, { random }) => {
    const question = `Ada ${random.next()}`
    const asking = client.call(Tools.Ask, { question })
    return Effect.map(asking, (answer) => expectEqual(answer, `Hello, ${question}`, "The answer"))
  }),
  behaviour("our client: cancelled", 2, (client, { random }) =>
    client
      .call(Tools.Slow, { text: "cancelled", steps: 100 })
      .pipe(Effect.timeoutOption(Duration.millis(random.between(1, 300))))
  ),
  behaviour("our client: many at once", 1, (client) =>
    Effect.forEach(
      Array.from({ length: 10 }, (_, index) => `many ${index}`),
      (text) => Effect.map(client.call(Tools.Echo, { text }), (answer) => expectEqual(answer, text, "The answer")),
      { concurrency: "unbounded" }
    )
  )
]

work(async (setting) => {
  const { isOver, random, tally, think } = setting
  // Nobody can be asked before 2025-06-18.
  const revision = random.next() < 0.5 ? modern : random.pick(legacy.slice(2))
  const options = {
    name: "soak",
    version: "1.0.0",
    revisions: [revision],
    handlers: {
      elicit: ({ message }: { readonly message: string }) =>
        Effect.succeed({ action: "accept" as const, content: { name: message } })
    }
  }
  const visit = Effect.flatMap(McpClient.make(options), (client) =>
    Effect.promise(async () => {
      const visits = random.between(1, 12)
      for (let count = 0; count < visits && !isOver(); count++) {
        if (!(await act(behaviours, client, setting))) return
        await think()
      }
    })
  )
  try {
    await Effect.runPromise(visit.pipe(Effect.scoped, Effect.provide(StreamableHttp.layerClient({ url }))))
    tally.call("our client: connect")
  } catch (cause) {
    tally.failure("our client: connect", cause)
  }
}, takeCensus)
