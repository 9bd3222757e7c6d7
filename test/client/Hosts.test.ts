/**
 * What a host needs to treat servers well: choosing a model, loading icons.
 */
import { describe, expect, it } from "@effect/vitest"
import { Protocol } from "../../src/index.ts"

describe("icons", () => {
  const may = (src: string, origin?: string) => Protocol.mayLoadIcon({ src }, origin)

  it("[ICON-04] only https and pictures as data are loaded", () => {
    expect(may("https://example.com/icon.png")).toBe(true)
    expect(may("data:image/png;base64,iVBORw0KGgo=")).toBe(true)
    for (const src of [
      "javascript:alert(1)",
      "file:///etc/passwd",
      "ftp://example.com/icon.png",
      "ws://example.com/icon.png",
      "http://example.com/icon.png",
      "myapp://icon",
      "data:text/html,<script>alert(1)</script>",
      "https://user:secret@example.com/icon.png",
      "icon.png",
      ""
    ]) {
      expect(may(src), src).toBe(false)
    }
  })

  it("an icon of another origin than the server's is not loaded", () => {
    expect(may("https://example.com/icon.png", "https://example.com/mcp")).toBe(true)
    expect(may("https://example.com:8443/icon.png", "https://example.com/mcp")).toBe(false)
    expect(may("https://example.com.evil.example/icon.png", "https://example.com")).toBe(false)
  })

  it("[ICON-02] PNG and JPEG are among the types that are taken, under both names", () => {
    for (const type of ["image/png", "image/jpeg", "image/jpg", "IMAGE/PNG"])
      expect(may(`data:${type},x`), type).toBe(true)
    expect(may("data:image/x-unknown,x")).toBe(false)
  })
})

describe("model preferences", () => {
  const models = [
    { name: "acme-small-3", cheapness: 0.9, speed: 0.9, intelligence: 0.3 },
    { name: "acme-large-3", cheapness: 0.1, speed: 0.4, intelligence: 0.95 },
    { name: "other-medium", cheapness: 0.5, speed: 0.5, intelligence: 0.6 }
  ]
  const choose = (preferences: Protocol.ModelPreferences) => Protocol.chooseModel(preferences, models)?.name

  it("[SAMP-17] hints are tried in order, as parts of names, before priorities", () => {
    expect(
      choose({ hints: [{ name: "nothing" }, { name: "MEDIUM" }, { name: "small" }], intelligencePriority: 1 })
    ).toBe("other-medium")
    expect(choose({ hints: [{ name: "acme" }], intelligencePriority: 1 })).toBe("acme-large-3")
    expect(choose({ hints: [{ name: "acme" }], costPriority: 1 })).toBe("acme-small-3")
  })

  it("[SAMP-17] without a hint that fits, the priorities decide", () => {
    expect(choose({ hints: [{ name: "nothing" }, {}], speedPriority: 1 })).toBe("acme-small-3")
    expect(choose({ intelligencePriority: 0.8, costPriority: 0.1 })).toBe("acme-large-3")
    expect(Protocol.chooseModel({ hints: [{ name: "acme" }] }, [])).toBeUndefined()
  })
})
