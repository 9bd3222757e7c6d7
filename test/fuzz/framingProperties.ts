/**
 * What holds for everything that turns text or bytes into something else.
 */
import { Effect, Result } from "effect"
import * as fc from "fast-check"
import { isDeepStrictEqual } from "node:util"
import * as HeaderValue from "../../src/protocol/HeaderValue.ts"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import * as UriTemplate from "../../src/protocol/UriTemplate.ts"
import { page } from "../../src/server/Pagination.ts"
import * as RequestState from "../../src/session/RequestState.ts"
import { parseEventId } from "../../src/transport/httpServer/SessionStream.ts"
import * as NewlineFraming from "../../src/transport/NewlineFraming.ts"
import * as Sse from "../../src/transport/Sse.ts"
import { effectful, fail, plain, type Property } from "./Property.ts"
import { fuzz } from "./subject.ts"

const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text))

const messageText = fuzz.clientMessage("2025-11-25").map((message) => JSON.stringify(message))

const lines: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc
    .array(fc.oneof(fuzz.text, messageText, fuzz.damaged(messageText)), { maxLength: 6 })
    .map((texts) => bytesOf(texts.join("\n")))
)

const decoded = (chunks: ReadonlyArray<Uint8Array>, maxMessageBytes: number): ReadonlyArray<unknown> => {
  const decoder = NewlineFraming.makeDecoder({ maxMessageBytes })
  const messages = [...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()]
  return messages.map((message) => (message instanceof JsonRpc.Batch ? message.messages : message))
}

const newlines = plain(
  "lines are the same wherever their bytes are cut",
  fc.tuple(fuzz.chunks(lines), fc.constantFrom(20, 100, 100_000)),
  ([chunks, most]) => {
    const whole = decoded([Buffer.concat(chunks)], most)
    if (!isDeepStrictEqual(decoded(chunks, most), whole)) fail("Cut differently, read differently", whole)
  }
)

const messages = plain(
  "any text is a message or malformed",
  fc.oneof(fuzz.text, fuzz.mutated(fuzz.clientMessage("2025-03-26"))),
  (text) => {
    const message = JsonRpc.parse(text)
    if (message instanceof JsonRpc.Malformed) JsonRpc.stringify(JsonRpc.error(message.id, message.error))
    else JSON.stringify(message instanceof JsonRpc.Batch ? message.messages : message)
  }
)

const eventText: fc.Arbitrary<string> = fc.oneof(
  fuzz.text,
  fc
    .array(
      fc.record({
        id: fc.string({ maxLength: 5 }),
        event: fc.constantFrom("message", "endpoint", "x"),
        data: fuzz.text
      }),
      {
        maxLength: 4
      }
    )
    .map((events) => events.map(Sse.encode).join("")),
  fuzz.damaged(
    fc.array(messageText, { maxLength: 3 }).map((texts) => texts.map((data) => Sse.encode({ data })).join(""))
  )
)

const parsed = (pieces: ReadonlyArray<string>, maxEventSize: number) => {
  const parser = new Sse.Parser({ maxEventSize })
  return { events: pieces.flatMap((piece) => parser.push(piece)), retry: parser.retry, exceeded: parser.exceeded }
}

const pieces = fc
  .tuple(eventText, fc.array(fc.nat({ max: 1000 }), { maxLength: 6 }))
  .map(([text, cuts]): ReadonlyArray<string> => {
    const edges = [0, ...cuts.map((cut) => cut % (text.length + 1)).toSorted((a, b) => a - b), text.length]
    return edges.slice(1).map((end, index) => text.slice(edges[index], end))
  })

const events = plain(
  "events are the same wherever their text is cut",
  fc.tuple(pieces, fc.constantFrom(10, 60, 1_000_000)),
  ([cut, most]) => {
    const whole = parsed([cut.join("")], most)
    if (!isDeepStrictEqual(parsed(cut, most), whole))
      fail("Cut differently, read differently", { cut: parsed(cut, most), whole })
  }
)

const eventData = plain(
  "an event arrives as it was sent",
  fc.tuple(fuzz.text, fc.string({ minLength: 1 })),
  ([data, id]) => {
    const oneLine = id.replace(/[\r\n\0]/g, "")
    const { events } = parsed([Sse.encode({ id, data })], 1_000_000)
    const expected = [
      { id: oneLine === "" ? undefined : oneLine, event: "message", data: data.replace(/\r\n|\r/g, "\n") }
    ]
    if (!isDeepStrictEqual(events, expected)) fail("Not the event that was sent", { events, expected })
  }
)

const headerText = fc.oneof(
  fuzz.text,
  fc.string({ unit: "binary" }),
  fuzz.text.map((text) => `=?base64?${text}?=`)
)

const headers = plain("any text travels in a header", headerText, (text) => {
  const read = HeaderValue.decode(HeaderValue.encode(text))
  if (!Result.isSuccess(read) || read.success !== text.toWellFormed()) fail("Not the text that was sent", read)
  HeaderValue.decode(text)
})

const templatePiece = fc.oneof(
  fc.constantFrom(
    "{a}",
    "{b}",
    "{+c}",
    "{#d}",
    "{.e}",
    "{/f*}",
    "{;g}",
    "{?h,i}",
    "{&j*}",
    "{a:3}",
    "/",
    "a",
    "x-",
    "%41"
  ),
  fuzz.text
)
const template = fc.array(templatePiece, { maxLength: 12 }).map((parts) => parts.join(""))
const uri = fc.oneof(
  fuzz.text,
  fc
    .tuple(fc.constantFrom("a", "/", "%41", "a/", "?h=1&", ",", ";g=", "%"), fc.nat({ max: 20_000 }))
    .map(([piece, times]) => piece.repeat(times)),
  fc.webUrl()
)

const templates = plain("any URI is read by any template in no time", fc.tuple(template, uri), ([text, target]) => {
  const made = UriTemplate.parse(text)
  if (Result.isFailure(made)) return
  const started = performance.now()
  UriTemplate.match(made.success, target)
  const expanded = UriTemplate.expand(made.success, { a: target, b: "", c: target, f: [target], h: 1 })
  UriTemplate.match(made.success, expanded)
  const took = performance.now() - started
  if (took > 3000) fail(`Took ${took} ms`)
})

const simpleTemplates = plain(
  "a variable is read back as it was put in",
  fc.tuple(fc.constantFrom("x://{v}", "x://h/{v}/end", "x:{+v}", "x:{/v}", "x:{?v}", "x:{;v}", "x:{#v}"), fuzz.text),
  ([text, value]) => {
    if (value === "" || /[?#%]/.test(value)) return
    const made = Result.getOrThrow(UriTemplate.parse(text))
    const read = UriTemplate.match(made, UriTemplate.expand(made, { v: value }))
    if (!Result.isSuccess(read) || read.success?.v !== value.toWellFormed()) fail("Not the value that was put in", read)
  }
)

const entries = Array.from({ length: 5 }, (_, index) => ({ key: `entry ${index} \u{1f600}` }))
const goodCursor = Result.getOrThrow(page(entries, undefined, 2)).nextCursor ?? ""

const cursors = plain(
  "a cursor is good or refused",
  fc.oneof(fuzz.damaged(fc.constant(goodCursor)), fuzz.text),
  (cursor) => {
    const found = page(entries, cursor, 2)
    if (Result.isSuccess(found) && found.success.entries.length > 2) fail("More than a page", found.success)
  }
)

const eventIds = plain(
  "an event id is good or refused",
  fc.oneof(fuzz.damaged(fc.constant("abc-12")), fuzz.text),
  (id) => {
    const found = parseEventId(id)
    if (found !== undefined && !Number.isSafeInteger(found.sequence)) fail("Not a place in a stream", found)
  }
)

const memory = { answers: { who: { action: "accept" } }, steps: { plan: [1] } }

const requestState = effectful(
  "request state is as it was sealed, or refused",
  fc.tuple(
    fuzz.damaged(fc.constant("@")),
    fc.array(fc.tuple(fc.nat({ max: 500 }), fc.base64String({ maxLength: 4 })), { maxLength: 3 }),
    fc.boolean()
  ),
  Effect.gen(function* () {
    const sealing = yield* RequestState.make()
    return { sealing, sealed: yield* sealing.seal(memory, "request") }
  }),
  ({ sealed, sealing }, [text, changes, elsewhere]) =>
    Effect.gen(function* () {
      const changed = changes.reduce((state, [at, put]) => {
        const start = at % state.length
        return state.slice(0, start) + put + state.slice(start + put.length)
      }, sealed)
      const opened = yield* Effect.result(sealing.open(text.replace("@", changed), elsewhere ? "another" : "request"))
      if (Result.isFailure(opened)) return
      if (elsewhere) fail("State of another request was taken")
      if (!isDeepStrictEqual(opened.success, memory)) fail("Not what was sealed", opened.success)
    })
)

/** All of them. */
export const framingProperties: ReadonlyArray<Property> = [
  messages,
  newlines,
  events,
  eventData,
  headers,
  templates,
  simpleTemplates,
  cursors,
  eventIds,
  requestState
]
