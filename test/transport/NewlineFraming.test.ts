import { describe, expect, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import * as NewlineFraming from "../../src/transport/NewlineFraming.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

const decodeAll = (chunks: ReadonlyArray<Uint8Array>, options?: NewlineFraming.Options) => {
  const decoder = NewlineFraming.makeDecoder(options)
  return [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()]
}

const singly = (data: Uint8Array) => Array.from(data, (_, index) => data.subarray(index, index + 1))

const ping = (id: number) => JsonRpc.request(id, "ping")

const codeOf = (message: JsonRpc.Incoming | undefined) =>
  message instanceof JsonRpc.Malformed ? message.error.code : undefined

describe("NewlineFraming", () => {
  it("[STDIO-01] writes one line without inner line ends", () => {
    const line = NewlineFraming.encode(JsonRpc.notification("n", { text: "a\nb\r\nc\u2028d" }))
    expect(line.indexOf("\n")).toBe(line.length - 1)
    expect(line).not.toContain("\r")
    expect(decodeAll([bytes(line)])).toEqual([JsonRpc.notification("n", { text: "a\nb\r\nc\u2028d" })])
  })

  it("reads many lines of one chunk, skips blank ones and accepts a trailing CR [BUG-1]", () => {
    const text = '{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n\n \t\r\n\r\n{"jsonrpc":"2.0","id":2,"method":"ping"}\n'
    expect(decodeAll([bytes(text)])).toEqual([ping(1), ping(2)])
    expect(decodeAll(singly(bytes(text)))).toEqual([ping(1), ping(2)])
  })

  it("a line that is not JSON costs only itself [BUG-2]", () => {
    const text = '{"jsonrpc":"2.0","id":6,"method":"ping"\n{"jsonrpc":"2.0","id":7,"method":"ping"}\n'
    const [first, second, ...rest] = decodeAll([bytes(text)])
    expect(codeOf(first)).toBe(-32700)
    expect(second).toEqual(ping(7))
    expect(rest).toEqual([])
  })

  it("a line that is not UTF-8 costs only itself [BUG-4] [BASE-18]", () => {
    const data = new Uint8Array([
      ...bytes(NewlineFraming.encode(ping(1))),
      0x7b,
      0x22,
      0xff,
      0x22,
      0x7d,
      0x0a,
      ...bytes(NewlineFraming.encode(ping(2)))
    ])
    for (const chunks of [[data], singly(data)]) {
      const [first, second, third] = decodeAll(chunks)
      expect(first).toEqual(ping(1))
      expect(codeOf(second)).toBe(-32700)
      expect(third).toEqual(ping(2))
    }
  })

  it("characters survive chunk edges, and only LF ends a line [BUG-5] [BUG-6] [BASE-18]", () => {
    const message = JsonRpc.request("é", "tools/call", { text: "é漢🙂 a\u2028b\u2029c\u0085d\u{feff}" })
    const data = bytes(NewlineFraming.encode(message))
    expect(decodeAll(singly(data))).toEqual([message])
    expect(decodeAll([data])).toEqual([message])
  })

  it("any cut of any messages gives the same messages back", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "binary" }), { maxLength: 8 }),
        fc.array(fc.nat(2000), { maxLength: 20 }),
        (texts, cuts) => {
          const messages = texts.map((text, id) => JsonRpc.request(id, "echo", { text }))
          const data = bytes(messages.map(NewlineFraming.encode).join(""))
          const edges = [0, ...cuts.map((cut) => Math.min(cut, data.length)), data.length].toSorted((a, b) => a - b)
          const chunks = edges.slice(1).map((edge, index) => data.subarray(edges[index], edge))
          expect(decodeAll(chunks)).toEqual(messages)
        }
      )
    )
  })

  it("does not keep the chunk, whose memory the reader may use again", () => {
    const decoder = NewlineFraming.makeDecoder()
    const data = bytes(NewlineFraming.encode(ping(1)))
    const chunk = data.slice(0, 10)
    expect(decoder.push(chunk)).toEqual([])
    chunk.fill(0)
    expect(decoder.push(data.subarray(10))).toEqual([ping(1)])
  })

  it("a line of 8 MiB in small chunks is read in linear time [BUG-7]", () => {
    const text = "x".repeat(8 * 1024 * 1024)
    const data = bytes(NewlineFraming.encode(JsonRpc.request(1, "echo", { text })))
    const decoder = NewlineFraming.makeDecoder()
    const chunks = Array.from({ length: Math.ceil(data.length / 512) }, (_, index) =>
      data.subarray(index * 512, (index + 1) * 512)
    )
    // Searching or joining from the start with every chunk would move some 64 GiB here.
    const messages = chunks.flatMap((chunk) => decoder.push(chunk))
    expect(messages).toEqual([JsonRpc.request(1, "echo", { text })])
  }, 5000)

  it("a line over the limit is reported once, and the next one is read [BUG-7]", () => {
    const decoder = NewlineFraming.makeDecoder({ maxMessageBytes: 1024 })
    const chunk = new Uint8Array(1000).fill(0x41)
    expect(decoder.push(chunk)).toEqual([])
    const [report, ...rest] = decoder.push(chunk)
    expect(codeOf(report)).toBe(-32600)
    expect(report).toHaveProperty("error.message", expect.stringContaining("1024"))
    expect(rest).toEqual([])
    for (let index = 0; index < 1000; index++) expect(decoder.push(chunk)).toEqual([])
    expect(decoder.push(bytes("AAA\n" + NewlineFraming.encode(ping(9))))).toEqual([ping(9)])
    expect(decoder.end()).toEqual([])
  })

  it("the limit holds for every line of a chunk, and is the length without the line end", () => {
    const line = NewlineFraming.encode(ping(1))
    const limit = line.length - 1
    const text = line + "A".repeat(limit + 1) + "\n" + line
    for (const chunks of [[bytes(text)], singly(bytes(text))]) {
      const messages = decodeAll(chunks, { maxMessageBytes: limit })
      expect(messages.map((message) => codeOf(message) ?? "fine")).toEqual(["fine", -32600, "fine"])
    }
  })

  it("what follows the last line end is read when the stream ends", () => {
    expect(decodeAll([bytes('{"jsonrpc":"2.0","id":1,"method":"ping"}')])).toEqual([ping(1)])
    expect(decodeAll([bytes('{"jsonrpc":"2.0","id":1')]).map(codeOf)).toEqual([-32700])
  })
})
