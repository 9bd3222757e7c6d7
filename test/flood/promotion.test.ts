/**
 * What a request leaves behind for the garbage collector. What is dead by the time of the next minor collection costs
 * nothing; what is not is copied, twice, and fills the old generation. Objects of a hidden class of their own, or that V8
 * allocates among the old ones at once because the first of them were long-lived, keep all that they refer to alive.
 */
import { afterAll, describe, expect, it, onTestFinished } from "vitest"
import { once } from "node:events"
import { connect } from "node:net"
import type { Readable } from "node:stream"
import { post, Program } from "./Flooded.ts"

const program = new Program()
afterAll(() => program.remove())

/** Requests that are answered before anything is measured, and those after it. */
const first = 30_000
const measured = 30_000

/** Requests on their way at a time, on one connection. */
const inFlight = 64

/** Bytes on the heap after each minor collection, as they are reported, with the time. */
const survivors = (output: Readable) => {
  const after: Array<number> = []
  output.on("data", (chunk: Buffer) => {
    for (const [, bytes] of String(chunk).matchAll(/Scavenge [\d.]+ \([\d.]+\) -> ([\d.]+)/g)) {
      after.push(Number(bytes) * 1024 * 1024)
    }
  })
  return after
}

describe("a call over HTTP", { timeout: 60_000 }, () => {
  for (const host of ["http", "route"]) {
    it(`of ${host} leaves nothing behind that a minor collection does not take`, async () => {
      const { port, server } = await program.start(host, "--trace-gc")
      onTestFinished(() => server.end())
      const after = survivors(server.child.stdout as Readable)
      const socket = connect({ port, host: "127.0.0.1", noDelay: true })
      onTestFinished(() => void socket.destroy())
      await once(socket, "connect")
      let sent = 0
      let answered = 0
      let answersTo = 0
      let resume = () => {}
      const send = (count: number) => {
        let text = ""
        for (let n = 0; n < count && sent < answersTo; n++) text += post(sent++)
        if (text !== "") socket.write(text)
      }
      socket.on("data", (chunk: Buffer) => {
        const answers = String(chunk).split("HTTP/1.1 200").length - 1
        answered += answers
        if (answered >= answersTo) resume()
        else send(answers)
      })
      const exchange = (count: number) =>
        new Promise<void>((resolve) => {
          resume = resolve
          answersTo += count
          send(inFlight)
        })
      await exchange(first)
      const before = after.length
      await exchange(measured)
      const collected = after.slice(before)
      expect(collected.length).toBeGreaterThan(3)
      const growth = Math.max(...collected) - Math.min(...collected)
      expect(growth / measured).toBeLessThan(200)
    })
  }
})
