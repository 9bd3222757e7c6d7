import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import { findRequest } from "../../src/revision/Revision.ts"
import { v2025_11_25 as legacy } from "../../src/revision/v2025_11_25.ts"
import * as samples from "./samples.ts"

const request = (method: string) => findRequest(legacy.clientRequests, method)!
const methods = Object.keys(legacy.clientRequests) as ReadonlyArray<keyof typeof samples.clientRequests>
const sampling = legacy.serverRequests["sampling/createMessage"]!
const tool = { name: "a", inputSchema: { type: "object" } } as const

describe("2025-11-25 (section 2.10)", () => {
  it("rule 1: results carry nothing that came with 2026-07-28", () => {
    for (const method of methods) {
      const result = {
        resultType: "complete",
        ttlMs: 5,
        cacheScope: "public",
        ...samples.clientRequests[method].result
      }
      const written = request(method).result.encode(result)
      for (const member of ["resultType", "ttlMs", "cacheScope"]) expect(written).not.toHaveProperty(member)
    }
  })

  it("rule 2: these members mean nothing in what is read, whatever they hold", () => {
    const wire = { resultType: "input_required", ttlMs: "soon", cacheScope: 1, requestState: "a", contents: [] }
    const decoded = request("resources/read").result.decode(wire)
    expect(decoded).toEqual(Result.succeed({ requestState: "a", contents: [] }))
  })

  it("[TOOL-12] rule 4: an output schema that is no object at its root goes unsaid", () => {
    const { result } = request("tools/list")
    for (const outputSchema of [{ type: "array" }, { anyOf: [{ type: "object" }] }, {}, { type: ["object", "null"] }]) {
      expect(result.encode({ tools: [{ ...tool, outputSchema }] })).toEqual({ tools: [tool] })
    }
    const fine = { ...tool, outputSchema: { type: "object", properties: {} } }
    expect(result.encode({ tools: [fine] })).toEqual({ tools: [fine] })
  })

  it("[TOOL-17] rule 4: structured content that is no object goes unsaid", () => {
    const { result } = request("tools/call")
    for (const structuredContent of [null, 0, "a", [], [{}]]) {
      expect(result.encode({ content: [], structuredContent })).toEqual({ content: [] })
    }
    const fine = { content: [], structuredContent: { a: 1 } }
    expect(result.encode(fine)).toBe(fine)
  })

  it("rule 4 holds inside sampling too", () => {
    const block = { type: "tool_result", toolUseId: "1", content: [] } as const
    const params = { maxTokens: 1, messages: [{ role: "user", content: [block] }], tools: [tool] } as const
    expect(
      sampling.params.encode({
        ...params,
        messages: [{ role: "user", content: [{ ...block, structuredContent: [1] }] }],
        tools: [{ ...tool, outputSchema: { type: "string" } }]
      })
    ).toEqual(params)
    const fine = { ...params, messages: [{ role: "user", content: { ...block, structuredContent: {} } }] } as const
    expect(sampling.params.encode(fine)).toBe(fine)
  })

  it("rule 5: requests carry no answers and no state", () => {
    for (const method of ["tools/call", "prompts/get", "resources/read"] as const) {
      const written = request(method).params.encode(samples.clientRequests[method].params)
      expect(written).not.toHaveProperty("inputResponses")
      expect(written).not.toHaveProperty("requestState")
    }
  })

  it("[RES-07] rule 6: a resource that is not there is -32002", () => {
    expect(legacy.errorCode.resourceNotFound).toBe(-32002)
  })

  it("has the messages of the initialize era, and none of 2026-07-28", () => {
    expect(methods).toHaveLength(13)
    expect(legacy.clientRequests["server/discover"]).toBeUndefined()
    expect(legacy.clientRequests["subscriptions/listen"]).toBeUndefined()
    expect(legacy.serverNotifications["notifications/subscriptions/acknowledged"]).toBeUndefined()
    expect(Object.keys(legacy.serverRequests).toSorted()).toEqual([
      "elicitation/create",
      "ping",
      "roots/list",
      "sampling/createMessage"
    ])
  })

  it("[LIFE-14] initialize keeps roots.listChanged and extensions, and offers no tasks", () => {
    const params = samples.clientRequests.initialize.params
    expect(request("initialize").params.encode(params)).toBe(params)
    expect(
      request("initialize").params.encode({ ...params, capabilities: { ...params.capabilities, tasks: {} } })
    ).toEqual(params)
    const result = samples.clientRequests.initialize.result
    expect(
      request("initialize").result.encode({ ...result, capabilities: { ...result.capabilities, tasks: {} } })
    ).toEqual(result)
  })

  it("elicitations of a page keep their id", () => {
    expect(legacy.serverRequests["elicitation/create"]!.params.encode(samples.pageToVisit)).toBe(samples.pageToVisit)
    expect(legacy.serverNotifications["notifications/elicitation/complete"]).toBeDefined()
  })

  it("[TOOL-08] tools keep execution", () => {
    const executable = { ...tool, execution: { taskSupport: "forbidden" } } as const
    expect(request("tools/list").result.encode({ tools: [executable] })).toEqual({ tools: [executable] })
  })

  it("[PAGE-04] a list ends by leaving nextCursor out", () => {
    expect(request("tools/list").result.encode({ tools: [], nextCursor: null })).toEqual({ tools: [] })
    expect(request("resources/list").result.encode({ resources: [], nextCursor: null })).toEqual({ resources: [] })
  })

  it("the answer to ping is an empty object", () => {
    expect(request("ping").result.encode({})).toEqual({})
    expect(legacy.serverRequests.ping!.result.encode({})).toEqual({})
  })

  it("does not change the value it writes", () => {
    const before = JSON.stringify(samples.clientRequests)
    for (const method of methods) {
      request(method).params.encode(samples.clientRequests[method].params)
      request(method).result.encode(samples.clientRequests[method].result)
    }
    expect(JSON.stringify(samples.clientRequests)).toBe(before)
  })
})
