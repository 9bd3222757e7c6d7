import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  isMetaKey,
  isReservedMetaKey,
  isReservedMetaKey2025_06_18,
  MetaKey,
  NotificationMeta,
  RequestMeta,
  ResultMeta
} from "../../src/protocol/Meta.ts"

describe("keys of _meta", () => {
  it("[META-01] a prefix is labels that start with a letter and end with a letter or digit", () => {
    for (const key of ["a/x", "com.example/x", "a-b.c1/x", "io.modelcontextprotocol/x", "A.b2/"]) {
      expect(isMetaKey(key), key).toBe(true)
    }
    for (const key of ["/x", "1a/x", "a-/x", "-a/x", "a..b/x", "a./x", ".a/x", "a_b/x", "a b/x", "a/b/x"]) {
      expect(isMetaKey(key), key).toBe(false)
    }
  })

  it("[META-02] a name starts and ends with a letter or digit; -, _ and . are allowed inside", () => {
    for (const key of ["x", "X1", "a-b_c.d", "progressToken", "com.example/a.b", "com.example/"]) {
      expect(isMetaKey(key), key).toBe(true)
    }
    for (const key of ["", "-x", "x-", "_x", "x.", "com.example/.x", "com.example/x_", "a b", "é"]) {
      expect(isMetaKey(key), key).toBe(false)
    }
  })

  it("[META-03] 2025-06-18 reserves prefixes in which mcp or modelcontextprotocol is followed by a label", () => {
    for (const key of ["mcp.dev/x", "modelcontextprotocol.io/x", "api.modelcontextprotocol.org/x", "tools.mcp.com/x"]) {
      expect(isReservedMetaKey2025_06_18(key), key).toBe(true)
    }
    for (const key of ["dev.mcp/x", "com.example/x", "mcp/x", "mcp.dev"]) {
      expect(isReservedMetaKey2025_06_18(key), key).toBe(false)
    }
  })

  it("[META-04] from 2025-11-25 the second label decides", () => {
    for (const key of ["io.modelcontextprotocol/x", "dev.mcp/x", "org.modelcontextprotocol.api/x", "com.mcp.tools/"]) {
      expect(isReservedMetaKey(key), key).toBe(true)
    }
    for (const key of ["com.example.mcp/x", "mcp.dev/x", "mcp/x", "com.example/x", "dev.mcp", "dev.mcp2/x"]) {
      expect(isReservedMetaKey(key), key).toBe(false)
    }
  })

  it("every reserved key follows the grammar, and those with a prefix are reserved", () => {
    for (const key of Object.values(MetaKey)) {
      expect(isMetaKey(key), key).toBe(true)
      expect(isReservedMetaKey(key), key).toBe(key.includes("/"))
    }
  })
})

describe("shapes of _meta", () => {
  const request = Schema.is(RequestMeta)

  it("[META-07] a progress token is a string or an integer", () => {
    expect(request({ progressToken: "a" })).toBe(true)
    expect(request({ progressToken: "" })).toBe(true)
    expect(request({ progressToken: 0 })).toBe(true)
    for (const progressToken of [1.5, null, true, {}]) expect(request({ progressToken })).toBe(false)
  })

  it("[META-06] keys nobody defined may hold anything", () => {
    const _meta = { "io.modelcontextprotocol/from-the-future": [1], "com.example/x": null, traceparent: "00-0-0-00" }
    expect(request(_meta)).toBe(true)
    expect(Schema.is(NotificationMeta)(_meta)).toBe(true)
    expect(Schema.is(ResultMeta)(_meta)).toBe(true)
  })

  it("version and capabilities have a shape", () => {
    expect(request({ [MetaKey.protocolVersion]: "2026-07-28", [MetaKey.clientCapabilities]: {} })).toBe(true)
    expect(request({ [MetaKey.protocolVersion]: 20260728 })).toBe(false)
    expect(request({ [MetaKey.clientCapabilities]: [] })).toBe(false)
    expect(request({ [MetaKey.clientCapabilities]: "none" })).toBe(false)
  })

  it("[META-15] a request without clientInfo is well-formed, one with half of it is not", () => {
    expect(request({ [MetaKey.protocolVersion]: "2026-07-28", [MetaKey.clientCapabilities]: {} })).toBe(true)
    expect(request({ [MetaKey.clientInfo]: { name: "a" } })).toBe(false)
  })

  it("a log level is one of the eight", () => {
    expect(request({ [MetaKey.logLevel]: "emergency" })).toBe(true)
    expect(request({ [MetaKey.logLevel]: "verbose" })).toBe(false)
  })

  it("a subscription id is a string or an integer", () => {
    const notification = Schema.is(NotificationMeta)
    expect(notification({ [MetaKey.subscriptionId]: 5 })).toBe(true)
    expect(notification({ [MetaKey.subscriptionId]: "5" })).toBe(true)
    expect(notification({ [MetaKey.subscriptionId]: 5.5 })).toBe(false)
  })
})
