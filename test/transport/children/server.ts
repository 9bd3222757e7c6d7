/**
 * A server on the bare transport, started the way the documentation starts one. It answers a few methods that the tests
 * need and says on standard error when its other layer is released.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Layer } from "effect"
import * as JsonRpc from "../../../src/protocol/JsonRpc.ts"
import * as Stdio from "../../../src/node/Stdio.ts"
import { type Connection, ServerTransport } from "../../../src/transport/Transport.ts"

const answer = (connection: Connection, request: JsonRpc.Request) =>
  Effect.gen(function* () {
    switch (request.method) {
      case "log": {
        yield* Effect.log("from Effect.log")
        yield* Console.log("from Console.log")
        yield* Console.table([{ from: "Console.table" }])
        console.log("from console.log")
        process.stdout.write("from process.stdout.write\n")
        break
      }
      case "flood": {
        for (let n = 0; n < Number(request.params?.count); n++) {
          yield* connection.send(JsonRpc.notification("flood", { n, filling: "x".repeat(1000) }))
        }
        break
      }
    }
    yield* connection.send(JsonRpc.result(request.id, request.params ?? {}))
  })

const serve = (connection: Connection) =>
  connection
    .run((message) => {
      if (message instanceof JsonRpc.Malformed) {
        return Effect.ignore(connection.send(JsonRpc.error(message.id, message.error)))
      }
      return JsonRpc.isRequest(message) ? Effect.ignore(answer(connection, message)) : Effect.void
    })
    .pipe(Effect.ignore)

const server = Layer.effectDiscard(
  Effect.gen(function* () {
    const transport = yield* ServerTransport
    yield* Effect.forkScoped(transport.run(serve))
  })
)

const released = Layer.effectDiscard(Effect.addFinalizer(() => Console.error("released")))

server.pipe(Layer.provide(released), Layer.provide(Stdio.layerServer), Layer.launch, NodeRuntime.runMain)
