import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import { findNotification, findRequest } from "../../src/revision/Revision.ts"
import { findRevision, newest, newestLegacy, revisions } from "../../src/revision/Revisions.ts"

const params = (method: string, wire: { readonly [member: string]: unknown } | undefined) =>
  findRequest(newest.clientRequests, method)!.params.decode(wire)

describe("reading", () => {
  for (const revision of revisions) {
    it(`[BASE-30, META-06] ${revision.version}: hands on what came, unknown members and all`, () => {
      const { result } = findRequest(revision.clientRequests, "tools/call")!
      const wire = {
        _meta: { "com.example/x": [1] },
        content: [{ type: "text", text: "a", future: true, _meta: { "com.example/y": null } }],
        future: { deep: [null] }
      }
      const decoded = result.decode(wire)
      expect(Result.isSuccess(decoded) && decoded.success).toBe(wire)
    })
  }

  it("[BASE-29] takes absent params for none", () => {
    for (const method of ["tools/list", "ping", "prompts/list"]) {
      expect(findRequest(newestLegacy.clientRequests, method)!.params.decode(undefined)).toEqual(Result.succeed({}))
    }
    expect(findRequest(newestLegacy.serverRequests, "roots/list")!.params.decode(undefined)).toEqual(Result.succeed({}))
  })

  it("[BASE-11] says in one line which member is wrong, and repeats nothing of the peer", () => {
    const secret = "x".repeat(1000)
    const messages = [
      params("tools/call", undefined),
      params("tools/call", { name: 5 }),
      params("prompts/get", { name: "a", arguments: { [`the argument`]: [secret] } }),
      params("subscriptions/listen", { notifications: { resourceSubscriptions: ["a:b", 1] } }),
      params("tools/list", { _meta: { "io.modelcontextprotocol/logLevel": secret } })
    ].map((decoded) => (Result.isFailure(decoded) ? decoded.failure : "read"))
    expect(messages).toEqual([
      "name: Missing key",
      "name: Expected string",
      'arguments["the argument"]: Expected string',
      "notifications.resourceSubscriptions[1]: Expected string",
      '_meta["io.modelcontextprotocol/logLevel"]: Expected ' +
        '"debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency"'
    ])
  })

  it("says which member is wrong where there are several kinds of a thing", () => {
    const { result } = findRequest(newest.clientRequests, "tools/call")!
    const sampling = findRequest(newest.serverRequests, "sampling/createMessage")!.params
    const elicitation = findRequest(newest.serverRequests, "elicitation/create")!.params
    const messages = [
      result.decode({ content: [{ type: "text" }] }),
      result.decode({ content: [{ type: "resource", resource: { uri: "a:b" } }] }),
      result.decode({ content: [null] }),
      result.decode({ content: [{ type: 5 }] }),
      result.decode({ resultType: "input_required", inputRequests: { a: { method: "tools/list" } } }),
      sampling.decode({
        maxTokens: 1,
        messages: [{ role: "user", content: [{ type: "tool_use", id: "1", name: "a" }] }]
      }),
      sampling.decode({ maxTokens: 1, messages: [{ role: "user", content: "text" }] }),
      elicitation.decode({ message: "a" }),
      elicitation.decode({ mode: "url", message: "a" })
    ].map((decoded) => (Result.isFailure(decoded) ? decoded.failure : "read"))
    expect(messages).toEqual([
      "content[0].text: Missing key",
      "content[0].resource.text: Missing key",
      "content[0]: Expected a content block",
      "content[0].type: Expected string",
      "inputRequests.a: Expected a request for elicitation, sampling or roots",
      "messages[0].content[0].input: Missing key",
      "messages[0].content: Expected a content block or several",
      "requestedSchema: Missing key",
      "url: Missing key"
    ])
  })
})

describe("looking up", () => {
  it("finds revisions by their version", () => {
    expect(findRevision("2026-07-28")).toBe(newest)
    expect(findRevision("2025-11-25")).toBe(newestLegacy)
    expect(findRevision("1900-01-01")).toBeUndefined()
    expect(findRevision("")).toBeUndefined()
  })

  it("[VER-18] lists the newest first, each with a date for a version", () => {
    const versions = revisions.map((revision) => revision.version)
    expect(versions).toEqual(versions.toSorted().toReversed())
    for (const version of versions) expect(version).toMatch(/^\d{4}-\d{2}-\d{2}$/)
    expect(newest).toBe(revisions[0])
    expect(newestLegacy).toBe(revisions.find((revision) => revision.era === "legacy"))
  })

  it("finds no method that a peer made up, whatever it is called", () => {
    for (const revision of revisions) {
      for (const method of ["constructor", "toString", "__proto__", "hasOwnProperty", "", "tools/destroy"]) {
        expect(findRequest(revision.clientRequests, method)).toBeUndefined()
        expect(findRequest(revision.serverRequests, method)).toBeUndefined()
        expect(findNotification(revision.clientNotifications, method)).toBeUndefined()
        expect(findNotification(revision.serverNotifications, method)).toBeUndefined()
      }
    }
  })
})
