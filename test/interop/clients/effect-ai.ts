/**
 * The client of `effect/ai`. It speaks the one revision that it is told to, and has no progress, logs, completion,
 * subscriptions or answers.
 */
import { NodeHttpClient, NodeServices } from "@effect/platform-node"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { McpClient, McpProtocol } from "effect/ai"
import { ChildProcess } from "effect/process"
import { type ClientKind, info, type Target, textIn } from "../Conversation.ts"

type Revision = "2025-11-25" | "2026-07-28"

const protocolOf = (revision: Revision) =>
  revision === "2026-07-28" ? McpProtocol.v2026_07_28 : McpProtocol.v2025_11_25

const layerOf = (target: Target, revision: Revision) => {
  const protocol = protocolOf(revision)
  return target.transport === "stdio"
    ? McpClient.layerStdio({ ...info, protocol, command: ChildProcess.make(target.command, [...target.args]) }).pipe(
        Layer.provide(NodeServices.layer)
      )
    : McpClient.layerHttp({ ...info, protocol, url: target.url }).pipe(Layer.provide(NodeHttpClient.layerUndici))
}

export const effectAi: ClientKind = {
  name: "effect/ai",
  transports: ["stdio", "http"],
  revisions: ["2025-11-25", "2026-07-28"],
  negotiates: false,
  shows: { progress: false, cancellation: true },
  answers: [],
  connect: async (target, revision) => {
    const scope = Scope.makeUnsafe()
    const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
    const services = await Effect.runPromise(Layer.buildWithScope(layerOf(target, revision as Revision), scope)).catch(
      async (cause) => {
        await close()
        throw cause
      }
    )
    const client = Context.get(services, McpClient.McpClient)

    return {
      revision: client.protocolVersion,
      listTools: async () => (await Effect.runPromise(client.listTools())).map(({ name }) => name),
      listResources: async () => (await Effect.runPromise(client.listResources())).map(({ uri }) => uri),
      listPrompts: async () => (await Effect.runPromise(client.listPrompts())).map(({ name }) => name),
      call: async (name, args, { signal } = {}) => {
        // It calls only what it has listed before.
        const tool = (await Effect.runPromise(client.listTools())).find((one) => one.name === name)
        if (tool === undefined) throw new Error(`There is no tool ${name}`)
        const { content, isError, structuredContent } = await Effect.runPromise(
          client.callTool({ tool, arguments: args as never }, { timeout: "10 seconds" }),
          signal === undefined ? undefined : { signal }
        )
        return { isError: isError === true, text: textIn(content), structured: structuredContent }
      },
      read: async (uri) => textIn((await Effect.runPromise(client.readResource({ uri }))).contents),
      prompt: async (name, args) => {
        const prompt = (await Effect.runPromise(client.listPrompts())).find((one) => one.name === name)
        if (prompt === undefined) throw new Error(`There is no prompt ${name}`)
        const { messages } = await Effect.runPromise(client.getPrompt({ prompt, arguments: args }))
        return textIn(messages.map(({ content }) => content))
      },
      close
    }
  }
}
