/**
 * One canonical value for every message, with every member it can have: more than any single revision knows.
 */
import type {
  ClientNotifications,
  ClientRequests,
  ServerNotifications,
  ServerRequests
} from "../../src/protocol/Methods.ts"
import * as Protocol from "../../src/protocol/index.ts"
import { without } from "../../src/revision/Rewrite.ts"

const icons = [{ src: "https://example.com/a.png", mimeType: "image/png", sizes: ["48x48"], theme: "dark" }] as const
const annotations = { audience: ["user"], priority: 0.5, lastModified: "2025-01-12T15:00:58Z" } as const
const vendor = { "com.example/x": { kept: true } }

export const implementation: Protocol.Implementation = {
  name: "program",
  title: "Program",
  version: "1.0.0",
  description: "A program",
  websiteUrl: "https://example.com",
  icons
}

export const clientCapabilities: Protocol.ClientCapabilities = {
  experimental: { thing: {} },
  roots: { listChanged: true },
  sampling: { context: {}, tools: {} },
  elicitation: { form: {}, url: {} },
  extensions: { "com.example/extension": { level: 1 } }
}

export const serverCapabilities: Protocol.ServerCapabilities = {
  experimental: { thing: {} },
  logging: {},
  completions: {},
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  tools: { listChanged: true },
  extensions: { "com.example/extension": {} }
}

export const requestMeta: Protocol.RequestMeta = {
  ...vendor,
  progressToken: 7,
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": implementation,
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
  "io.modelcontextprotocol/logLevel": "warning"
}

const _meta = requestMeta
const resultMeta = { ...vendor, "io.modelcontextprotocol/serverInfo": implementation }
const page = { nextCursor: "next" }
const cache = { ttlMs: 60_000, cacheScope: "public" } as const

export const content: ReadonlyArray<Protocol.ContentBlock> = [
  Protocol.text("hello", { annotations, _meta: vendor }),
  Protocol.image(new Uint8Array([1, 2, 3]), "image/png", { annotations }),
  Protocol.audio("AQID", "audio/wav"),
  Protocol.resourceLink("file:///a.txt", "a.txt", { title: "A", size: 3, annotations, icons, mimeType: "text/plain" }),
  Protocol.embeddedResource(Protocol.textContents("file:///a.txt", "hi", "text/plain"), { annotations }),
  Protocol.embeddedResource(Protocol.blobContents("file:///a.bin", new Uint8Array([255]), "application/octet-stream"))
]

const spoken = [
  Protocol.text("hello", { annotations, _meta: vendor }),
  Protocol.image(new Uint8Array([1, 2, 3]), "image/png", { annotations })
]

export const tool: Protocol.Tool = {
  name: "get-forecast",
  title: "Forecast",
  description: "Weather",
  icons,
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"], minProperties: 1 },
  outputSchema: { type: "array", items: { type: "number" } },
  annotations: {
    title: "Forecast",
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: true
  },
  execution: { taskSupport: "optional" },
  _meta: vendor
}

const described = { title: "A", description: "The letter", mimeType: "text/plain", annotations, icons, _meta: vendor }
const resource: Protocol.Resource = { uri: "file:///a.txt", name: "a.txt", size: 3, ...described }
const template: Protocol.ResourceTemplate = { uriTemplate: "file:///{+path}", name: "files", ...described }
const prompt: Protocol.Prompt = {
  name: "review",
  title: "Review",
  description: "Reviews code",
  icons,
  arguments: [{ name: "code", title: "Code", description: "What to review", required: true }],
  _meta: vendor
}

const sampling: Protocol.CreateMessageRequestParams = {
  _meta: { progressToken: "token" },
  messages: [
    { role: "user", content: Protocol.text("What is the weather in Paris?"), _meta: vendor },
    { role: "assistant", content: [{ type: "tool_use", id: "call", name: "get-forecast", input: { city: "Paris" } }] },
    {
      role: "user",
      content: [{ type: "tool_result", toolUseId: "call", content, structuredContent: [20, 21], isError: false }]
    }
  ],
  modelPreferences: { hints: [{ name: "small" }], costPriority: 1, speedPriority: 0, intelligencePriority: 0.5 },
  systemPrompt: "Be brief",
  includeContext: "none",
  temperature: 0.7,
  maxTokens: 100,
  stopSequences: ["END"],
  metadata: { provider: "example" },
  tools: [tool],
  toolChoice: { mode: "auto" }
}

export const form: Protocol.ElicitRequestFormParams = {
  mode: "form",
  message: "Who are you?",
  requestedSchema: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      name: { type: "string", title: "Name", description: "Yours", minLength: 1, maxLength: 9, default: "Ann" },
      mail: { type: "string", format: "email" },
      age: { type: "integer", minimum: 0, maximum: 150, default: 30 },
      height: { type: "number", default: 1.75 },
      sure: { type: "boolean", default: true },
      plain: { type: "string", enum: ["a", "b"], default: "a" },
      titled: { type: "string", oneOf: [{ const: "a", title: "A" }] },
      legacy: { type: "string", enum: ["a"], enumNames: ["A"] },
      some: { type: "array", items: { type: "string", enum: ["a", "b"] }, minItems: 1, maxItems: 2, default: ["a"] },
      titledSome: { type: "array", items: { anyOf: [{ const: "a", title: "A" }] } }
    },
    required: ["name"]
  }
}

export const pageToVisit: Protocol.ElicitRequestURLParams = {
  mode: "url",
  message: "Sign in",
  url: "https://example.com/sign-in",
  elicitationId: "e1"
}

export const inputRequired: Protocol.InputRequiredResult = {
  resultType: "input_required",
  inputRequests: {
    name: { method: "elicitation/create", params: form },
    sign: { method: "elicitation/create", params: pageToVisit },
    think: { method: "sampling/createMessage", params: sampling },
    where: { method: "roots/list" }
  },
  requestState: "opaque"
}

const retry = {
  inputResponses: {
    name: { action: "accept", content: { name: "Ann", age: 30, height: 1.75, sure: true, some: ["a"] } }
  },
  requestState: "opaque"
}

type Samples<All extends { readonly [M in keyof All]: object }> = { readonly [Method in keyof All]: All[Method] }

export const clientRequests: Samples<ClientRequests> = {
  initialize: {
    params: {
      _meta,
      protocolVersion: "2025-11-25",
      capabilities: clientCapabilities,
      clientInfo: implementation
    },
    result: {
      protocolVersion: "2025-11-25",
      capabilities: serverCapabilities,
      serverInfo: implementation,
      instructions: "Ask nicely"
    }
  },
  ping: { params: { _meta }, result: {} },
  "server/discover": {
    params: { _meta },
    result: {
      _meta: resultMeta,
      ...cache,
      supportedVersions: ["2026-07-28"],
      capabilities: serverCapabilities,
      instructions: "Ask nicely"
    }
  },
  "tools/list": { params: { _meta, cursor: "next" }, result: { _meta: resultMeta, ...page, ...cache, tools: [tool] } },
  "tools/call": {
    params: { _meta, ...retry, name: "get-forecast", arguments: { city: "Paris" } },
    result: { _meta: resultMeta, content, structuredContent: [20, 21], isError: false }
  },
  "prompts/list": { params: { _meta, cursor: "next" }, result: { ...page, ...cache, prompts: [prompt] } },
  "prompts/get": {
    params: { _meta, ...retry, name: "review", arguments: { code: "1" } },
    result: { description: "Reviews code", messages: content.map((block) => Protocol.PromptMessage.user(block)) }
  },
  "resources/list": { params: { _meta, cursor: "next" }, result: { ...page, ...cache, resources: [resource] } },
  "resources/templates/list": {
    params: { _meta, cursor: "next" },
    result: { ...page, ...cache, resourceTemplates: [template] }
  },
  "resources/read": {
    params: { _meta, ...retry, uri: "file:///a.txt" },
    result: {
      ...cache,
      contents: [
        { ...Protocol.textContents("file:///a.txt", "hi", "text/plain"), _meta: vendor },
        Protocol.blobContents("file:///a.bin", new Uint8Array([255]))
      ]
    }
  },
  "resources/subscribe": { params: { _meta, uri: "file:///a.txt" }, result: {} },
  "resources/unsubscribe": { params: { _meta, uri: "file:///a.txt" }, result: {} },
  "subscriptions/listen": {
    params: {
      _meta,
      notifications: {
        toolsListChanged: true,
        promptsListChanged: true,
        resourcesListChanged: false,
        resourceSubscriptions: ["file:///a.txt"]
      }
    },
    result: { _meta: { "io.modelcontextprotocol/subscriptionId": 5 } }
  },
  "completion/complete": {
    params: {
      _meta,
      ref: { type: "ref/prompt", name: "review", title: "Review" },
      argument: { name: "language", value: "py" },
      context: { arguments: { code: "1" } }
    },
    result: { completion: { values: ["python"], total: 1, hasMore: false } }
  },
  "logging/setLevel": { params: { _meta, level: "notice" }, result: {} }
}

export const serverRequests: Samples<ServerRequests> = {
  ping: { params: {}, result: {} },
  "roots/list": {
    params: { _meta: { progressToken: "token" } },
    result: { _meta: vendor, roots: [{ uri: "file:///home", name: "home", _meta: vendor }] }
  },
  "sampling/createMessage": {
    params: sampling,
    result: {
      _meta: vendor,
      role: "assistant",
      content: Protocol.text("Warm"),
      model: "small-1",
      stopReason: "endTurn"
    }
  },
  "elicitation/create": {
    params: form,
    result: { _meta: vendor, action: "accept", content: { name: "Ann", height: 1.75, sure: true, some: ["a"] } }
  }
}

/** The questions as far as revisions before 2025-11-25 can put and answer them. */
export const plainServerRequests: Pick<typeof serverRequests, "sampling/createMessage" | "elicitation/create"> = {
  "sampling/createMessage": {
    params: {
      ...without(sampling, ["tools", "toolChoice"]),
      messages: [
        { role: "user", content: spoken, _meta: vendor },
        { role: "assistant", content: [Protocol.text("A picture", { annotations, _meta: vendor })] }
      ]
    },
    result: {
      ...serverRequests["sampling/createMessage"].result,
      content: [Protocol.text("Warm", { annotations, _meta: vendor }), Protocol.text("Sunny")]
    }
  },
  "elicitation/create": {
    params: {
      ...form,
      requestedSchema: {
        ...form.requestedSchema,
        properties: without(form.requestedSchema.properties, ["some", "titledSome"])
      }
    },
    result: { _meta: vendor, action: "accept", content: { name: "Ann", height: 1.75, sure: true } }
  }
}

const listenMeta = { ...vendor, "io.modelcontextprotocol/subscriptionId": 5 }
const cancelled = { params: { requestId: 3, reason: "No longer needed" } }
const progress = { params: { progressToken: "token", progress: 0.5, total: 2, message: "half" } }

export const clientNotifications: Samples<ClientNotifications> = {
  "notifications/initialized": { params: {} },
  "notifications/cancelled": cancelled,
  "notifications/progress": progress,
  "notifications/roots/list_changed": { params: { _meta: vendor } }
}

export const serverNotifications: Samples<ServerNotifications> = {
  "notifications/cancelled": cancelled,
  "notifications/progress": progress,
  "notifications/message": { params: { level: "error", logger: "disk", data: { full: true } } },
  "notifications/tools/list_changed": { params: { _meta: listenMeta } },
  "notifications/prompts/list_changed": { params: { _meta: listenMeta } },
  "notifications/resources/list_changed": { params: { _meta: listenMeta } },
  "notifications/resources/updated": { params: { _meta: listenMeta, uri: "file:///a.txt" } },
  "notifications/elicitation/complete": { params: { elicitationId: "e1" } },
  "notifications/subscriptions/acknowledged": {
    params: { _meta: listenMeta, notifications: { toolsListChanged: true } }
  }
}
