/**
 * What the canonical schemas accept and refuse: content, tools, resources, prompts, completion.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Protocol from "../../src/protocol/index.ts"
import { accepts, refuses } from "./Shape.ts"

const text = { type: "text", text: "a" }

describe("content", () => {
  it("[TOOL-16, PROMPT-05] has five kinds, each with its members", () => {
    accepts(
      Protocol.ContentBlock,
      text,
      { type: "image", data: "AQID", mimeType: "image/png" },
      { type: "audio", data: "AQID", mimeType: "audio/wav" },
      { type: "resource_link", uri: "a:b", name: "b" },
      { type: "resource", resource: { uri: "a:b", text: "" } },
      { type: "resource", resource: { uri: "a:b", blob: "" } }
    )
    refuses(
      Protocol.ContentBlock,
      { type: "text" },
      { type: "text", text: 1 },
      { type: "image", data: "AQID" },
      { type: "audio", mimeType: "audio/wav" },
      { type: "resource_link", uri: "a:b" },
      { type: "resource", resource: { uri: "a:b" } },
      { text: "a" },
      { type: 1 },
      null,
      "text"
    )
  })

  it("lets a block of a kind from the future pass, so that the message around it survives", () => {
    const future = { type: "hologram", data: { any: "thing" } }
    accepts(Protocol.CallToolResult, { content: [text, future] })
    accepts(Protocol.SamplingMessage, { role: "user", content: future })
    expect(Protocol.isKnownContent(future)).toBe(false)
    expect(Protocol.isKnownContent(text)).toBe(true)
  })

  it("[PROMPT-06] is built with bytes as standard Base64", () => {
    const bytes = new Uint8Array([251, 255, 0])
    expect(Protocol.image(bytes, "image/png")).toEqual({ type: "image", data: "+/8A", mimeType: "image/png" })
    expect(Protocol.image("+/8A", "image/png").data).toBe("+/8A")
    expect(Protocol.audio(bytes, "audio/wav").data).toBe("+/8A")
    expect(Protocol.embeddedResource(Protocol.blobContents("a:b", bytes, "x/y"))).toEqual({
      type: "resource",
      resource: { uri: "a:b", mimeType: "x/y", blob: "+/8A" }
    })
  })

  it("is built without members that are undefined", () => {
    expect(Object.keys(Protocol.text("a"))).toEqual(["type", "text"])
    expect(Object.keys(Protocol.textContents("a:b", "c"))).toEqual(["uri", "text"])
    expect(Protocol.text("a", { annotations: { priority: 1 } })).toEqual({ ...text, annotations: { priority: 1 } })
    expect(Protocol.resourceLink("a:b", "b", { size: 3 })).toEqual({
      type: "resource_link",
      uri: "a:b",
      name: "b",
      size: 3
    })
  })

  it("[RES-12] annotations: audience of roles, priority from 0 to 1", () => {
    accepts(Protocol.Annotations, {}, { priority: 0 }, { priority: 1, audience: ["user", "assistant"] })
    accepts(Protocol.Annotations, { lastModified: "2025-01-12T15:00:58Z" })
    refuses(Protocol.Annotations, { priority: 1.1 }, { priority: -0.1 }, { audience: ["system"] }, { audience: "user" })
  })

  it("[ICON-01] icons", () => {
    accepts(
      Protocol.Icon,
      { src: "https://a/b" },
      { src: "data:,", mimeType: "image/png", sizes: ["any"], theme: "dark" }
    )
    refuses(Protocol.Icon, {}, { src: "a", sizes: "48x48" }, { src: "a", theme: "blue" })
  })
})

describe("tools", () => {
  const tool = { name: "a", inputSchema: { type: "object" } }

  it("[TOOL-04] need a name and an input schema", () => {
    accepts(Protocol.Tool, tool, { ...tool, description: "b" })
    refuses(Protocol.Tool, { name: "a" }, { inputSchema: { type: "object" } }, { ...tool, description: 1 })
  })

  it("[TOOL-09, TOOL-10, TOOL-11] input schemas are objects at the root, with any other keyword", () => {
    accepts(
      Protocol.ToolInputSchema,
      { type: "object" },
      { type: "object", properties: { a: true }, anyOf: [{}], $defs: {}, $schema: "https://example.com" }
    )
    refuses(Protocol.ToolInputSchema, null, {}, { type: "array" }, { type: ["object"] }, true, [])
  })

  it("[TOOL-13] output schemas are any schema object", () => {
    accepts(Protocol.ToolOutputSchema, {}, { type: "array" }, { anyOf: [{ type: "string" }] })
    refuses(Protocol.ToolOutputSchema, true, null, [])
  })

  it("[TOOL-05] annotations are booleans and a title", () => {
    accepts(Protocol.ToolAnnotations, {}, { title: "a", readOnlyHint: true, openWorldHint: false })
    refuses(Protocol.ToolAnnotations, { readOnlyHint: "yes" }, { idempotentHint: null })
  })

  it("[TOOL-08] execution says whether it may be a task", () => {
    accepts(Protocol.Tool, { ...tool, execution: {} }, { ...tool, execution: { taskSupport: "required" } })
    refuses(Protocol.Tool, { ...tool, execution: { taskSupport: "maybe" } })
  })

  it("[TOOL-14] calls have a name and an object of arguments", () => {
    accepts(Protocol.CallToolRequestParams, { name: "a" }, { name: "a", arguments: { b: null } })
    refuses(
      Protocol.CallToolRequestParams,
      {},
      { name: 1 },
      { name: "a", arguments: [] },
      { name: "a", arguments: null }
    )
  })

  it("[TOOL-15] results have content, even with structured content", () => {
    accepts(Protocol.CallToolResult, { content: [] }, { content: [text], isError: true })
    refuses(Protocol.CallToolResult, {}, { structuredContent: {} }, { content: text }, { content: [], isError: "no" })
  })

  it("[TOOL-18] structured content is any JSON, null too", () => {
    for (const structuredContent of [null, 0, "", false, [], {}]) {
      accepts(Protocol.CallToolResult, { content: [], structuredContent })
    }
  })
})

describe("resources and prompts", () => {
  it("[RES-03, RES-13] resources have uri and name, size is an integer", () => {
    accepts(Protocol.Resource, { uri: "a:b", name: "b" }, { uri: "a:b", name: "b", title: "B", size: 0 })
    refuses(Protocol.Resource, { uri: "a:b" }, { name: "b" }, { uri: "a:b", name: "b", size: 1.5 })
  })

  it("[RES-04, RES-05] reading gives contents, each with text or blob", () => {
    accepts(Protocol.ReadResourceResult, {
      contents: [
        { uri: "a:b", text: "" },
        { uri: "a:c", blob: "" }
      ]
    })
    refuses(Protocol.ReadResourceResult, {}, { contents: [{ uri: "a:b" }] }, { contents: [{ text: "" }] })
  })

  it("[RES-06] templates have uriTemplate and name", () => {
    accepts(Protocol.ResourceTemplate, { uriTemplate: "a:{b}", name: "b" })
    refuses(Protocol.ResourceTemplate, { uri: "a:b", name: "b" })
  })

  it("[PROMPT-03] prompts have a name and named arguments", () => {
    accepts(Protocol.Prompt, { name: "a" }, { name: "a", arguments: [{ name: "b", required: true }] })
    refuses(Protocol.Prompt, {}, { name: "a", arguments: [{}] }, { name: "a", arguments: { b: {} } })
  })

  it("[PROMPT-04] arguments are strings; a message is a role and one block", () => {
    accepts(Protocol.GetPromptRequestParams, { name: "a" }, { name: "a", arguments: { b: "c" } })
    refuses(Protocol.GetPromptRequestParams, { name: "a", arguments: { b: 1 } })
    accepts(Protocol.GetPromptResult, { messages: [{ role: "assistant", content: text }] })
    refuses(
      Protocol.GetPromptResult,
      {},
      { messages: [{ role: "system", content: text }] },
      { messages: [{ role: "user", content: [text] }] }
    )
  })

  it("[PROMPT-04] messages are built from text or content", () => {
    expect(Protocol.PromptMessage.user("a")).toEqual({ role: "user", content: text })
    expect(Protocol.PromptMessage.assistant(Protocol.text("a"))).toEqual({ role: "assistant", content: text })
  })

  it("[COMP-02, COMP-03] completion refers to a prompt or a resource, and knows what is chosen", () => {
    const argument = { name: "a", value: "" }
    accepts(
      Protocol.CompleteRequestParams,
      { ref: { type: "ref/prompt", name: "a" }, argument },
      { ref: { type: "ref/resource", uri: "a:{b}" }, argument, context: { arguments: { c: "d" } } }
    )
    refuses(
      Protocol.CompleteRequestParams,
      { ref: { type: "ref/prompt", uri: "a:b" }, argument },
      { ref: { type: "ref/tool", name: "a" }, argument },
      { ref: { type: "ref/prompt", name: "a" }, argument: { name: "a" } },
      { ref: { type: "ref/prompt", name: "a" }, argument, context: { arguments: { c: 1 } } }
    )
  })

  it("[PAGE-04, PAGE-05] the end of a list is an absent cursor, or null; the empty string is a cursor", () => {
    accepts(Protocol.ListToolsResult, { tools: [] }, { tools: [], nextCursor: null }, { tools: [], nextCursor: "" })
    refuses(Protocol.ListToolsResult, { tools: [], nextCursor: 5 })
  })

  it("[CACHE-02] ttlMs is an integer, cacheScope is public or private", () => {
    accepts(Protocol.ListToolsResult, { tools: [], ttlMs: 0, cacheScope: "public" })
    refuses(Protocol.ListToolsResult, { tools: [], ttlMs: 0.5 }, { tools: [], cacheScope: "shared" })
  })

  it("a negative or absent ttlMs can be read", () => {
    accepts(Protocol.ReadResourceResult, { contents: [], ttlMs: -1 }, { contents: [] })
  })
})
