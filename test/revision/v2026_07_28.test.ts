import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import type { Members } from "../../src/protocol/JsonRpc.ts"
import { findRequest } from "../../src/revision/Revision.ts"
import { v2026_07_28 as modern } from "../../src/revision/v2026_07_28.ts"
import * as samples from "./samples.ts"

const request = (method: string) => findRequest(modern.clientRequests, method)!
const encoded = (method: keyof typeof samples.clientRequests) =>
  request(method).result.encode(samples.clientRequests[method].result)
const methods = Object.keys(modern.clientRequests) as ReadonlyArray<keyof typeof samples.clientRequests>
const asking = ["tools/call", "prompts/get", "resources/read"]
const cacheable = [
  "prompts/list",
  "resources/list",
  "resources/read",
  "resources/templates/list",
  "server/discover",
  "tools/list"
]

/** The smallest result of each method, as an older server would send it. */
const bare: { readonly [method: string]: Members } = {
  "server/discover": { supportedVersions: [], capabilities: {} },
  "tools/list": { tools: [] },
  "tools/call": { content: [] },
  "prompts/list": { prompts: [] },
  "prompts/get": { messages: [] },
  "resources/list": { resources: [] },
  "resources/templates/list": { resourceTemplates: [] },
  "resources/read": { contents: [] },
  "subscriptions/listen": { _meta: { "io.modelcontextprotocol/subscriptionId": 1 } },
  "completion/complete": { completion: { values: [] } }
}

describe("results of 2026-07-28", () => {
  it("[BASE-22] say their type, all of them", () => {
    expect(methods).toHaveLength(10)
    for (const method of methods) expect(encoded(method).resultType, method).toBe("complete")
    for (const method of asking) {
      expect(request(method).result.encode(samples.inputRequired).resultType).toBe("input_required")
    }
  })

  it("[BASE-23] without a type are complete", () => {
    for (const method of methods) {
      expect(request(method).result.decode(bare[method]), method).toEqual(Result.succeed(bare[method]))
    }
  })

  it("[BASE-24] of an unknown type are invalid", () => {
    for (const method of methods) {
      for (const resultType of ["task", "", 1, null]) {
        const decoded = request(method).result.decode({ ...bare[method], resultType })
        expect(Result.isFailure(decoded) && decoded.failure, method).toContain("resultType: Expected")
      }
    }
  })

  it("[MRTR-02, BASE-24] ask for input only in answer to three methods", () => {
    for (const method of methods) {
      const wire = { ...bare[method], resultType: "input_required", requestState: "a" }
      expect(Result.isSuccess(request(method).result.decode(wire)), method).toBe(asking.includes(method))
    }
  })

  it("that ask for nothing are invalid", () => {
    for (const method of asking) {
      const decoded = request(method).result.decode({ resultType: "input_required", inputRequests: {} })
      expect(decoded).toEqual(Result.fail("Expected inputRequests or requestState"))
    }
  })

  it("[CACHE-01] six carry cache hints, what the server says or 0 and private", () => {
    const hinted = methods.filter((method) => "ttlMs" in encoded(method) && "cacheScope" in encoded(method))
    expect(hinted.toSorted()).toEqual(cacheable)
    for (const method of cacheable) {
      const written = request(method).result.encode(bare[method])
      expect(written).toMatchObject({ ttlMs: 0, cacheScope: "private" })
      expect(request(method).result.encode({ ...bare[method], ttlMs: 5, cacheScope: "public" })).toMatchObject({
        ttlMs: 5,
        cacheScope: "public"
      })
    }
  })

  it("[MRTR-20] that ask for input carry no cache hints", () => {
    const written = request("resources/read").result.encode(samples.inputRequired)
    expect(written).not.toHaveProperty("ttlMs")
    expect(written).not.toHaveProperty("cacheScope")
  })

  it("[PAGE-04] end a list by leaving nextCursor out", () => {
    expect(request("tools/list").result.encode({ tools: [], nextCursor: null })).not.toHaveProperty("nextCursor")
    expect(request("tools/list").result.encode({ tools: [], nextCursor: "" })).toHaveProperty("nextCursor", "")
  })

  it("[TOOL-13, TOOL-18] keep any output schema and any structured content", () => {
    expect(encoded("tools/list").tools).toMatchObject([{ outputSchema: { type: "array" } }])
    for (const structuredContent of [null, 0, [], {}]) {
      const written = request("tools/call").result.encode({ content: [], structuredContent })
      expect(written).toHaveProperty("structuredContent", structuredContent)
    }
  })

  it("do not change the value they are made from", () => {
    const before = JSON.stringify(samples.clientRequests)
    for (const method of methods) encoded(method)
    expect(JSON.stringify(samples.clientRequests)).toBe(before)
  })

  it("with a resultType of their own are not copied", () => {
    const result = { resultType: "complete" as const, content: [] }
    expect(request("tools/call").result.encode(result)).toBe(result)
  })
})

describe("what 2026-07-28 took away", () => {
  it("[VER-14] has no messages of the initialize era", () => {
    const gone = ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"]
    for (const method of gone) expect(findRequest(modern.clientRequests, method)).toBeUndefined()
    expect(modern.serverRequests.ping).toBeUndefined()
    expect(Object.keys(modern.clientNotifications)).toEqual(["notifications/cancelled"])
    expect(modern.serverNotifications).not.toHaveProperty("notifications/elicitation/complete")
  })

  it("[PROG-05] only servers report progress", () => {
    expect(modern.serverNotifications["notifications/progress"]).toBeDefined()
    expect(modern.clientNotifications["notifications/progress"]).toBeUndefined()
  })

  it("[VER-12, ROOT-02] clients declare neither roots.listChanged nor tasks", () => {
    const declared = { ...samples.clientCapabilities, tasks: { list: {} } }
    expect(modern.encodeClientCapabilities(declared)).toEqual({ ...samples.clientCapabilities, roots: {} })
    const nothingToDrop = { elicitation: {}, roots: {} }
    expect(modern.encodeClientCapabilities(nothingToDrop)).toBe(nothingToDrop)
  })

  it("[VER-13] servers declare no tasks", () => {
    const capabilities = { ...samples.serverCapabilities, tasks: { list: {} } }
    const written = request("server/discover").result.encode({ supportedVersions: [], capabilities })
    expect(written.capabilities).toEqual(samples.serverCapabilities)
  })

  it("tools say nothing of execution, neither in a list nor in sampling", () => {
    expect(JSON.stringify(encoded("tools/list"))).not.toContain("execution")
    const sampling = modern.serverRequests["sampling/createMessage"]!.params
    expect(JSON.stringify(sampling.encode(samples.serverRequests["sampling/createMessage"].params))).not.toContain(
      "execution"
    )
    expect(JSON.stringify(request("tools/call").result.encode(samples.inputRequired))).not.toContain("execution")
  })

  it("[ELIC-09] elicitations have no id", () => {
    expect(modern.serverRequests["elicitation/create"]!.params.encode(samples.pageToVisit)).toEqual({
      mode: "url",
      message: "Sign in",
      url: "https://example.com/sign-in"
    })
    expect(JSON.stringify(request("tools/call").result.encode(samples.inputRequired))).not.toContain("elicitationId")
  })

  it("[META-20] answers inside inputResponses are bare: no resultType; no _meta for elicitation and roots", () => {
    const roots = modern.serverRequests["roots/list"]!.result
    const elicit = modern.serverRequests["elicitation/create"]!.result
    const sample = modern.serverRequests["sampling/createMessage"]!.result
    const _meta = { "com.example/x": 1 }
    expect(roots.encode({ _meta, resultType: "complete", roots: [] })).toEqual({ roots: [] })
    expect(elicit.encode({ _meta, action: "cancel" })).toEqual({ action: "cancel" })
    const message = { role: "assistant", content: [], model: "m" } as const
    expect(sample.encode({ ...message, _meta, resultType: "complete" })).toEqual({ ...message, _meta })
  })

  it("a resource that is not there is -32602, never -32002", () => {
    expect(modern.errorCode.resourceNotFound).toBe(-32602)
  })
})

describe("requests of 2026-07-28", () => {
  it("keep answers and state as they are", () => {
    for (const method of asking) {
      const params = samples.clientRequests[method as "tools/call"].params
      expect(request(method).params.encode(params)).toBe(params)
    }
  })

  it("[MRTR-17] are read with answers to questions nobody asked", () => {
    const wire = { name: "a", inputResponses: { unknown: { whatever: [null] } } }
    expect(request("tools/call").params.decode(wire)).toEqual(Result.succeed(wire))
    const decoded = request("tools/call").params.decode({ name: "a", inputResponses: { known: "text" } })
    expect(Result.isFailure(decoded)).toBe(true)
  })
})
