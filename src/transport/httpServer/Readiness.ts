/**
 * Whether a server takes requests, for those who send it some: a load balancer, or whoever starts and stops programs.
 */
import { type HttpHead, type HttpResponse, pathOf } from "./HttpMessage.ts"

const response = (status: number, body: string): HttpResponse => ({
  status,
  headers: { "content-type": "text/plain", "cache-control": "no-store" },
  body
})

const ready = response(200, "ready")
const closing = response(503, "shutting down")

/** The readiness of one server, and the path where it can be asked for. */
export class Readiness {
  readonly path: `/${string}` | undefined
  isReady = true

  constructor(path: `/${string}` | undefined) {
    this.path = path
  }

  /** The response to whoever asks for it; `undefined` to any other request. */
  answer({ url }: HttpHead): HttpResponse | undefined {
    if (this.path === undefined || url === undefined || pathOf(url) !== this.path) return undefined
    return this.isReady ? ready : closing
  }
}
