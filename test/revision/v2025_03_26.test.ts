import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import * as Protocol from "../../src/protocol/index.ts"
import { findRequest } from "../../src/revision/Revision.ts"
import { v2025_03_26 as revision } from "../../src/revision/v2025_03_26.ts"
import { v2025_06_18 } from "../../src/revision/v2025_06_18.ts"
import { methodsOf, placesOf, written } from "./Messages.ts"
import * as samples from "./samples.ts"

const request = (method: string) => findRequest(revision.clientRequests, method)!
const sampling = revision.serverRequests["sampling/createMessage"]!
const result = (content: ReadonlyArray<Protocol.ContentBlock>) => request("tools/call").result.encode({ content })
const tools = (tool: object) =>
  request("tools/list").result.encode({ tools: [{ name: "a", inputSchema: { type: "object" }, ...tool }] }).tools
const vendor = { "com.example/x": 1 }
const audience = ["user"] as const

describe("2025-03-26", () => {
  it("has the messages of 2025-06-18 without elicitation", () => {
    for (const side of ["clientRequests", "clientNotifications", "serverNotifications"] as const) {
      expect(methodsOf(revision, side)).toEqual(methodsOf(v2025_06_18, side))
    }
    expect(methodsOf(revision, "serverRequests")).toEqual(["ping", "roots/list", "sampling/createMessage"])
  })

  it("has rules of its own", () => {
    expect(revision).toMatchObject({
      version: "2025-03-26",
      era: "legacy",
      batches: true,
      versionHeader: false,
      primingEvents: false,
      invalidArguments: "error",
      errorCode: { resourceNotFound: -32002 }
    })
  })

  it("writes nothing that came later", () => {
    for (const member of ["icons", "execution", "outputSchema", "structuredContent", "context", "lastModified"]) {
      expect(placesOf(revision, member), member).toEqual([])
    }
    expect(JSON.stringify([...written(revision)])).not.toContain("resource_link")
  })

  it("[META-20] writes _meta in params and results only", () => {
    const places = placesOf(revision, "_meta")
    expect(places.filter((place) => !/^\S+ (params |result )?of \w+\._meta$/.test(place))).toEqual([])
    expect(places).toContain("tools/list result of clientRequests._meta")
    expect(places).toContain("tools/call params of clientRequests._meta")
    expect(places).toContain("notifications/roots/list_changed of clientNotifications._meta")
    const contents = Protocol.textContents("a:b", "a")
    expect(request("resources/read").result.encode({ contents: [{ ...contents, _meta: vendor }] })).toEqual({
      contents: [contents]
    })
  })

  it("[LIFE-13] implementations are a name and a version", () => {
    const { name, version } = samples.implementation
    expect(request("initialize").params.encode(samples.clientRequests.initialize.params).clientInfo).toEqual({
      name,
      version
    })
    expect(request("initialize").result.encode(samples.clientRequests.initialize.result).serverInfo).toEqual({
      name,
      version
    })
  })

  it("[LIFE-14, COMP-01] clients declare no elicitation, servers declare completions", () => {
    const { elicitation: _, ...others } = samples.clientCapabilities
    expect(revision.encodeClientCapabilities(samples.clientCapabilities)).toEqual({ ...others, sampling: {} })
    expect(request("initialize").result.encode(samples.clientRequests.initialize.result).capabilities).toEqual(
      samples.serverCapabilities
    )
  })

  it("[TOOL-05] the title of a tool is one of its annotations", () => {
    const plain = { name: "a", inputSchema: { type: "object" } }
    expect(tools({ title: "A", outputSchema: { type: "object" }, _meta: vendor })).toEqual([
      { ...plain, annotations: { title: "A" } }
    ])
    expect(tools({ title: "A", annotations: { readOnlyHint: true } })).toEqual([
      { ...plain, annotations: { title: "A", readOnlyHint: true } }
    ])
    expect(tools({ title: "A", annotations: { title: "B" } })).toEqual([{ ...plain, annotations: { title: "B" } }])
    expect(tools({})).toEqual([plain])
  })

  it("[PROMPT-03] prompts and their arguments have no title", () => {
    const { result } = request("prompts/list")
    expect(result.encode(samples.clientRequests["prompts/list"].result)).toEqual({
      nextCursor: "next",
      prompts: [
        {
          name: "review",
          description: "Reviews code",
          arguments: [{ name: "code", description: "What to review", required: true }]
        }
      ]
    })
  })

  it("[RES-03, RES-12] resources and templates have no title, and do not say when they changed", () => {
    const common = { description: "The letter", mimeType: "text/plain", annotations: { audience, priority: 0.5 } }
    expect(request("resources/list").result.encode(samples.clientRequests["resources/list"].result)).toEqual({
      nextCursor: "next",
      resources: [{ uri: "file:///a.txt", name: "a.txt", size: 3, ...common }]
    })
    const { result } = request("resources/templates/list")
    expect(result.encode(samples.clientRequests["resources/templates/list"].result)).toEqual({
      nextCursor: "next",
      resourceTemplates: [{ uriTemplate: "file:///{+path}", name: "files", ...common }]
    })
  })

  it("results of tools are content alone", () => {
    const content = [Protocol.text('{"a":1}')]
    expect(request("tools/call").result.encode({ content, structuredContent: { a: 1 }, isError: true })).toEqual({
      content,
      isError: true
    })
  })

  it("[TOOL-16] a link to a resource becomes text that has its name, its URI and what it is", () => {
    expect(result([Protocol.resourceLink("a:b", "a")])).toEqual({ content: [Protocol.text("a: a:b")] })
    const annotations = { audience }
    expect(
      result([
        Protocol.resourceLink("a:b", "a", {
          title: "The A",
          description: "A letter",
          size: 3,
          annotations: { ...annotations, lastModified: "2025-01-12" },
          _meta: vendor
        })
      ])
    ).toEqual({ content: [Protocol.text("The A: a:b\nA letter", { annotations })] })
  })

  it("[PROMPT-05] prompts say a link to a resource in the same way, and audio as it is", () => {
    const audio = Protocol.audio("AQID", "audio/wav")
    const messages = [Protocol.resourceLink("a:b", "a"), audio].map((block) => Protocol.PromptMessage.user(block))
    expect(request("prompts/get").result.encode({ messages })).toEqual({
      messages: [Protocol.PromptMessage.user("a: a:b"), Protocol.PromptMessage.user(audio)]
    })
  })

  it("[RES-12] blocks keep whom they are for, not when they changed", () => {
    const annotations = { audience }
    const changed = { annotations: { audience, lastModified: "2025-01-12" }, _meta: vendor }
    const contents = Protocol.textContents("a:b", "a")
    expect(
      result([
        Protocol.text("a", changed),
        Protocol.image("AQID", "image/png", changed),
        Protocol.embeddedResource({ ...contents, _meta: vendor }, changed)
      ])
    ).toEqual({
      content: [
        Protocol.text("a", { annotations }),
        Protocol.image("AQID", "image/png", { annotations }),
        Protocol.embeddedResource(contents, { annotations })
      ]
    })
  })

  it("[META-20] blocks of sampling have no _meta", () => {
    const { params, result } = samples.plainServerRequests["sampling/createMessage"]
    const spelled = sampling.params.encode(params) as Protocol.CreateMessageRequestParams
    expect(spelled.messages.map(({ content }) => content)).toEqual([
      Protocol.text("hello", { annotations: { audience, priority: 0.5 } }),
      Protocol.image("AQID", "image/png", { annotations: { audience, priority: 0.5 } }),
      Protocol.text("A picture", { annotations: { audience, priority: 0.5 } })
    ])
    expect(sampling.result.encode(result).content).toEqual(Protocol.text("Warm\nSunny"))
    expect(sampling.result.encode({ ...result, content: Protocol.text("a", { _meta: vendor }) }).content).toEqual(
      Protocol.text("a")
    )
  })

  it("[ROOT-03] roots are a URI and a name", () => {
    const { result } = samples.serverRequests["roots/list"]
    expect(revision.serverRequests["roots/list"]!.result.encode(result)).toEqual({
      ...result,
      roots: [{ uri: "file:///home", name: "home" }]
    })
  })

  it("[COMP-02] completion has no context, and refers to prompts by name alone", () => {
    const { argument, context: _, ...others } = samples.clientRequests["completion/complete"].params
    expect(request("completion/complete").params.encode(samples.clientRequests["completion/complete"].params)).toEqual({
      ...others,
      ref: { type: "ref/prompt", name: "review" },
      argument
    })
    const ref = { type: "ref/resource", uri: "a:{b}" } as const
    const params = { ref, argument }
    expect(request("completion/complete").params.encode(params)).toBe(params)
  })

  it("[PROG-03] progress keeps its message", () => {
    const { params } = samples.serverNotifications["notifications/progress"]
    expect(revision.serverNotifications["notifications/progress"]!.params.encode(params)).toBe(params)
  })

  it("[BASE-30] reads what a newer peer says all the same", () => {
    const called = { content: samples.content, structuredContent: { a: 1 } }
    expect(request("tools/call").result.decode(called)).toEqual(Result.succeed(called))
    const completion = samples.clientRequests["completion/complete"].params
    expect(request("completion/complete").params.decode(completion)).toEqual(Result.succeed(completion))
    const initialize = samples.clientRequests.initialize.params
    expect(request("initialize").params.decode(initialize)).toEqual(Result.succeed(initialize))
  })
})
