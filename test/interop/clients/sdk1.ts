/**
 * The client of `@modelcontextprotocol/sdk`, version 1. It always asks for its newest revision and takes any that it
 * knows, so that an older one is asked for on its way out.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema
} from "@modelcontextprotocol/sdk/types.js"
import { type ClientKind, fillIn, info, root, said, type Target, textIn } from "../Conversation.ts"

const transportOf = (target: Target): Transport => {
  switch (target.transport) {
    case "stdio":
      return new StdioClientTransport({ command: target.command, args: [...target.args] })
    case "http":
      // Its declaration does not say that what is optional may be undefined.
      return new StreamableHTTPClientTransport(new URL(target.url)) as Transport
    case "sse":
      return new SSEClientTransport(new URL(target.url))
  }
}

/** Has `initialize` ask for another revision. */
const asking = (transport: Transport, revision: string): Transport => {
  const send = transport.send.bind(transport)
  transport.send = (message, options) =>
    send(
      "method" in message && message.method === "initialize" && "id" in message
        ? { ...message, params: { ...message.params, protocolVersion: revision } }
        : message,
      options
    )
  return transport
}

export const sdk1: ClientKind = {
  name: "@modelcontextprotocol/sdk",
  transports: ["stdio", "http", "sse"],
  revisions: ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"],
  negotiates: true,
  shows: { progress: true, cancellation: true },
  answers: ["elicit", "sample", "roots"],
  connect: async (target, revision, { onLog }) => {
    const client = new Client(info, { capabilities: { elicitation: {}, sampling: {}, roots: {} } })
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({
      action: "accept",
      content: fillIn("requestedSchema" in params ? params.requestedSchema : {})
    }))
    client.setRequestHandler(CreateMessageRequestSchema, () => ({
      role: "assistant",
      model: "none",
      content: { type: "text", text: said }
    }))
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [root] }))
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => onLog(params.data))
    const transport = transportOf(target)
    await client.connect(revision === undefined ? transport : asking(transport, revision), { timeout: 10_000 })

    return {
      capabilities: client.getServerCapabilities(),
      listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
      listResources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
      listTemplates: async () =>
        (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
      listPrompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
      call: async (name, args, { onProgress, signal } = {}) => {
        const { content, isError, structuredContent } = await client.callTool({ name, arguments: args }, undefined, {
          timeout: 10_000,
          ...(onProgress !== undefined && { onprogress: ({ progress }) => onProgress(progress) }),
          ...(signal !== undefined && { signal })
        })
        return {
          isError: isError === true,
          text: textIn(content as ReadonlyArray<unknown>),
          structured: structuredContent
        }
      },
      read: async (uri) => textIn((await client.readResource({ uri })).contents),
      prompt: async (name, args) => {
        const { messages } = await client.getPrompt({ name, arguments: args })
        return textIn(messages.map(({ content }) => content))
      },
      complete: async (ref, name, value) =>
        (await client.complete({ ref, argument: { name, value } })).completion.values,
      wantLogs: async () => void (await client.setLoggingLevel("debug")),
      subscribe: async (uri, onUpdate) => {
        client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => onUpdate(params.uri))
        await client.subscribeResource({ uri })
      },
      ping: async () => void (await client.ping()),
      close: async () => {
        if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession()
        await client.close()
      }
    }
  }
}
