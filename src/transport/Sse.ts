/**
 * Server-Sent Events framing: text in, events out, and the reverse. Nothing here knows HTTP or JSON-RPC.
 *
 * Effect's own parser does not tell the id of an event that has no data, and applies the id of an event that was cut
 * off. Resumption depends on both, so the framing is written out here.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */

/** An event as it was received. */
export interface Event {
  /** The id of the last event that had one, this one included: what `Last-Event-ID` would say now. */
  readonly id: string | undefined
  /** The type of the event; `"message"` when the sender gave none. */
  readonly event: string
  /** The data, its lines joined by a line feed. Empty when the event is there only for its id. */
  readonly data: string
}

/** An event to send. */
export interface Output {
  readonly id?: string | undefined
  /** Left out of the text when it is `"message"`, which is what a receiver assumes. */
  readonly event?: string | undefined
  readonly data: string
  /** What the receiver waits before it reconnects, in whole milliseconds. */
  readonly retry?: number | undefined
}

/** Options of a {@link Parser}. */
export interface ParserOptions {
  /** Most characters (UTF-16 units) of one event and of one line. Default 16 Mi. */
  readonly maxEventSize?: number | undefined
  /** The last event id of the stream that this one continues. */
  readonly lastEventId?: string | undefined
}

/** The default of `maxEventSize`. */
export const defaultMaxEventSize = 16 * 1024 * 1024

const lineFeed = 10
const space = 32

/**
 * Turns text that arrives in pieces, cut anywhere, into events. One parser per response.
 *
 * A line ends with LF, CRLF or CR and with nothing else, so U+2028 and its like stay part of the text. An event that
 * has an id and no data is reported with empty data, because a client that resumes needs the id; the standard would
 * drop it. An event that is cut off by the end of the stream is dropped, its id with it.
 */
export class Parser {
  /** What the sender last gave as `retry:`, in milliseconds. It counts as soon as its line was read. */
  retry: number | undefined
  /** Whether an event was longer than allowed. From then on everything is ignored. */
  exceeded = false

  readonly #maxEventSize: number
  #started = false
  #endedWithCarriageReturn = false
  #line = ""
  #data: string | undefined
  #event = ""
  #id: string | undefined
  #idIsNew = false
  #lastEventId: string | undefined

  constructor(options?: ParserOptions) {
    this.#maxEventSize = options?.maxEventSize ?? defaultMaxEventSize
    this.#lastEventId = options?.lastEventId
  }

  /** Takes the next piece of text and returns the events that it completes. */
  push(text: string): ReadonlyArray<Event> {
    const events: Array<Event> = []
    if (this.exceeded || text === "") return events
    let position = this.#skip(text)
    let feed = text.indexOf("\n", position)
    let carriage = text.indexOf("\r", position)
    while (feed !== -1 || carriage !== -1) {
      const atCarriage = feed === -1 || (carriage !== -1 && carriage < feed)
      const end = atCarriage ? carriage : feed
      this.#endLine(this.#line + text.slice(position, end), events)
      if (this.exceeded) return events
      this.#line = ""
      position = end + 1
      if (atCarriage) {
        if (position === text.length) this.#endedWithCarriageReturn = true
        else if (text.charCodeAt(position) === lineFeed) position++
        carriage = text.indexOf("\r", position)
      }
      if (feed !== -1 && feed < position) feed = text.indexOf("\n", position)
    }
    this.#line += text.slice(position)
    this.#check(this.#line.length)
    return events
  }

  /** What comes before the first line of a piece: a byte order mark, or the second half of a CRLF. */
  #skip(text: string): number {
    if (!this.#started) {
      this.#started = true
      return text.startsWith("\uFEFF") ? 1 : 0
    }
    const isCut = this.#endedWithCarriageReturn
    this.#endedWithCarriageReturn = false
    return isCut && text.charCodeAt(0) === lineFeed ? 1 : 0
  }

  #endLine(line: string, events: Array<Event>): void {
    if (line === "") return this.#dispatch(events)
    this.#check(line.length)
    const colon = line.indexOf(":")
    if (colon === 0) return
    if (colon === -1) return this.#field(line, "")
    this.#field(line.slice(0, colon), line.slice(line.charCodeAt(colon + 1) === space ? colon + 2 : colon + 1))
  }

  #field(name: string, value: string): void {
    switch (name) {
      case "data":
        this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`
        return
      case "event":
        this.#event = value
        return
      case "id":
        if (value.includes("\0")) return
        this.#id = value === "" ? undefined : value
        this.#idIsNew = true
        return
      case "retry":
        if (/^[0-9]+$/.test(value)) this.retry = Number(value)
    }
  }

  #dispatch(events: Array<Event>): void {
    const data = this.#data
    const isReported = data !== undefined || this.#idIsNew
    if (this.#idIsNew) this.#lastEventId = this.#id
    if (isReported) events.push({ id: this.#lastEventId, event: this.#event || "message", data: data ?? "" })
    this.#data = undefined
    this.#event = ""
    this.#idIsNew = false
  }

  #check(lineLength: number): void {
    if (lineLength + (this.#data?.length ?? 0) <= this.#maxEventSize) return
    this.exceeded = true
    this.#line = ""
    this.#data = undefined
  }
}

const lineBreak = /\r\n|\r|\n/g
const cannotBe = /[\r\n\0]/
const oneLine = (value: string): string => (cannotBe.test(value) ? value.replace(/[\r\n\0]/g, "") : value)

/**
 * Writes an event. Line breaks in `data` become further `data:` lines; in `id` and `event`, which are one line by
 * nature, they are left out.
 */
export const encode = (output: Output): string => {
  let text = ""
  if (output.id !== undefined) text += `id: ${oneLine(output.id)}\n`
  if (output.event !== undefined && output.event !== "message") text += `event: ${oneLine(output.event)}\n`
  if (output.retry !== undefined) text += `retry: ${Math.max(0, Math.trunc(output.retry))}\n`
  const data = output.data
  const isOneLine = !data.includes("\n") && !data.includes("\r")
  return `${text}data: ${isOneLine ? data : data.replace(lineBreak, "\ndata: ")}\n\n`
}

/** Writes a comment, which receivers ignore: a sign of life on a quiet stream. */
export const comment = (text: string): string => `: ${text.replace(lineBreak, "\n: ")}\n\n`
