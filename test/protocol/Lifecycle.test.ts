/**
 * What the canonical schemas accept and refuse: how conversations start, notifications, and the data of errors.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Protocol from "../../src/protocol/index.ts"
import { accepts, refuses } from "./Shape.ts"

describe("lifecycle, notifications and errors", () => {
  const implementation = { name: "a", version: "1" }

  it("[LIFE-02, LIFE-03, LIFE-13] initialize", () => {
    const request = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: implementation }
    accepts(Protocol.InitializeRequestParams, request)
    refuses(
      Protocol.InitializeRequestParams,
      { ...request, protocolVersion: 1 },
      { ...request, clientInfo: { name: "a" } },
      { protocolVersion: "2025-11-25", clientInfo: implementation }
    )
    const result = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: implementation }
    accepts(Protocol.InitializeResult, result, { ...result, instructions: "a" })
    refuses(Protocol.InitializeResult, { ...result, serverInfo: undefined }, { ...result, capabilities: [] })
  })

  it("[LIFE-14, LIFE-15] capabilities are objects; unknown ones are tolerated", () => {
    accepts(Protocol.ClientCapabilities, {}, { elicitation: {}, sampling: {}, roots: {}, telepathy: true, tasks: {} })
    accepts(
      Protocol.ServerCapabilities,
      {},
      { tools: { listChanged: true, more: 1 }, completions: {}, telepathy: null }
    )
    refuses(Protocol.ServerCapabilities, { tools: true }, { tools: { listChanged: "yes" } }, { logging: null })
    refuses(Protocol.ClientCapabilities, { roots: [] }, { elicitation: { form: true } })
  })

  it("[DISC-03] discover names versions and capabilities", () => {
    accepts(Protocol.DiscoverResult, { supportedVersions: ["2026-07-28"], capabilities: {}, ttlMs: 0 })
    refuses(Protocol.DiscoverResult, { capabilities: {} }, { supportedVersions: "2026-07-28", capabilities: {} })
  })

  it("[SUBS-02] listen needs a filter", () => {
    accepts(
      Protocol.SubscriptionsListenRequestParams,
      { notifications: {} },
      { notifications: { toolsListChanged: false, resourceSubscriptions: ["a:b"] } }
    )
    refuses(
      Protocol.SubscriptionsListenRequestParams,
      {},
      { notifications: { toolsListChanged: 1 } },
      { notifications: { resourceSubscriptions: "a:b" } }
    )
  })

  it("[LOG-05] log messages have one of eight levels and any data", () => {
    expect(Protocol.loggingLevels).toHaveLength(8)
    for (const level of Protocol.loggingLevels) {
      accepts(Protocol.LoggingMessageNotificationParams, { level, data: null })
    }
    refuses(Protocol.LoggingMessageNotificationParams, { level: "trace", data: 1 }, { level: "info" })
    expect(Protocol.isAtLeast("error", "warning")).toBe(true)
    expect(Protocol.isAtLeast("warning", "warning")).toBe(true)
    expect(Protocol.isAtLeast("notice", "warning")).toBe(false)
  })

  it("[PROG-03] progress has a token and a number", () => {
    accepts(
      Protocol.ProgressNotificationParams,
      { progressToken: 0, progress: 0.5 },
      { progressToken: "a", progress: 1, total: 2.5, message: "b" }
    )
    refuses(
      Protocol.ProgressNotificationParams,
      { progress: 1 },
      { progressToken: 0.5, progress: 1 },
      { progressToken: 0, progress: "1" }
    )
  })

  it("cancelling names a request", () => {
    accepts(Protocol.CancelledNotificationParams, { requestId: 1 }, { requestId: "", reason: "a" })
    refuses(Protocol.CancelledNotificationParams, {}, { requestId: null }, { requestId: 1.5 })
  })

  it("[ERR-09, ERR-10, ELIC-11] the data of errors", () => {
    accepts(Protocol.UnsupportedProtocolVersionData, { supported: ["2026-07-28"], requested: "1900-01-01" })
    refuses(Protocol.UnsupportedProtocolVersionData, { supported: "2026-07-28", requested: "a" }, { supported: [] })
    accepts(Protocol.MissingRequiredClientCapabilityData, { requiredCapabilities: { sampling: {} } })
    refuses(Protocol.MissingRequiredClientCapabilityData, { requiredCapabilities: ["sampling"] }, {})
    const page = { mode: "url", message: "a", url: "https://b", elicitationId: "1" }
    accepts(Protocol.UrlElicitationRequiredData, { elicitations: [page] })
    refuses(Protocol.UrlElicitationRequiredData, {}, { elicitations: [{ ...page, mode: "form" }] })
  })
})
