/** The client of `effect/ai`. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Exit, Layer, Scope } from "effect"
import { McpClient, McpProtocol } from "effect/ai"
import { ChildProcess } from "effect/process"
import { type Connect, info } from "../echo.ts"

export const connect: Connect = async (era, target) => {
  const protocol = era === "modern" ? McpProtocol.v2026_07_28 : McpProtocol.v2025_11_25
  const layer =
    target.transport === "stdio"
      ? McpClient.layerStdio({ ...info, protocol, command: ChildProcess.make(target.command, [...target.args]) }).pipe(
          Layer.provide(NodeServices.layer)
        )
      : McpClient.layerHttp({ ...info, protocol, url: target.url }).pipe(Layer.provide(NodeHttpClient.layerUndici))
  const scope = Scope.makeUnsafe()
  const services = await Effect.runPromise(Layer.buildWithScope(layer, scope))
  const { client, tool } = await Effect.runPromise(
    Effect.gen(function* () {
      const client = yield* McpClient.McpClient
      // It calls only what it has listed before.
      const tool = (yield* client.listTools()).find(({ name }) => name === "echo")
      if (tool === undefined) return yield* Effect.die("no such tool")
      return { client, tool }
    }).pipe(Effect.provideContext(services))
  )
  return {
    echo: async (text) => {
      const { content } = await Effect.runPromise(client.callTool({ tool, arguments: { text } }))
      const [block] = content
      return block !== undefined && block.type === "text" ? block.text : ""
    },
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
