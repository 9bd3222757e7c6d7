/** The client of mcp-effect. */
import { Effect, Exit, Layer, Scope } from "effect"
import { McpClient } from "../../../dist/index.js"
import { Stdio, StreamableHttp } from "../../../dist/node/index.js"
import { type Connect, info, versions } from "../echo.ts"

export const connect: Connect = async (era, target) => {
  const transport =
    target.transport === "stdio"
      ? Stdio.layerClient({ command: target.command, args: [...target.args] })
      : StreamableHttp.layerClient({ url: target.url })
  const layer = McpClient.layer({ ...info, revisions: [versions[era]] }).pipe(Layer.provide(transport))
  const scope = Scope.makeUnsafe()
  const services = await Effect.runPromise(Layer.buildWithScope(layer, scope))
  const client = await Effect.runPromise(Effect.provideContext(McpClient.McpClient, services))
  return {
    echo: async (text) => {
      const { content } = await Effect.runPromise(client.callTool("echo", { text }))
      const block = content[0]
      return block !== undefined && block.type === "text" && "text" in block ? String(block.text) : ""
    },
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
