/**
 * The least of an HTTP client: one connection that is kept, one request at a time, responses of a known length or in
 * chunks. It looks at the status and at nothing else, so that the driver is never what is slow.
 */
import * as Net from "node:net"

/** A response. The body is there only when it was asked for. */
export interface Response {
  readonly status: number
  readonly head: string
  readonly body: string
}

/** Milliseconds without use after which a connection is not trusted any more. */
const patience = 2000

const endOfHead = Buffer.from("\r\n\r\n")
const endOfLine = Buffer.from("\r\n")

export class HttpConnection {
  readonly #port: number
  #socket: Net.Socket
  #usedAt = performance.now()
  #buffer: Buffer = Buffer.alloc(0)
  #head: string | undefined
  /** Bytes of the body that are still to come; -1 when it is in chunks. */
  #remaining = 0
  #chunk = 0
  #body: Array<Buffer> | undefined
  #onResponse: ((response: Response) => void) | undefined
  #onError: ((error: Error) => void) | undefined

  constructor(port: number) {
    this.#port = port
    this.#socket = this.#connect()
  }

  #connect(): Net.Socket {
    const socket = Net.connect({ port: this.#port, host: "127.0.0.1", noDelay: true })
    socket.on("data", (chunk) => this.#receive(chunk))
    socket.on("error", (error) => this.#onError?.(error))
    socket.on("close", () => {
      if (socket === this.#socket) this.#onError?.(new Error("The server has closed the connection"))
    })
    return socket
  }

  /** Connects anew after a pause: servers close a connection that has idled for some seconds. */
  refresh(): void {
    if (performance.now() - this.#usedAt < patience && !this.#socket.destroyed) return
    const old = this.#socket
    this.#socket = this.#connect()
    this.#usedAt = performance.now()
    old.destroy()
  }

  /** Sends a request, and calls back when its whole response is there. */
  send(bytes: string, keepBody: boolean, onResponse: (response: Response) => void): void {
    this.#body = keepBody ? [] : undefined
    this.#onResponse = onResponse
    this.#usedAt = performance.now()
    this.#socket.write(bytes, "latin1")
  }

  request(bytes: string): Promise<Response> {
    return new Promise((resolve, reject) => {
      this.refresh()
      this.#onError = reject
      this.send(bytes, true, resolve)
    })
  }

  /** Called when there will be no response. */
  onError(callback: (error: Error) => void): void {
    this.#onError = callback
  }

  close(): void {
    this.#onError = undefined
    this.#socket.destroy()
  }

  #receive(chunk: Buffer): void {
    let data = chunk
    if (this.#buffer.length > 0) {
      data = Buffer.concat([this.#buffer, chunk])
      this.#buffer = Buffer.alloc(0)
    }
    if (this.#head === undefined) {
      const end = data.indexOf(endOfHead)
      if (end < 0) {
        this.#buffer = data
        return
      }
      const head = data.toString("latin1", 0, end)
      this.#head = head
      this.#remaining = lengthOf(head)
      this.#chunk = 0
      data = data.subarray(end + 4)
    }
    if (this.#remaining === -1) this.#receiveChunks(data)
    else {
      this.#body?.push(data)
      this.#remaining -= data.length
      if (this.#remaining <= 0) this.#finish()
    }
  }

  #receiveChunks(received: Buffer): void {
    let data = received
    while (data.length > 0) {
      if (this.#chunk > 0) {
        // What is left of a chunk, and the line end after it.
        const taken = Math.min(this.#chunk, data.length)
        this.#body?.push(data.subarray(0, Math.max(0, Math.min(taken, this.#chunk - 2))))
        this.#chunk -= taken
        data = data.subarray(taken)
        continue
      }
      const end = data.indexOf(endOfLine)
      if (end < 0) break
      const size = Number.parseInt(data.toString("latin1", 0, end), 16)
      if (size === 0) {
        if (data.length < end + 4) break
        this.#finish()
        return
      }
      this.#chunk = size + 2
      data = data.subarray(end + 2)
    }
    this.#buffer = data
  }

  #finish(): void {
    const head = this.#head as string
    const body = this.#body === undefined ? "" : Buffer.concat(this.#body).toString()
    this.#head = undefined
    this.#onResponse?.({ status: Number(head.slice(9, 12)), head, body })
  }
}

const lengthPattern = /^content-length: *(\d+)/im
const chunkedPattern = /^transfer-encoding: *chunked/im

const lengthOf = (head: string): number => {
  const length = lengthPattern.exec(head)
  if (length !== null) return Number(length[1])
  return chunkedPattern.test(head) ? -1 : 0
}
