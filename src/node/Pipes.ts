/**
 * Node's streams as pipes of bytes. A chunk is handled in the event that brings it, and a text is written in the moment
 * that it is queued: no fiber waits in between.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type { Readable, Writable } from "node:stream"
import type { Read } from "../transport/ByteStream.ts"
import type { OutputQueue } from "../transport/OutputQueue.ts"
import { encodingOf } from "./TextEncoding.ts"

/** Bytes that may wait to be read before nothing more is taken from the stream. */
const highWaterMark = 64 * 1024

/** Whoever reads at the moment. */
interface Reader {
  readonly onChunk: (chunk: Uint8Array) => Effect.Effect<void>
  readonly context: Context.Context<never>
  readonly done: (exit: Exit.Exit<void, Error>) => void
  /** Runs while a chunk is being handled that takes time. */
  handling: Fiber.Fiber<void> | undefined
}

/** A stream that is being read. */
class Reading {
  readonly #readable: Readable
  #waiting: Array<Uint8Array> = []
  #waitingLength = 0
  #end: Exit.Exit<void, Error> | undefined
  #reader: Reader | undefined

  constructor(readable: Readable) {
    this.#readable = readable
    if (readable.destroyed) this.#ended(Exit.void)
    readable.on("data", this.#onData)
    readable.on("end", this.#onClose)
    readable.on("error", this.#onError)
    readable.on("close", this.#onClose)
  }

  readonly read: Read<Error> = (onChunk) =>
    Effect.contextWith((context: Context.Context<never>) =>
      Effect.callback((resume) => {
        const reader: Reader = { onChunk, context, done: resume, handling: undefined }
        this.#reader = reader
        this.#goOn(reader)
        return Effect.suspend(() => {
          if (this.#reader === reader) this.#reader = undefined
          return reader.handling === undefined ? Effect.void : Fiber.interrupt(reader.handling)
        })
      })
    )

  /** Leaves the rest unread. */
  close(): void {
    this.#ended(Exit.void)
    this.#readable.off("data", this.#onData)
    this.#readable.pause()
  }

  readonly #onData = (chunk: Uint8Array): void => {
    const reader = this.#reader
    if (reader !== undefined && reader.handling === undefined) return this.#handle(reader, chunk)
    this.#waiting.push(chunk)
    this.#waitingLength += chunk.length
    if (this.#waitingLength >= highWaterMark) this.#readable.pause()
  }

  readonly #onError = (error: Error): void => this.#ended(Exit.fail(error))

  readonly #onClose = (): void => this.#ended(Exit.void)

  #ended(end: Exit.Exit<void, Error>): void {
    this.#end ??= end
    if (this.#reader !== undefined) this.#goOn(this.#reader)
  }

  #handle(reader: Reader, chunk: Uint8Array): void {
    let handling: Effect.Effect<void>
    try {
      handling = reader.onChunk(chunk)
    } catch (defect) {
      handling = Exit.die(defect)
    }
    if (handling === Effect.void) return
    const fiber = Effect.runForkWith(reader.context)(handling)
    const handled = (exit: Exit.Exit<void>) => {
      reader.handling = undefined
      if (Exit.isFailure(exit)) this.#finish(reader, exit)
    }
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) return handled(exit)
    reader.handling = fiber
    fiber.addObserver((exit) => {
      handled(exit)
      this.#goOn(reader)
    })
  }

  /** Hands over what waits, and lets more come, as far as the reader goes along. */
  #goOn(reader: Reader): void {
    while (this.#reader === reader && reader.handling === undefined) {
      const chunk = this.#waiting.shift()
      if (chunk === undefined) {
        if (this.#end !== undefined) this.#finish(reader, this.#end)
        else this.#readable.resume()
        return
      }
      this.#waitingLength -= chunk.length
      this.#handle(reader, chunk)
    }
  }

  #finish(reader: Reader, exit: Exit.Exit<void, Error>): void {
    if (this.#reader !== reader) return
    this.#reader = undefined
    reader.done(exit)
  }
}

/** Opens a stream for reading, until the scope closes. */
export const open = (readable: Readable): Effect.Effect<Read<Error>, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => new Reading(readable)),
      (reading) => Effect.sync(() => reading.close())
    ),
    (reading) => reading.read
  )

/** Where texts are written. */
export interface Destination {
  readonly writable: Writable
  /** `false` when it is better to wait for "drain". `written` is told when it has failed. */
  readonly write: (text: string, encoding: BufferEncoding, written: (error?: Error | null) => void) => boolean
}

/** What is queued on its way into a stream. */
class Writing {
  readonly #destination: Destination
  readonly #output: OutputQueue
  readonly #done: (exit: Exit.Exit<void, Error>) => void
  #stopped = false

  constructor(destination: Destination, output: OutputQueue, done: (exit: Exit.Exit<void, Error>) => void) {
    this.#destination = destination
    this.#output = output
    this.#done = done
    // This one stays: what was written may fail when all of it is handed over.
    destination.writable.on("error", this.#fail)
    destination.writable.on("close", this.#onClose)
    this.#flush()
  }

  stop(): void {
    this.#stopped = true
    this.#destination.writable.off("close", this.#onClose)
    this.#destination.writable.off("drain", this.#flush)
  }

  readonly #flush = (): void => {
    const { writable, write } = this.#destination
    while (!this.#stopped) {
      const texts = this.#output.takeTexts()
      if (texts === undefined) {
        if (!this.#output.isDone) return this.#output.whenReady(this.#flush)
        this.stop()
        writable.end(() => this.#done(Exit.void))
        return
      }
      const text = texts.length === 1 ? texts[0] : texts.join("")
      if (!write(text, encodingOf(text), this.#fail)) return void writable.once("drain", this.#flush)
    }
  }

  readonly #fail = (error?: Error | null): void => {
    if (!error || this.#stopped) return
    this.stop()
    this.#done(Exit.fail(error))
  }

  readonly #onClose = (): void => this.#fail(new Error("The stream was closed"))
}

/** Writes what is queued until the queue ends, and then ends the stream. Fails when nobody reads any more. */
export const write = (destination: Destination, output: OutputQueue): Effect.Effect<void, Error> =>
  Effect.callback((resume) => {
    const writing = new Writing(destination, output, resume)
    return Effect.sync(() => writing.stop())
  })
