/**
 * The client of `@modelcontextprotocol/client`, version 2 of the SDK. It speaks both eras.
 */
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { type ClientKind, fillIn, info, root, said, type Target, textIn } from "../Conversation.ts"

const transportOf = (target: Target) => {
  switch (target.transport) {
    case "stdio":
      return new StdioClientTransport({ command: target.command, args: [...target.args] })
    case "http":
      return new StreamableHTTPClientTransport(new URL(target.url))
    case "sse":
      return new SSEClientTransport(new URL(target.url))
  }
}

const modern = "2026-07-28"

/** Asks for every log, on each request where that is the way. */
const logLevel = { "io.modelcontextprotocol/logLevel": "debug" }

export const sdk2: ClientKind = {
  name: "@modelcontextprotocol/client",
  transports: ["stdio", "http", "sse"],
  revisions: ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", modern],
  negotiates: true,
  shows: { progress: true, cancellation: true },
  answers: ["elicit", "sample", "roots"],
  connect: async (target, revision, { onLog }) => {
    const client = new Client(info, {
      capabilities: { elicitation: {}, sampling: {}, roots: {} },
      versionNegotiation: {
        mode: revision === undefined ? "auto" : revision === modern ? { pin: modern } : "legacy"
      },
      ...(revision !== undefined && revision !== modern && { supportedProtocolVersions: [revision] })
    })
    client.setRequestHandler("elicitation/create", ({ params }) => ({
      action: "accept",
      content: fillIn("requestedSchema" in params ? params.requestedSchema : {})
    }))
    client.setRequestHandler("sampling/createMessage", () => ({
      role: "assistant",
      model: "none",
      content: { type: "text", text: said }
    }))
    client.setRequestHandler("roots/list", () => ({ roots: [root] }))
    client.setNotificationHandler("notifications/message", ({ params }) => onLog(params.data))
    const transport = transportOf(target)
    await client.connect(transport as never, { timeout: 10_000 })
    const negotiated = client.getNegotiatedProtocolVersion()
    let meta: object | undefined

    return {
      revision: negotiated,
      capabilities: client.getServerCapabilities(),
      listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
      listResources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
      listTemplates: async () =>
        (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
      listPrompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
      call: async (name, args, { onProgress, signal } = {}) => {
        const { content, isError, structuredContent } = await client.callTool(
          { name, arguments: args, ...(meta !== undefined && { _meta: meta }) } as never,
          {
            timeout: 10_000,
            ...(onProgress !== undefined && { onprogress: ({ progress }) => onProgress(progress) }),
            ...(signal !== undefined && { signal })
          }
        )
        return { isError: isError === true, text: textIn(content), structured: structuredContent }
      },
      read: async (uri) => textIn((await client.readResource({ uri })).contents),
      prompt: async (name, args) => {
        const { messages } = await client.getPrompt({ name, arguments: args })
        return textIn(messages.map(({ content }) => content))
      },
      complete: async (ref, name, value) =>
        (await client.complete({ ref, argument: { name, value } })).completion.values,
      wantLogs: async () => {
        if (negotiated === modern) meta = logLevel
        else await client.setLoggingLevel("debug")
      },
      subscribe: async (uri, onUpdate) => {
        client.setNotificationHandler("notifications/resources/updated", ({ params }) => onUpdate(params.uri))
        if (negotiated === modern) await client.listen({ resourceSubscriptions: [uri] })
        else await client.subscribeResource({ uri })
      },
      ...(negotiated !== modern && { ping: async () => void (await client.ping()) }),
      close: async () => {
        if (transport instanceof StreamableHTTPClientTransport && negotiated !== modern)
          await transport.terminateSession()
        await client.close()
      }
    }
  }
}
