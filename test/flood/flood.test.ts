/**
 * More than anyone can take: what a server keeps in memory when its peers send without end and do not read.
 */
import { afterAll, describe, expect, it, onTestFinished } from "vitest"
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import type { Readable, Writable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { call, type Flooded, head, post, Program } from "./Flooded.ts"

/** MiB that a server may have resident, whatever happens. */
const limit = 200

const requests = 100_000

const program = new Program()
afterAll(() => program.remove())

const started = async (transport: string) => {
  const running = await program.start(transport)
  onTestFinished(() => running.server.end())
  return running
}

const dial = async (port: number): Promise<Socket> => {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true })
  onTestFinished(() => void socket.destroy())
  socket.on("error", () => {})
  await once(socket, "connect")
  return socket
}

/** Sends all requests at once and reads nothing; then, when the server has stopped reading, all of the answers. */
const flood = async (server: Flooded, write: Writable, read: Readable, message: (id: number) => string) => {
  // The first answer says that the server is up.
  write.write(message(0))
  await once(read, "readable")
  const before = server.bytesRead
  const texts: Array<string> = []
  for (let id = 1; id <= requests; id++) texts.push(message(id))
  const text = texts.join("")
  write.write(text)
  await server.stalled()
  const taken = server.bytesRead - before
  const peak = server.peak
  const ids: Array<number> = []
  let rest = ""
  for await (const chunk of read) {
    rest += String(chunk)
    const found = [...rest.matchAll(/"text":"(\d+) x{100}"/g)]
    for (const [, id] of found) ids.push(Number(id))
    const last = found.at(-1)
    if (last !== undefined) rest = rest.slice(last.index + last[0].length)
    if (ids.length > requests) break
  }
  return { peak, share: taken / text.length, ids }
}

describe("a server whose reader has stopped", { timeout: 60_000 }, () => {
  const everyId = Array.from({ length: requests + 1 }, (_, id) => id)

  it("keeps little of 100,000 requests over stdio, and answers all of them later", async () => {
    const { server } = await started("stdio")
    const { stdin, stdout } = server.child
    const { ids, peak, share } = await flood(server, stdin as Writable, stdout as Readable, (id) => `${call(id)}\n`)
    expect(peak).toBeLessThan(limit)
    expect(share).toBeLessThan(0.1)
    expect(ids).toEqual(everyId)
    expect(server.peak).toBeLessThan(limit)
  })

  it("keeps little of 100,000 requests over TCP, answers all of them later, and serves others meanwhile", async () => {
    const { port, server } = await started("tcp")
    const socket = await dial(port)
    const other = await dial(port)
    const { ids, peak, share } = await flood(server, socket, socket, (id) => {
      if (id === requests) other.write(`${call(7)}\n`)
      return `${call(id)}\n`
    })
    expect(peak).toBeLessThan(limit)
    expect(share).toBeLessThan(0.5)
    expect(ids).toEqual(everyId)
    const [answer] = (await once(other, "data")) as [Buffer]
    expect(String(answer)).toContain('"id":7,"result"')
  })

  for (const host of ["http", "route"]) {
    it(`keeps little of 100,000 requests on one connection to ${host}, and answers all of them later`, async () => {
      const { port, server } = await started(host)
      const socket = await dial(port)
      const { ids, peak, share } = await flood(server, socket, socket, post)
      expect(peak).toBeLessThan(limit)
      expect(share).toBeLessThan(0.5)
      expect(ids).toEqual(everyId)
    })
  }
})

describe("a body of 100 MB", { timeout: 60_000 }, () => {
  const size = 100 * 1024 * 1024
  const bodyLimit = 4 * 1024 * 1024
  const piece = Buffer.alloc(64 * 1024, "x")

  /** Sends pieces until the server answers and hangs up, or there is no more to send. */
  const send = async (port: number, header: string, chunked: boolean): Promise<string> => {
    const socket = await dial(port)
    const answer: Array<string> = []
    socket.on("data", (data) => answer.push(String(data)))
    const closed = new Promise((resolve) => socket.once("close", resolve))
    socket.write(head([header]))
    for (let sent = 0; sent < size && !socket.destroyed && answer.length === 0; sent += piece.length) {
      if (chunked) socket.write(`${piece.length.toString(16)}\r\n`)
      const more = socket.write(piece)
      if (chunked) socket.write("\r\n")
      if (!more) await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), closed])
    }
    await Promise.race([closed, sleep(5_000)])
    return answer.join("")
  }

  for (const host of ["http", "route"]) {
    it(`is refused with 413 by ${host}, which reads none of it when it says how long it is`, async () => {
      const { port, server } = await started(host)
      const before = server.bytesRead
      const answer = await send(port, `Content-Length: ${size}`, false)
      expect(answer).toMatch(/^HTTP\/1\.1 413 /)
      expect(server.bytesRead - before).toBeLessThan(bodyLimit)
      expect(server.peak).toBeLessThan(limit)
    })

    it(`is refused with 413 by ${host}, which reads no more than the limit when it does not`, async () => {
      const { port, server } = await started(host)
      const before = server.bytesRead
      const answer = await send(port, "Transfer-Encoding: chunked", true)
      expect(answer).toMatch(/^HTTP\/1\.1 413 /)
      expect(server.bytesRead - before).toBeLessThan(bodyLimit + 1024 * 1024)
      expect(server.peak).toBeLessThan(limit)
    })
  }
})

describe("a line without end", { timeout: 60_000 }, () => {
  it("of 200 MB on standard input is refused once, in constant memory, and what follows is served", async () => {
    const { server } = await started("stdio")
    const { stdin, stdout } = server.child as { stdin: Writable; stdout: Readable }
    let answers = ""
    stdout.on("data", (data) => (answers += String(data)))
    const until = async (pattern: RegExp) => {
      while (!pattern.test(answers)) await once(stdout, "data")
    }
    stdin.write(`${call(1)}\n`)
    await until(/"id":1,/)
    const piece = Buffer.alloc(1024 * 1024, "x")
    const peaks: Array<number> = []
    for (let sent = 0; sent < 200; sent++) {
      if (!stdin.write(piece)) await once(stdin, "drain")
      peaks.push(server.peak)
    }
    // Buffers that were read are given back by the garbage collector, when it comes to it: a program that reads its input
    // and does nothing else grows by 20 MB here.
    expect(server.peak - (peaks[99] as number)).toBeLessThan(30)
    stdin.write(`\n${call(2)}\n`)
    await until(/"id":2,/)
    const [, refusal, second, ...more] = answers
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
    expect(refusal).toMatchObject({ error: { code: -32600 } })
    expect(refusal).not.toHaveProperty("id")
    expect(second).toMatchObject({ id: 2, result: {} })
    expect(more).toEqual([])
  })
})
