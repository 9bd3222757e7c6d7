import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import * as Protocol from "../../src/protocol/index.ts"
import { findRequest } from "../../src/revision/Revision.ts"
import { v2024_11_05 as revision } from "../../src/revision/v2024_11_05.ts"
import { v2025_03_26 } from "../../src/revision/v2025_03_26.ts"
import { methodsOf, placesOf, written } from "./Messages.ts"
import * as samples from "./samples.ts"

const request = (method: string) => findRequest(revision.clientRequests, method)!
const sampling = revision.serverRequests["sampling/createMessage"]!
const audio = Protocol.audio("AQID", "audio/wav", { annotations: { priority: 1 } })
const note = Protocol.text("[Audio (audio/wav), which can't be sent in this revision of the protocol]", {
  annotations: { priority: 1 }
})

describe("2024-11-05", () => {
  it("has the messages of 2025-03-26", () => {
    for (const side of ["clientRequests", "serverRequests", "clientNotifications", "serverNotifications"] as const) {
      expect(methodsOf(revision, side)).toEqual(methodsOf(v2025_03_26, side))
    }
  })

  it("has rules of its own", () => {
    expect(revision).toMatchObject({
      version: "2024-11-05",
      era: "legacy",
      batches: false,
      versionHeader: false,
      primingEvents: false,
      invalidArguments: "error",
      errorCode: { resourceNotFound: -32002 }
    })
  })

  it("writes nothing that came later", () => {
    for (const member of [
      "title",
      "icons",
      "execution",
      "outputSchema",
      "structuredContent",
      "context",
      "lastModified",
      "completions",
      "elicitation"
    ]) {
      expect(placesOf(revision, member), member).toEqual([])
    }
    expect(JSON.stringify([...written(revision)])).not.toMatch(/resource_link|"audio"/)
  })

  it("[LIFE-14] servers have no capability for completion, though they complete", () => {
    const { completions: _, ...others } = samples.serverCapabilities
    expect(request("initialize").result.encode(samples.clientRequests.initialize.result).capabilities).toEqual(others)
    expect(revision.clientRequests["completion/complete"]).toBeDefined()
  })

  it("[TOOL-04] tools are a name, a description and what they take", () => {
    const { description, inputSchema, name } = samples.tool
    expect(request("tools/list").result.encode({ tools: [samples.tool] })).toEqual({
      tools: [{ name, description, inputSchema }]
    })
  })

  it("[TOOL-16, PROMPT-05] audio becomes a text that says there was some", () => {
    const image = Protocol.image("AQID", "image/png")
    expect(request("tools/call").result.encode({ content: [image, audio] })).toEqual({ content: [image, note] })
    expect(request("prompts/get").result.encode({ messages: [Protocol.PromptMessage.user(audio)] })).toEqual({
      messages: [Protocol.PromptMessage.user(note)]
    })
  })

  it("[SAMP-05] sampling with audio is refused, in the question and in the answer", () => {
    const asking = (content: Protocol.SamplingMessage["content"]) =>
      ({ maxTokens: 1, messages: [{ role: "user", content }] }) as const
    const answer = { role: "assistant", model: "a", content: audio } as const
    for (const content of [audio, [Protocol.text("a"), audio]]) {
      expect(sampling.params.refuse?.(asking(content))).toContain("Audio")
      expect(v2025_03_26.serverRequests["sampling/createMessage"]!.params.refuse?.(asking(content))).toBeUndefined()
    }
    expect(sampling.params.refuse?.(asking(Protocol.text("a")))).toBeUndefined()
    expect(sampling.result.refuse?.(answer)).toContain("Audio")
    expect(sampling.result.refuse?.({ ...answer, content: Protocol.text("a") })).toBeUndefined()
    expect(sampling.params.refuse?.({ ...asking(Protocol.text("a")), tools: [samples.tool] })).toContain("tools")
  })

  it("[PROG-02] progress has no message, in either direction", () => {
    for (const side of ["clientNotifications", "serverNotifications"] as const) {
      const { message: _, ...others } = samples[side]["notifications/progress"].params
      const { params } = revision[side]["notifications/progress"]!
      expect(params.encode(samples[side]["notifications/progress"].params)).toEqual(others)
    }
  })

  it("[BASE-30, LIFE-15] reads what a newer peer says all the same", () => {
    const called = { content: samples.content, structuredContent: { a: 1 } }
    expect(request("tools/call").result.decode(called)).toEqual(Result.succeed(called))
    const initialized = samples.clientRequests.initialize.result
    expect(request("initialize").result.decode(initialized)).toEqual(Result.succeed(initialized))
    const progress = samples.serverNotifications["notifications/progress"].params
    expect(revision.serverNotifications["notifications/progress"]!.params.decode(progress)).toEqual(
      Result.succeed(progress)
    )
  })
})
