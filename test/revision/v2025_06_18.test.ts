import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import * as Protocol from "../../src/protocol/index.ts"
import { findRequest } from "../../src/revision/Revision.ts"
import { v2025_06_18 as revision } from "../../src/revision/v2025_06_18.ts"
import { v2025_11_25 } from "../../src/revision/v2025_11_25.ts"
import { methodsOf, placesOf } from "./Messages.ts"
import * as samples from "./samples.ts"

const request = (method: string) => findRequest(revision.clientRequests, method)!
const sampling = revision.serverRequests["sampling/createMessage"]!
const elicitation = revision.serverRequests["elicitation/create"]!
const tool = { name: "a", inputSchema: { type: "object" } } as const

const formOf = (properties: Protocol.ElicitationSchema["properties"]): Protocol.ElicitRequestFormParams => ({
  message: "a",
  requestedSchema: { type: "object", properties }
})

const spelledFields = (properties: Protocol.ElicitationSchema["properties"]): unknown =>
  (elicitation.params.encode(formOf(properties)).requestedSchema as Protocol.ElicitationSchema).properties

const asking = (...messages: ReadonlyArray<Protocol.SamplingMessage>) => ({ maxTokens: 1, messages })

const text = Protocol.text("a")
const image = Protocol.image("AQID", "image/png")
const toolUse = { type: "tool_use", id: "1", name: "a", input: {} } as const
const toolResult = { type: "tool_result", toolUseId: "1", content: [] } as const

describe("2025-06-18", () => {
  it("has the messages of 2025-11-25, but does not tell when a page was done with", () => {
    for (const side of ["clientRequests", "serverRequests", "clientNotifications"] as const) {
      expect(methodsOf(revision, side)).toEqual(methodsOf(v2025_11_25, side))
    }
    expect(methodsOf(revision, "serverNotifications")).toEqual(
      methodsOf(v2025_11_25, "serverNotifications").filter((name) => name !== "notifications/elicitation/complete")
    )
  })

  it("has rules of its own", () => {
    expect(revision).toMatchObject({
      version: "2025-06-18",
      era: "legacy",
      batches: false,
      versionHeader: true,
      primingEvents: false,
      invalidArguments: "error",
      errorCode: { resourceNotFound: -32002 }
    })
  })

  it("writes nothing that came later", () => {
    for (const member of ["icons", "execution", "websiteUrl", "elicitationId", "mode", "toolChoice", "oneOf", "task"]) {
      expect(placesOf(revision, member), member).toEqual([])
    }
  })

  it("[LIFE-13] implementations have a title, but no description and no website", () => {
    const { name, title, version } = samples.implementation
    const said = { name, title, version }
    expect(request("initialize").params.encode(samples.clientRequests.initialize.params).clientInfo).toEqual(said)
    expect(request("initialize").result.encode(samples.clientRequests.initialize.result).serverInfo).toEqual(said)
  })

  it("[LIFE-14] client capabilities say nothing of modes and of tools in sampling", () => {
    expect(revision.encodeClientCapabilities(samples.clientCapabilities)).toEqual({
      ...samples.clientCapabilities,
      sampling: {},
      elicitation: {}
    })
    expect(request("initialize").params.encode(samples.clientRequests.initialize.params).capabilities).toEqual(
      revision.encodeClientCapabilities(samples.clientCapabilities)
    )
  })

  it("a client that can only show pages declares no elicitation, which would mean forms", () => {
    expect(revision.encodeClientCapabilities({ elicitation: { url: {} }, roots: {} })).toEqual({ roots: {} })
    for (const elicitation of [{}, { form: {} }, { form: {}, url: {} }]) {
      expect(revision.encodeClientCapabilities({ elicitation })).toEqual({ elicitation: {} })
    }
  })

  it("[TOOL-07] tools keep title, output schema and _meta", () => {
    const { execution, icons, ...rest } = { ...samples.tool, outputSchema: { type: "object" } }
    expect([execution, icons]).not.toContain(undefined)
    expect(request("tools/list").result.encode({ tools: [{ ...rest, execution, icons }] })).toEqual({ tools: [rest] })
  })

  it("[TOOL-12, TOOL-17] output schemas and structured content that are no objects go unsaid", () => {
    const tools = [{ ...tool, outputSchema: { type: "array" } }]
    expect(request("tools/list").result.encode({ tools })).toEqual({ tools: [tool] })
    expect(request("tools/call").result.encode({ content: [], structuredContent: [1] })).toEqual({ content: [] })
    const fine = { content: [], structuredContent: { a: 1 } }
    expect(request("tools/call").result.encode(fine)).toBe(fine)
  })

  it("[META-20] messages of sampling have no _meta, their blocks and everything else do", () => {
    const _meta = { "com.example/x": 1 }
    const block = { ...text, _meta }
    expect(sampling.params.encode(asking({ role: "user", content: block, _meta }))).toEqual(
      asking({ role: "user", content: block })
    )
    const places = placesOf(revision, "_meta")
    for (const place of [
      "tools/list result of clientRequests.tools[]._meta",
      "prompts/list result of clientRequests.prompts[]._meta",
      "resources/list result of clientRequests.resources[]._meta",
      "resources/templates/list result of clientRequests.resourceTemplates[]._meta",
      "resources/read result of clientRequests.contents[]._meta",
      "roots/list result of serverRequests.roots[]._meta",
      "tools/call result of clientRequests.content[]._meta"
    ]) {
      expect(places).toContain(place)
    }
  })

  it("[TOOL-16, RES-12] links to resources stay, without icons", () => {
    const link = Protocol.resourceLink("a:b", "a", { title: "A", annotations: { lastModified: "2025-01-12" } })
    const content = [{ ...link, icons: [{ src: "data:," }] }]
    expect(request("tools/call").result.encode({ content })).toEqual({ content: [link] })
    expect(
      request("prompts/get").result.encode({ messages: content.map((block) => Protocol.PromptMessage.user(block)) })
    ).toEqual({ messages: [Protocol.PromptMessage.user(link)] })
  })
})

describe("2025-06-18, sampling", () => {
  it("[SAMP-06] a message of several blocks becomes several of one block each", () => {
    const params = asking({ role: "user", content: [text, image] }, { role: "assistant", content: [text] })
    expect(sampling.params.refuse?.(params)).toBeUndefined()
    expect(sampling.params.encode(params)).toEqual(
      asking({ role: "user", content: text }, { role: "user", content: image }, { role: "assistant", content: text })
    )
  })

  it("[SAMP-06] an answer of several texts becomes one", () => {
    const answer = (content: Protocol.SamplingMessage["content"]) =>
      ({ role: "assistant", model: "a", content }) as const
    expect(sampling.result.encode(answer([text, Protocol.text("b")])).content).toEqual(Protocol.text("a\nb"))
    expect(sampling.result.encode(answer([image])).content).toBe(image)
    expect(sampling.result.encode(answer([])).content).toEqual(Protocol.text(""))
    for (const content of [text, [text, text], [image], []]) {
      expect(sampling.result.refuse?.(answer(content))).toBeUndefined()
    }
    for (const content of [[text, image], toolUse, [toolUse]]) {
      expect(sampling.result.refuse?.(answer(content))).toBeTypeOf("string")
    }
  })

  it("[SAMP-05] with tools is refused", () => {
    const plain = asking({ role: "user", content: text })
    expect(sampling.params.refuse?.({ ...plain, tools: [tool] })).toContain("tools")
    for (const content of [toolUse, [text, toolUse], toolResult, [toolResult]]) {
      expect(sampling.params.refuse?.(asking({ role: "user", content }))).toContain("tools")
    }
    const none = { ...plain, tools: [], toolChoice: { mode: "none" } } as const
    expect(sampling.params.refuse?.(none)).toBeUndefined()
    expect(sampling.params.encode(none)).toEqual(plain)
  })
})

describe("2025-06-18, elicitation", () => {
  it("[ELIC-06] forms say neither mode nor dialect", () => {
    const { message, requestedSchema } = formOf({ sure: { type: "boolean" } })
    const params = { mode: "form", message, requestedSchema: { $schema: "https://a.b/", ...requestedSchema } } as const
    expect(elicitation.params.encode(params)).toEqual({ message, requestedSchema })
  })

  it("[ELIC-15] fields keep what they had, and only a yes or no keeps its default", () => {
    const described = { title: "T", description: "D" }
    const line = { ...described, type: "string", minLength: 1, maxLength: 9, format: "email" } as const
    const number = { ...described, type: "number", minimum: 0, maximum: 1 } as const
    const integer = { type: "integer", minimum: 1 } as const
    const sure = { ...described, type: "boolean", default: true } as const
    const choice = { ...described, type: "string", enum: ["a"] } as const
    expect(
      spelledFields({
        line: { ...line, default: "x@y.z" },
        number: { ...number, default: 0.5 },
        integer: { ...integer, default: 2 },
        sure,
        choice: { ...choice, default: "a" }
      })
    ).toEqual({ line, number, integer, sure, choice })
  })

  it("[ELIC-17] titles of choices are in enumNames", () => {
    const oneOf = [
      { const: "a", title: "A" },
      { const: "b", title: "B" }
    ]
    const legacy = { type: "string", enum: ["c"], enumNames: ["C"] } as const
    expect(spelledFields({ titled: { type: "string", title: "T", oneOf, default: "a" }, legacy })).toEqual({
      titled: { type: "string", title: "T", enum: ["a", "b"], enumNames: ["A", "B"] },
      legacy
    })
  })

  it("[ELIC-14] fields of several values are refused, by name", () => {
    expect(elicitation.params.refuse?.(samples.form)).toContain('"some"')
    expect(
      elicitation.params.refuse?.(formOf({ more: { type: "array", items: { type: "string", enum: ["a"] } } }))
    ).toContain('"more"')
    expect(elicitation.params.refuse?.(samples.plainServerRequests["elicitation/create"].params)).toBeUndefined()
  })

  it("[ELIC-14] answers of several values are refused", () => {
    expect(elicitation.result.refuse?.({ action: "accept", content: { some: ["a"] } })).toContain('"some"')
    expect(elicitation.result.refuse?.({ action: "accept", content: { a: "a", b: 1, c: true } })).toBeUndefined()
    expect(elicitation.result.refuse?.({ action: "decline" })).toBeUndefined()
  })

  it("pages to visit are refused", () => {
    expect(elicitation.params.refuse?.(samples.pageToVisit)).toContain("page")
  })

  it("[LIFE-15, BASE-30] reads what a newer peer says all the same", () => {
    for (const params of [samples.form, samples.pageToVisit]) {
      const decoded = elicitation.params.decode(params)
      expect(Result.isSuccess(decoded) && decoded.success).toBe(params)
    }
    const listed = { tools: [samples.tool] }
    expect(request("tools/list").result.decode(listed)).toEqual(Result.succeed(listed))
    const initialize = samples.clientRequests.initialize.params
    expect(request("initialize").params.decode(initialize)).toEqual(Result.succeed(initialize))
  })
})
