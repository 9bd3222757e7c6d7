/** `Mcp-Method` and `Mcp-Name`: what a client writes and what a server checks. */
import { describe, expect, it } from "vitest"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import * as StandardHeaders from "../../src/transport/StandardHeaders.ts"

const call = (name: unknown) => JsonRpc.request(1, "tools/call", { name })

const check = (message: JsonRpc.Message, sent: HeadersInit) => {
  const headers = new Headers(sent)
  return StandardHeaders.check(message, (name) => headers.get(name))
}

describe("standardHeaders", () => {
  it("[HDR-01] [HDR-02] [HDR-03] [HDR-14] mirrors the method and the name", () => {
    const { standardHeaders } = StandardHeaders
    expect(standardHeaders(call("get_weather"))).toEqual({ "Mcp-Method": "tools/call", "Mcp-Name": "get_weather" })
    expect(standardHeaders(JsonRpc.request(1, "prompts/get", { name: "code_review" }))).toEqual({
      "Mcp-Method": "prompts/get",
      "Mcp-Name": "code_review"
    })
    expect(standardHeaders(JsonRpc.request(1, "resources/read", { uri: "file:///é" }))).toEqual({
      "Mcp-Method": "resources/read",
      "Mcp-Name": "=?base64?ZmlsZTovLy/DqQ==?="
    })
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      expect(standardHeaders(JsonRpc.request(1, method, { taskId: "t1" }))).toEqual({
        "Mcp-Method": method,
        "Mcp-Name": "t1"
      })
    }
    expect(standardHeaders(JsonRpc.request(1, "tools/list", { name: "x" }))).toEqual({ "Mcp-Method": "tools/list" })
    expect(standardHeaders(JsonRpc.request(1, "server/discover"))).toEqual({ "Mcp-Method": "server/discover" })
    expect(standardHeaders(JsonRpc.notification("notifications/cancelled"))).toEqual({
      "Mcp-Method": "notifications/cancelled"
    })
    expect(standardHeaders(JsonRpc.result(1, {}))).toEqual({})
  })

  it("[A14] encodes a name that looks encoded, and no name can add a header", () => {
    expect(StandardHeaders.standardHeaders(call("=?base64?literal?="))["Mcp-Name"]).toBe(
      "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="
    )
    expect(StandardHeaders.standardHeaders(call("a\r\nX-Evil: 1"))["Mcp-Name"]).not.toContain("\n")
  })
})

describe("check", () => {
  it("[HDR-04] takes what a client writes, whatever the case of names", () => {
    for (const message of [call("é"), call(" a "), JsonRpc.request(1, "tools/list"), JsonRpc.result(1, {})]) {
      expect(check(message, StandardHeaders.standardHeaders(message))).toBeUndefined()
    }
    expect(check(call("foo"), { "MCP-METHOD": "tools/call", "mcp-name": "foo" })).toBeUndefined()
    expect(
      StandardHeaders.check(call("foo"), (name) => (name === "Mcp-Name" ? "  foo " : "tools/call"))
    ).toBeUndefined()
  })

  it.each([
    ["another name", { "Mcp-Method": "tools/call", "Mcp-Name": "read_only" }, /'read_only' does not match/],
    ["another method", { "Mcp-Method": "tools/list", "Mcp-Name": "delete_all" }, /'tools\/list' does not match/],
    ["another case", { "Mcp-Method": "TOOLS/CALL", "Mcp-Name": "delete_all" }, /does not match/],
    ["another case of the name", { "Mcp-Method": "tools/call", "Mcp-Name": "Delete_All" }, /does not match/],
    ["no method", { "Mcp-Name": "delete_all" }, /Mcp-Method header is missing/],
    ["no name", { "Mcp-Method": "tools/call" }, /Mcp-Name header is missing/],
    ["broken Base64", { "Mcp-Method": "tools/call", "Mcp-Name": "=?base64?ZGVsZXRlX2FsbA?=" }, /Base64 is malformed/],
    ["an encoded method", { "Mcp-Method": "=?base64?dG9vbHMvY2FsbA==?=", "Mcp-Name": "delete_all" }, /does not match/]
  ])("[HDR-05] [HDR-16] [BUG-139] refuses %s", (_, sent, reason) => {
    expect(check(call("delete_all"), sent as Record<string, string>)).toMatch(reason)
  })

  it("[BUG-139] refuses a header that came twice", () => {
    expect(
      check(call("delete_all"), [
        ["Mcp-Method", "tools/call"],
        ["Mcp-Name", "read_only"],
        ["Mcp-Name", "delete_all"]
      ])
    ).toMatch(/does not match/)
    expect(StandardHeaders.check(call("a"), (name) => (name === "Mcp-Name" ? ["a", "a"] : "tools/call"))).toMatch(
      /came 2 times/
    )
  })

  it("asks for no name where the body has none, and for nothing on notifications", () => {
    expect(check(call(undefined), { "Mcp-Method": "tools/call" })).toBeUndefined()
    expect(check(call(undefined), { "Mcp-Method": "tools/call", "Mcp-Name": "a" })).toMatch(/does not match/)
    const notification = JsonRpc.notification("notifications/cancelled")
    expect(check(notification, {})).toBeUndefined()
    expect(check(notification, { "Mcp-Method": "tools/call" })).toMatch(/does not match/)
  })
})
