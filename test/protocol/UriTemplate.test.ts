/** URI templates: the examples of RFC 6570, matching, and the bugs other runtimes had. */
import { describe, expect, expectTypeOf, it } from "vitest"
import { Result } from "effect"
import * as fc from "fast-check"
import * as UriTemplate from "../../src/protocol/UriTemplate.ts"

const parse = (template: string) => Result.getOrThrowWith(UriTemplate.parse(template), (reason) => new Error(reason))
const expand = (template: string, values: UriTemplate.Values) => UriTemplate.expand(parse(template), values)
const match = (template: string, uri: string, maxLength?: number) =>
  UriTemplate.match(parse(template), uri, { maxLength })
const matched = (template: string, uri: string) => Result.getOrThrow(match(template, uri))

/** The values that section 3.2 of RFC 6570 expands, and those of section 1.2 that differ not. */
const values: UriTemplate.Values = {
  count: ["one", "two", "three"],
  dom: ["example", "com"],
  dub: "me/too",
  hello: "Hello World!",
  half: "50%",
  var: "value",
  who: "fred",
  base: "http://example.com/home/",
  path: "/foo/bar",
  list: ["red", "green", "blue"],
  keys: { semi: ";", dot: ".", comma: "," },
  v: "6",
  x: "1024",
  y: "768",
  empty: "",
  empty_keys: {},
  undef: null
}

const examples: ReadonlyArray<readonly [section: string, ReadonlyArray<readonly [template: string, uri: string]>]> = [
  [
    "1.2 levels 1 to 3",
    [
      ["{var}", "value"],
      ["{hello}", "Hello%20World%21"],
      ["{+var}", "value"],
      ["{+hello}", "Hello%20World!"],
      ["{+path}/here", "/foo/bar/here"],
      ["here?ref={+path}", "here?ref=/foo/bar"],
      ["X{#var}", "X#value"],
      ["X{#hello}", "X#Hello%20World!"],
      ["map?{x,y}", "map?1024,768"],
      ["{x,hello,y}", "1024,Hello%20World%21,768"],
      ["{+x,hello,y}", "1024,Hello%20World!,768"],
      ["{+path,x}/here", "/foo/bar,1024/here"],
      ["{#x,hello,y}", "#1024,Hello%20World!,768"],
      ["{#path,x}/here", "#/foo/bar,1024/here"],
      ["X{.var}", "X.value"],
      ["X{.x,y}", "X.1024.768"],
      ["{/var}", "/value"],
      ["{/var,x}/here", "/value/1024/here"],
      ["{;x,y}", ";x=1024;y=768"],
      ["{;x,y,empty}", ";x=1024;y=768;empty"],
      ["{?x,y}", "?x=1024&y=768"],
      ["{?x,y,empty}", "?x=1024&y=768&empty="],
      ["?fixed=yes{&x}", "?fixed=yes&x=1024"],
      ["{&x,y,empty}", "&x=1024&y=768&empty="]
    ]
  ],
  [
    "2.4 modifiers",
    [
      ["{var:3}", "val"],
      ["{var:30}", "value"],
      ["{list}", "red,green,blue"],
      ["{list*}", "red,green,blue"],
      ["{keys}", "semi,%3B,dot,.,comma,%2C"],
      ["{keys*}", "semi=%3B,dot=.,comma=%2C"]
    ]
  ],
  [
    "3.2.1 variable expansion",
    [
      ["{count}", "one,two,three"],
      ["{count*}", "one,two,three"],
      ["{/count}", "/one,two,three"],
      ["{/count*}", "/one/two/three"],
      ["{;count}", ";count=one,two,three"],
      ["{;count*}", ";count=one;count=two;count=three"],
      ["{?count}", "?count=one,two,three"],
      ["{?count*}", "?count=one&count=two&count=three"],
      ["{&count*}", "&count=one&count=two&count=three"]
    ]
  ],
  [
    "3.2.2 simple",
    [
      ["{half}", "50%25"],
      ["O{empty}X", "OX"],
      ["O{undef}X", "OX"],
      ["{x,y}", "1024,768"],
      ["?{x,empty}", "?1024,"],
      ["?{x,undef}", "?1024"],
      ["?{undef,y}", "?768"]
    ]
  ],
  [
    "3.2.3 reserved",
    [
      ["{+half}", "50%25"],
      ["{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"],
      ["{+base}index", "http://example.com/home/index"],
      ["O{+empty}X", "OX"],
      ["O{+undef}X", "OX"],
      ["up{+path}{var}/here", "up/foo/barvalue/here"],
      ["{+path:6}/here", "/foo/b/here"],
      ["{+list}", "red,green,blue"],
      ["{+list*}", "red,green,blue"],
      ["{+keys}", "semi,;,dot,.,comma,,"],
      ["{+keys*}", "semi=;,dot=.,comma=,"]
    ]
  ],
  [
    "3.2.4 fragment",
    [
      ["{#var}", "#value"],
      ["{#half}", "#50%25"],
      ["foo{#empty}", "foo#"],
      ["foo{#undef}", "foo"],
      ["{#path:6}/here", "#/foo/b/here"],
      ["{#list*}", "#red,green,blue"],
      ["{#keys}", "#semi,;,dot,.,comma,,"],
      ["{#keys*}", "#semi=;,dot=.,comma=,"]
    ]
  ],
  [
    "3.2.5 label",
    [
      ["{.who}", ".fred"],
      ["{.who,who}", ".fred.fred"],
      ["{.half,who}", ".50%25.fred"],
      ["www{.dom*}", "www.example.com"],
      ["X{.empty}", "X."],
      ["X{.undef}", "X"],
      ["X{.var:3}", "X.val"],
      ["X{.list}", "X.red,green,blue"],
      ["X{.list*}", "X.red.green.blue"],
      ["X{.keys}", "X.semi,%3B,dot,.,comma,%2C"],
      ["X{.keys*}", "X.semi=%3B.dot=..comma=%2C"],
      ["X{.empty_keys}", "X"],
      ["X{.empty_keys*}", "X"]
    ]
  ],
  [
    "3.2.6 path",
    [
      ["{/who}", "/fred"],
      ["{/who,who}", "/fred/fred"],
      ["{/half,who}", "/50%25/fred"],
      ["{/who,dub}", "/fred/me%2Ftoo"],
      ["{/var,empty}", "/value/"],
      ["{/var,undef}", "/value"],
      ["{/var:1,var}", "/v/value"],
      ["{/list}", "/red,green,blue"],
      ["{/list*}", "/red/green/blue"],
      ["{/list*,path:4}", "/red/green/blue/%2Ffoo"],
      ["{/keys}", "/semi,%3B,dot,.,comma,%2C"],
      ["{/keys*}", "/semi=%3B/dot=./comma=%2C"]
    ]
  ],
  [
    "3.2.7 parameters",
    [
      ["{;who}", ";who=fred"],
      ["{;half}", ";half=50%25"],
      ["{;empty}", ";empty"],
      ["{;v,empty,who}", ";v=6;empty;who=fred"],
      ["{;v,bar,who}", ";v=6;who=fred"],
      ["{;x,y,undef}", ";x=1024;y=768"],
      ["{;hello:5}", ";hello=Hello"],
      ["{;list}", ";list=red,green,blue"],
      ["{;list*}", ";list=red;list=green;list=blue"],
      ["{;keys}", ";keys=semi,%3B,dot,.,comma,%2C"],
      ["{;keys*}", ";semi=%3B;dot=.;comma=%2C"]
    ]
  ],
  [
    "3.2.8 and 3.2.9 query",
    [
      ["{?who}", "?who=fred"],
      ["{?half}", "?half=50%25"],
      ["{?x,y,undef}", "?x=1024&y=768"],
      ["{?var:3}", "?var=val"],
      ["{?list}", "?list=red,green,blue"],
      ["{?list*}", "?list=red&list=green&list=blue"],
      ["{?keys}", "?keys=semi,%3B,dot,.,comma,%2C"],
      ["{?keys*}", "?semi=%3B&dot=.&comma=%2C"],
      ["{&who}", "&who=fred"],
      ["{&half}", "&half=50%25"],
      ["{&var:3}", "&var=val"],
      ["{&keys*}", "&semi=%3B&dot=.&comma=%2C"]
    ]
  ]
]

describe("RFC 6570 expansion", () => {
  for (const [section, rows] of examples) {
    it.each(rows)(`${section}: %s`, (template, uri) => {
      expect(expand(template, values)).toBe(uri)
    })
  }

  it("counts a prefix in characters, not in UTF-16 units or bytes", () => {
    expect(expand("{v:2}", { v: "😀ü!" })).toBe("%F0%9F%98%80%C3%BC")
  })

  it("expands numbers, booleans, literals outside ASCII and existing triplets", () => {
    expect(expand("ü/{n}/{b}", { n: 7, b: false })).toBe("%C3%BC/7/false")
    expect(expand("{+u}|".slice(0, -1), { u: "a%2Fb[c]" })).toBe("a%2Fb[c]")
    expect(expand("{x}", { x: "\ud800" })).toBe("%EF%BF%BD")
  })

  it("does not read values from the prototype", () => {
    expect(expand("{toString}", {})).toBe("")
  })
})

describe("parse", () => {
  it.each([
    ["u://{a", /at 4 .* never closed/],
    ["u://a}", /"}" is not allowed at 5/],
    ["u://{}", /does not name a variable in the expression at 4/],
    ["u://{=a}", /Operator "=" is reserved in the expression at 4/],
    ["u://{a:0}", /length from 1 to 9999/],
    ["u://{a:10000}", /length from 1 to 9999/],
    ["u://{a:3*}", /both a length and "\*"/],
    ["u://{a b}", /does not name a variable/],
    ["u://{a{b}}", /does not name a variable/],
    ["u://{a,}", /does not name a variable/],
    ["u://a b", /" " is not allowed at 5/],
    ["u://%zz", /"%" is not allowed at 4/],
    ["{a}".repeat(257), /at most 256 expressions/]
  ])("refuses %s and says where", (template, reason) => {
    expect(Result.merge(UriTemplate.parse(template))).toMatch(reason)
  })

  it("lists every variable once, in order", () => {
    expect(UriTemplate.variables(parse("{b}{+a:3}/{b}{?c*,d.e,%41}"))).toEqual(["b", "a", "c", "d.e", "%41"])
  })
})

describe("match", () => {
  it("[BUG-106] decodes percent-encoding and leaves plus alone", () => {
    expect(matched("s://{q}", "s://%C3%BCber%20x+y")).toEqual({ q: "über x+y" })
  })

  it.each(["s://%E0%A4", "s://%", "s://%zz", "s://%C3%28", "s://\ud800"])(
    "[BUG-106] says that %j is malformed",
    (uri) => {
      expect(match("s://{q}", uri)).toMatchObject(Result.fail({ reason: "malformed" }))
    }
  )

  it("does not call a malformed URI of another template malformed", () => {
    expect(matched("other://{q}", "s://%E0%A4")).toBeUndefined()
  })

  it("[BUG-107] gives slashes to {+path} and never to {path}", () => {
    expect(matched("fs://{+path}", "fs://a/b/c.txt")).toEqual({ path: "a/b/c.txt" })
    expect(matched("fs://{path}", "fs://a/b/c.txt")).toBeUndefined()
    expect(matched("fs://{path*}", "fs://a/b/c.txt")).toBeUndefined()
    expect(matched("fs://{path}", "fs://a%2Fb")).toEqual({ path: "a/b" })
    expect(matched("file:///{+path}/{name}", "file:///a/b/c")).toEqual({ path: "a/b", name: "c" })
  })

  it("[BUG-108] reads variables of the authority and takes literals literally", () => {
    expect(matched("https://{t}.ex.com/{r}", "https://acme.ex.com/lib")).toEqual({ t: "acme", r: "lib" })
    expect(matched("https://{t}.ex.com/{r}", "https://acmeXexYcom/lib")).toBeUndefined()
    expect(matched("a+(b)$/{r}", "aa(b)$/x")).toBeUndefined()
    expect(matched("a+(b)$/{r}", "a+(b)$/x")).toEqual({ r: "x" })
  })

  it("compares literals after normalising percent-encoding", () => {
    expect(matched("u://%7ebob/%2f/ü/{id}", "u://~bob/%2F/%c3%bc/1")).toEqual({ id: "1" })
    expect(matched("u://a%2Fb", "u://a/b")).toBeUndefined()
    expect(matched("u://A", "u://a")).toBeUndefined()
  })

  it.each(["a,", "a", "%C3%BC", "/", "=", "&"])("[BUG-104] stays linear for 50,000 repetitions of %j", (piece) => {
    for (const [template, start, end] of [
      ["u://x{/id*}", "u://x/", "/!"],
      ["u://x{?t*}", "u://x?t=", "#!"],
      ["u://x{+a}{+b}{+c}!!", "u://x", "!"],
      ["u://x{a}-{b}-{c}", "u://x", "!"]
    ] as const) {
      const parsed = parse(template)
      const uri = start + piece.repeat(50_000) + end
      const started = performance.now()
      UriTemplate.match(parsed, uri, { maxLength: 1_000_000 })
      // Linear time is well below this; backtracking would not end.
      expect(performance.now() - started).toBeLessThan(500)
    }
  })

  it("[BUG-104] answers at once for a URI above the limit", () => {
    const uri = "u://x/" + "a,".repeat(50_000) + "/!"
    expect(match("u://x{/id*}", uri)).toMatchObject(Result.fail({ reason: "too-long" }))
    expect(Result.isSuccess(match("u://{id}", "u://" + "a".repeat(65_532)))).toBe(true)
    expect(Result.isFailure(match("u://{id}", "u://" + "a".repeat(65_533)))).toBe(true)
    expect(Result.isFailure(match("u://{id}", "u://abc", 6))).toBe(true)
  })

  it("gives lists for exploded variables", () => {
    expect(matched("u://x{/id*}", "u://x/a/b%2Fc")).toEqual({ id: ["a", "b/c"] })
    expect(matched("u://x{?t*}", "u://x?t=a&t=b")).toEqual({ t: ["a", "b"] })
    expect(matched("www{.dom*}", "www.example.com")).toEqual({ dom: ["example", "com"] })
    expect(matched("u://{ids*}", "u://1,2")).toEqual({ ids: ["1", "2"] })
  })

  it("takes query parameters in any order, and only those of the template", () => {
    expect(matched("u://x{?a,b}", "u://x?b=2&a=1")).toEqual({ a: "1", b: "2" })
    expect(matched("u://x{?a}{&b}", "u://x?a=1&b=2")).toEqual({ a: "1", b: "2" })
    expect(matched("u://x?k=v{&b}", "u://x?k=v&b=2")).toEqual({ b: "2" })
    expect(matched("u://x{?a,b}", "u://x?a=1&c=3")).toBeUndefined()
    expect(matched("u://x{?a}", "u://x?a=1&a=2")).toBeUndefined()
    expect(matched("u://x{;a,b}", "u://x;a=1;b")).toEqual({ a: "1", b: "" })
  })

  it("leaves out what is absent, but needs the first simple variable", () => {
    expect(matched("u://x{?a,b}", "u://x")).toEqual({})
    expect(matched("u://x{/a,b}", "u://x/1")).toEqual({ a: "1" })
    expect(matched("u://x{#f}", "u://x#top")).toEqual({ f: "top" })
    expect(matched("u://{x,y}", "u://1")).toEqual({ x: "1" })
    expect(matched("notes://{id}", "notes://")).toBeUndefined()
    expect(matched("fs://{+path}", "fs://")).toBeUndefined()
  })

  it("keeps the query out of {+path} when the template has its own", () => {
    expect(matched("f://{+path}{?v}{#frag}", "f://a/b?v=1#x")).toEqual({ path: "a/b", v: "1", frag: "x" })
    expect(matched("f://{+path}", "f://a?b#c")).toEqual({ path: "a?b#c" })
    expect(matched("f://{id}{?v}", "f://a?v=1")).toEqual({ id: "a", v: "1" })
  })

  it("gives optional neighbours their part", () => {
    expect(matched("f://{name}{.extension}", "f://a.b.txt")).toEqual({ name: "a.b", extension: "txt" })
    expect(matched("f://{name}{.extension}", "f://a")).toEqual({ name: "a" })
    expect(matched("f://{+path}{/name}", "f://a/b/c")).toEqual({ path: "a/b", name: "c" })
    expect(matched("f://{id}{;v}{?q}", "f://a;v=1?q=2")).toEqual({ id: "a", v: "1", q: "2" })
  })

  it("wants the same value for a variable that is there twice, and a short enough one for a prefix", () => {
    expect(matched("u://{a}/{a}", "u://1/1")).toEqual({ a: "1" })
    expect(matched("u://{a}/{a}", "u://1/2")).toBeUndefined()
    expect(matched("u://{a:1}/{a}", "u://v/value")).toEqual({ a: "value" })
    expect(matched("u://{a:2}", "u://abc")).toBeUndefined()
  })

  it("has no trouble with variables named like members of objects", () => {
    expect(matched("u://{__proto__}/{constructor}", "u://a/b")).toEqual(
      Object.fromEntries([
        ["__proto__", "a"],
        ["constructor", "b"]
      ])
    )
  })

  it("is the inverse of expand for simple and reserved expansion", () => {
    const simple = fc.string({ unit: "grapheme", minLength: 1 }).filter((text) => text.isWellFormed())
    fc.assert(
      fc.property(simple, simple, simple, (a, b, c) => {
        const both = { a, b, c }
        expect(matched("u://{a}/x/{b}{?c}", expand("u://{a}/x/{b}{?c}", both))).toEqual(both)
        expect(matched("u://h{/a,b}{;c}", expand("u://h{/a,b}{;c}", both))).toEqual(both)
        expect(matched("u://{a,b,c}", expand("u://{a,b,c}", both))).toEqual(both)
      })
    )
    // RFC 6570 keeps percent-encoded triplets as they are in reserved expansion, so those can't come back.
    const reserved = simple.filter((text) => !/%[0-9A-Fa-f]{2}/.test(text))
    fc.assert(
      fc.property(reserved, (path) => {
        expect(matched("u://{+path}", expand("u://{+path}", { path }))).toEqual({ path })
        expect(matched("u://x{#path}", expand("u://x{#path}", { path }))).toEqual({ path })
      })
    )
  })

  it("never throws", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (template, uri) => {
        const parsed = UriTemplate.parse(template)
        if (Result.isSuccess(parsed)) UriTemplate.match(parsed.success, uri)
        UriTemplate.match(parse("{a}{+b}{/c*}{?d,e*}"), uri)
      })
    )
  })
})

describe("types", () => {
  it("knows the variables of a template from its text", () => {
    expectTypeOf<UriTemplate.Variables<"file:///{+path}/{name}">>().toEqualTypeOf<"path" | "name">()
    expectTypeOf<UriTemplate.Variables<"u://{a:3,b*}{?c,d}{#e}">>().toEqualTypeOf<"a" | "b" | "c" | "d" | "e">()
    expectTypeOf<UriTemplate.Variables<"config://app">>().toEqualTypeOf<never>()
    expectTypeOf<UriTemplate.Variables<string>>().toEqualTypeOf<string>()
  })

  it("knows what a match holds", () => {
    type Found = UriTemplate.MatchOf<"u://{+path}/{id}{/rest*}{?q}">
    const found: Found = { path: "a", id: "b", rest: ["c"] }
    expectTypeOf<Found["path"]>().toEqualTypeOf<string>()
    expectTypeOf<Found["rest"]>().toEqualTypeOf<ReadonlyArray<string> | undefined>()
    expectTypeOf<Found["q"]>().toEqualTypeOf<string | undefined>()
    expect(matched("u://{+path}/{id}{/rest*}{?q}", "u://a/b/c")).toEqual({ path: "a/b", id: "c" })
    expect(found.path).toBe("a")
  })
})
