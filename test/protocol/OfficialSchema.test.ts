/**
 * The judge itself: what it must not let pass.
 */
import { describe, expect, it } from "@effect/vitest"
import { available, validateMessage, validateTraffic, type Version } from "./OfficialSchema.ts"

const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {}
}
const listTools = { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta } }

const failure = (code: number, data: unknown) =>
  validateMessage("2026-07-28", "server", { jsonrpc: "2.0", id: 1, error: { code, message: "a", data } })

describe.skipIf(!available)("the official schema as a judge", () => {
  it("reads the schema of every revision", () => {
    const versions: ReadonlyArray<Version> = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]
    for (const version of versions) {
      expect(validateMessage(version, "client", listTools)).toEqual([])
      expect(validateMessage(version, "client", { ...listTools, id: null })).not.toEqual([])
      expect(validateMessage(version, "client", { ...listTools, method: "tools/destroy" })).not.toEqual([])
    }
  })

  it("lets no server ask and no client answer in 2026-07-28", () => {
    const ask = { jsonrpc: "2.0", id: 1, method: "roots/list" }
    const answer = { jsonrpc: "2.0", id: 1, result: { roots: [] } }
    expect(validateMessage("2025-11-25", "server", ask)).toEqual([])
    expect(validateMessage("2026-07-28", "server", ask)).not.toEqual([])
    expect(validateMessage("2025-11-25", "client", answer, "roots/list")).toEqual([])
    expect(validateMessage("2026-07-28", "client", answer, "roots/list")).not.toEqual([])
  })

  it("wants params on every request of 2026-07-28", () => {
    expect(validateMessage("2026-07-28", "client", { jsonrpc: "2.0", id: 1, method: "tools/list" })).not.toEqual([])
    expect(validateMessage("2025-11-25", "client", { jsonrpc: "2.0", id: 1, method: "tools/list" })).toEqual([])
  })

  it("takes a batch only in 2025-03-26", () => {
    expect(validateMessage("2025-03-26", "client", [listTools])).toEqual([])
    expect(validateMessage("2025-06-18", "client", [listTools])).not.toEqual([])
  })

  it("checks answers by the request they answer, also when it may ask for input", () => {
    const call = { jsonrpc: "2.0", id: "a", method: "tools/call", params: { _meta, name: "a" } }
    const answered = (result: object) =>
      validateTraffic("2026-07-28", [
        { from: "client", message: call },
        { from: "server", message: { jsonrpc: "2.0", id: "a", result } }
      ])
    expect(answered({ resultType: "complete", content: [] })).toEqual([])
    expect(answered({ resultType: "input_required", requestState: "a" })).toEqual([])
    expect(answered({ resultType: "complete" })).toEqual([
      "message 1: CallToolResult: / must have required property 'content'"
    ])
    expect(answered({ content: [] })).not.toEqual([])
    expect(answered({ resultType: "task" })).not.toEqual([])
  })

  it("checks the data of MCP's own errors", () => {
    expect(failure(-32022, { supported: ["2026-07-28"], requested: "a" })).toEqual([])
    expect(failure(-32022, { supported: "2026-07-28" })).not.toEqual([])
    expect(failure(-32021, { requiredCapabilities: { sampling: {} } })).toEqual([])
    expect(failure(-32021, { requiredCapabilities: ["sampling"] })).not.toEqual([])
  })
})
