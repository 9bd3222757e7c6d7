/** The framing of Server-Sent Events: every line end, every cut, nothing else. */
import { describe, expect, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as Sse from "../../src/transport/Sse.ts"

const parse = (...pieces: ReadonlyArray<string>) => {
  const parser = new Sse.Parser()
  return pieces.flatMap((piece) => parser.push(piece))
}

const data = (...pieces: ReadonlyArray<string>) => parse(...pieces).map((event) => event.data)

describe("Sse.Parser", () => {
  it.each([
    ["LF", "event: endpoint\ndata: a\ndata: b\n\n"],
    ["CRLF", "event: endpoint\r\ndata: a\r\ndata: b\r\n\r\n"],
    ["CR", "event: endpoint\rdata: a\rdata: b\r\r"],
    ["mixed", "event: endpoint\r\ndata: a\rdata: b\n\r"]
  ])("ends a line with %s [BUG-62]", (_name, text) => {
    const expected = [{ id: undefined, event: "endpoint", data: "a\nb" }]
    expect(parse(text)).toEqual(expected)
    expect(parse(...text)).toEqual(expected)
  })

  it("takes a CRLF that is cut in two as one line end", () => {
    expect(data("data: a\r", "\ndata: b\r", "\n\r", "\n")).toEqual(["a\nb"])
    expect(data("data: a\r", "\r")).toEqual(["a"])
  })

  it("leaves other line separators in the text [BUG-6]", () => {
    expect(data("data: a\u2028b\u2029c\u0085d\u000be\u000cf\n\n")).toEqual(["a\u2028b\u2029c\u0085d\u000be\u000cf"])
  })

  it("keeps what comes after the last line end of a piece [BUG-64]", () => {
    const payload = "x".repeat(64 * 1024)
    const text = `data: ${payload}\n\n`
    const pieces = Array.from({ length: Math.ceil(text.length / 7) }, (_, index) =>
      text.slice(index * 7, index * 7 + 7)
    )
    expect(data(...pieces)).toEqual([payload])
  })

  it("finds the same events wherever the text is cut", () => {
    const line = fc.constantFrom(
      "data: a",
      "data:b",
      "data",
      "id: 1",
      "id",
      ": comment",
      "event: e",
      "retry: 5",
      "",
      ""
    )
    const text = fc
      .array(fc.tuple(line, fc.constantFrom("\n", "\r\n", "\r")), { maxLength: 20 })
      .map((lines) => lines.map(([content, end]) => content + end).join(""))
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 9 }), (whole, size) => {
        const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, index) =>
          whole.slice(index * size, (index + 1) * size)
        )
        expect(parse(...pieces)).toEqual(parse(whole))
      })
    )
  })

  it("ignores comments, unknown fields and a byte order mark", () => {
    expect(parse("\uFEFF: hello\ndata: a\nfoo: bar\n:\n\n")).toEqual([{ id: undefined, event: "message", data: "a" }])
    // Only the first one is a mark.
    expect(parse("\uFEFF\uFEFFdata: a\n\n")).toEqual([])
  })

  it("takes one space from a value, and no more", () => {
    expect(data("data:  a \n\ndata:b\n\ndata\n\n")).toEqual([" a ", "b", ""])
  })

  it("remembers the id until another one comes", () => {
    expect(parse("id: 1\ndata: a\n\ndata: b\n\nid: 2\ndata: c\n\nid\ndata: d\n\n").map((event) => event.id)).toEqual([
      "1",
      "1",
      "2",
      undefined
    ])
  })

  it("reports an id that comes without data, and an empty first event [HTTP-19]", () => {
    expect(parse("id: 1\n\nid: 2\ndata:\n\n")).toEqual([
      { id: "1", event: "message", data: "" },
      { id: "2", event: "message", data: "" }
    ])
  })

  it("drops an event that is cut off, and its id", () => {
    const parser = new Sse.Parser()
    expect(parser.push("id: 1\ndata: a\n\nid: 2\ndata: b\n")).toEqual([{ id: "1", event: "message", data: "a" }])
  })

  it("ignores an id with a NUL, and a retry that is not all digits", () => {
    const parser = new Sse.Parser({ lastEventId: "0" })
    expect(parser.push("id: a\0b\nretry: 1s\nretry: -5\ndata: a\n\n")).toEqual([
      { id: "0", event: "message", data: "a" }
    ])
    expect(parser.retry).toBeUndefined()
    parser.push("retry: 500\n")
    expect(parser.retry).toBe(500)
  })

  it("stops at an event that is too long, whether or not its end has come", () => {
    const whole = new Sse.Parser({ maxEventSize: 10 })
    expect(whole.push("data: ok\n\ndata: 01234\ndata: 56789\n\ndata: after\n\n").map((event) => event.data)).toEqual([
      "ok"
    ])
    expect(whole.exceeded).toBe(true)
    const endless = new Sse.Parser({ maxEventSize: 10 })
    endless.push("data: 012")
    expect(endless.exceeded).toBe(false)
    endless.push("345")
    expect(endless.exceeded).toBe(true)
    expect(endless.push("\n\ndata: a\n\n")).toEqual([])
  })

  it("takes time in proportion to the text", () => {
    const parser = new Sse.Parser()
    const piece = "data: " + "x".repeat(1000)
    // Quadratic work on 40 MB in small pieces would not come to an end.
    for (let count = 0; count < 10_000; count++) parser.push(piece)
    expect(parser.push("\n\n")[0]!.data.length).toBe(10_000 * piece.length - "data: ".length)
  })
})

describe("Sse.encode", () => {
  it("writes the fields that are there", () => {
    expect(Sse.encode({ data: "a" })).toBe("data: a\n\n")
    expect(Sse.encode({ id: "7", event: "ping", retry: 12.7, data: "" })).toBe(
      "id: 7\nevent: ping\nretry: 12\ndata: \n\n"
    )
    expect(Sse.encode({ event: "message", data: "a" })).toBe("data: a\n\n")
  })

  it("cannot be made to write another field", () => {
    expect(parse(Sse.encode({ id: "1\ndata: x", event: "e\r\ndata: y", data: "a\r\nid: 9\rretry: 1\n" }))).toEqual([
      { id: "1data: x", event: "edata: y", data: "a\nid: 9\nretry: 1\n" }
    ])
  })

  it("is read back as it was", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const value = JSON.stringify({ text })
        expect(data(Sse.encode({ data: value }))).toEqual([value])
      })
    )
  })

  it("writes comments that nobody reads", () => {
    expect(Sse.comment("still here")).toBe(": still here\n\n")
    expect(parse(Sse.comment("a\ndata: b"))).toEqual([])
  })
})
