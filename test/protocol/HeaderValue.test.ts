/** Strings in HTTP headers: the tables of the specification and of SEP-2243. */
import { describe, expect, it } from "vitest"
import { Result } from "effect"
import * as fc from "fast-check"
import * as HeaderValue from "../../src/protocol/HeaderValue.ts"

describe("encode", () => {
  it.each([
    ["us-west1", "us-west1"],
    ["us west 1", "us west 1"],
    ["file:///path/to/file%20name.txt", "file:///path/to/file%20name.txt"],
    ["", ""],
    ["Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="],
    ["日本語", "=?base64?5pel5pys6Kqe?="],
    [" padded ", "=?base64?IHBhZGRlZCA=?="],
    [" us-west1", "=?base64?IHVzLXdlc3Qx?="],
    ["us-west1 ", "=?base64?dXMtd2VzdDEg?="],
    [" us-west1 ", "=?base64?IHVzLXdlc3QxIA==?="],
    ["line1\nline2", "=?base64?bGluZTEKbGluZTI=?="],
    ["line1\r\nline2", "=?base64?bGluZTENCmxpbmUy?="],
    ["\tindented", "=?base64?CWluZGVudGVk?="],
    ["=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="]
  ])("[HDR-14] [HDR-15] %j travels as %s", (value, header) => {
    expect(HeaderValue.encode(value)).toBe(header)
    expect(HeaderValue.decode(header)).toEqual(Result.succeed(value))
  })

  it("gives every string a header that comes back the same", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (value) => {
        const header = HeaderValue.encode(value)
        expect(header).toMatch(/^[\x20-\x7e]*$/)
        expect(new Headers({ a: header }).get("a")).toBe(header)
        expect(HeaderValue.decode(header)).toEqual(Result.succeed(value.toWellFormed()))
      })
    )
  })
})

describe("decode", () => {
  it.each([
    ["=?base64?SGVsbG8=?=", "Hello"],
    ["=?base64??=", ""],
    ["=?base64?77u/YQ==?=", "\ufeffa"],
    ["  foo\t", "foo"],
    ["SGVsbG8=", "SGVsbG8="],
    ["=?base64?SGVsbG8=", "=?base64?SGVsbG8="],
    ["=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?="],
    ["=?base64?=", "=?base64?="]
  ])("[HDR-16] reads %s as %j", (header, value) => {
    expect(HeaderValue.decode(header)).toEqual(Result.succeed(value))
  })

  it.each([
    "=?base64?SGVsbG8?=",
    "=?base64?SGVs!!!bG8=?=",
    "=?base64?SGVsbG9=?=",
    "=?base64?SGVs bG8=?=",
    "=?base64?-_-_?=",
    "=?base64?/w==?="
  ])("[HDR-16] [A13] refuses %s", (header) => {
    expect(Result.merge(HeaderValue.decode(header))).toMatch(/Base64/)
  })

  it.each(["a\nb", "a\u0000", "é", "\u007f"])("[HDR-05] refuses the characters of %j", (header) => {
    expect(Result.merge(HeaderValue.decode(header))).toMatch(/characters/)
  })
})
