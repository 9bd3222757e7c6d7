/**
 * `resources/list`, `resources/templates/list` and `resources/read`.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { McpServer, Resource } from "mcp-effect"
import { demo } from "../support/Demo.ts"
import { at, eras, legacy, modern, open, serve } from "../support/RawClient.ts"

const serverOf = (...resources: ReadonlyArray<Resource.Any<never>>) =>
  McpServer.make({ name: "s", version: "1", resources })

const echo = (variables: object) => Effect.succeed(JSON.stringify(variables))

const text = (result: object) => at(result, "contents", 0, "text")

const make = (uri: string) => () => Resource.make(uri, { name: "a" }, Effect.succeed(""))

for (const era of eras) {
  describe(`resources in ${era}`, () => {
    const notFound = era === legacy ? -32002 : -32602

    it.effect("[RES-02][RES-03] lists are the same for every connection", () =>
      Effect.gen(function* () {
        const connect = yield* serve(demo)
        const [one, other] = [yield* connect({ era }), yield* connect({ era, capabilities: { roots: {} } })]
        const list = yield* one.result("resources/list")
        expect(list.resources).toEqual([
          { uri: "config://app", name: "config", mimeType: "application/json" },
          { uri: "pixel://one", name: "pixel", mimeType: "image/png", size: 3 }
        ])
        yield* one.result("resources/read", { uri: "config://app" })
        expect(yield* other.result("resources/list")).toEqual(list)
        const templates = yield* other.result("resources/templates/list")
        expect(templates.resourceTemplates).toEqual([{ uriTemplate: "user://{id}/{+path}", name: "users" }])
      })
    )

    it.effect("[RES-17] text is text and bytes are Base64, both under the URI that was asked for", () =>
      Effect.gen(function* () {
        const client = yield* open(demo, { era })
        expect((yield* client.result("resources/read", { uri: "config://app" })).contents).toEqual([
          { uri: "config://app", mimeType: "application/json", text: "{}" }
        ])
        const { contents } = yield* client.result("resources/read", { uri: "pixel://one" })
        expect(contents).toEqual([{ uri: "pixel://one", mimeType: "image/png", blob: "AQID" }])
        expect(yield* client.result("resources/read", { uri: "user://ada/a/b.txt" })).toMatchObject({
          contents: [{ uri: "user://ada/a/b.txt", text: "ada a/b.txt" }]
        })
      })
    )

    it.effect("[RES-08][RES-17] what is not there is an error that names it, never an empty list", () =>
      Effect.gen(function* () {
        const client = yield* open(demo, { era })
        for (const uri of ["config://other", "user://nobody/x", "no uri at all", "", "config://app/", "CONFIG://app"]) {
          const error = yield* client.error("resources/read", { uri })
          expect(error).toMatchObject({ code: notFound, data: { uri } })
        }
        for (const uri of [7, null, {}]) {
          expect((yield* client.error("resources/read", { uri })).code).toBe(-32602)
        }
      })
    )

    it.effect("[RES-08] a read that breaks is an internal error without internals", () =>
      Effect.gen(function* () {
        const broken = Resource.make("a:b", { name: "b" }, Effect.die(new Error("pw=hunter2")))
        const client = yield* open(serverOf(broken), { era })
        const error = yield* client.error("resources/read", { uri: "a:b" })
        expect(error).toEqual({ code: -32603, message: "Internal error" })
      })
    )

    it.effect("[BUG-104] a URI made to be slow to match is answered at once", () =>
      Effect.gen(function* () {
        const client = yield* open(
          serverOf(
            Resource.template("u://x{/id*}", { name: "path" }, echo),
            Resource.template("u://x{?t*}", { name: "query" }, echo)
          ),
          { era, judged: false }
        )
        for (const uri of [`u://x/${"a,".repeat(50_000)}/!`, `u://x?t=${"a,".repeat(50_000)}#!`]) {
          const started = performance.now()
          yield* client.request("resources/read", { uri })
          expect(performance.now() - started).toBeLessThan(100)
        }
      })
    )

    it.effect("[BUG-106] values arrive decoded; a malformed escape is an error of the caller", () =>
      Effect.gen(function* () {
        const client = yield* open(serverOf(Resource.template("s://{q}", { name: "q" }, echo)), { era })
        expect(text(yield* client.result("resources/read", { uri: "s://%C3%BCber%20x+y" }))).toBe('{"q":"über x+y"}')
        expect((yield* client.error("resources/read", { uri: "s://%E0%A4" })).code).toBe(-32602)
      })
    )

    it.effect("[BUG-107][BUG-108] slashes only where the template says so, dots and hosts as they are", () =>
      Effect.gen(function* () {
        const client = yield* open(
          serverOf(
            Resource.template("fs://{+path}", { name: "deep" }, echo),
            Resource.template("flat://{path}", { name: "flat" }, echo),
            Resource.template("https://{t}.ex.com/{r}", { name: "host" }, echo)
          ),
          { era }
        )
        expect(text(yield* client.result("resources/read", { uri: "fs://a/b/c.txt" }))).toBe('{"path":"a/b/c.txt"}')
        expect((yield* client.error("resources/read", { uri: "flat://a/b/c.txt" })).code).toBe(notFound)
        expect(text(yield* client.result("resources/read", { uri: "https://acme.ex.com/lib" }))).toBe(
          '{"t":"acme","r":"lib"}'
        )
        expect((yield* client.error("resources/read", { uri: "https://acmeXexYcom/lib" })).code).toBe(notFound)
      })
    )

    it.effect("the first match wins, a fixed resource before any template", () =>
      Effect.gen(function* () {
        const client = yield* open(
          serverOf(
            Resource.template("a://{x}", { name: "any" }, () => Effect.succeed("template")),
            Resource.make("a://b", { name: "b" }, Effect.succeed("fixed"))
          ),
          { era }
        )
        expect(text(yield* client.result("resources/read", { uri: "a://b" }))).toBe("fixed")
        expect(text(yield* client.result("resources/read", { uri: "a://c" }))).toBe("template")
        expect(text(yield* client.result("resources/read", { uri: "a://{x}" }))).toBe("template")
      })
    )

    it.effect("bytes survive every value", () =>
      Effect.gen(function* () {
        const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
        const client = yield* open(serverOf(Resource.make("b:b", { name: "b" }, Effect.succeed(bytes))), { era })
        const { contents } = yield* client.result("resources/read", { uri: "b:b" })
        const decoded = Buffer.from(at(contents, 0, "blob") as string, "base64")
        expect([...decoded]).toEqual([...bytes])
      })
    )
  })
}

describe("URIs of a server's own", () => {
  it("[RES-16] what is no URI by RFC 3986 is refused when the server is made", () => {
    for (const uri of ["no-scheme", "1a:b", "a b:c", "", "a:b c", "a:<b>", "a:%zz", "é:a"])
      expect(make(uri)).toThrow(/URI/)
    for (const uri of ["a:b", "git+ssh://x/y", "x-1.a:", "file:///a%20b", "urn:isbn:0", "a:b#c"])
      expect(make(uri)).not.toThrow()
  })
})

describe("resources in 2026-07-28", () => {
  it.effect("[RES-10] nothing is said of a resource that nobody listens to", () =>
    Effect.gen(function* () {
      const client = yield* open(demo, { era: modern })
      expect((yield* client.error("resources/subscribe", { uri: "config://app" })).code).toBe(-32601)
      yield* client.result("resources/read", { uri: "config://app" })
      expect(client.called("notifications/resources/updated")).toEqual([])
    })
  )
})
