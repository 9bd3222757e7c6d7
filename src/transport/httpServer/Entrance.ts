/**
 * What is decided about a request before its body is read, and what a page of another origin is told of any response.
 */
import * as Guard from "./Guard.ts"
import type { Headers, HttpHead, HttpResponse, Respond } from "./HttpMessage.ts"
import * as Refusal from "./Refusal.ts"

/** What else is known of a request. */
export interface Circumstances {
  /** Whether the server is being shut down. */
  readonly isClosing: boolean
  /** Whether it brings a message of HTTP+SSE, whose clients say less of what they take. */
  readonly isForSse: boolean
}

/** Whom a server lets in. */
export class Entrance {
  readonly #guard: Guard.Guard
  readonly #maximumBodyBytes: number
  /** The headers of the last POST that had what it takes. */
  #accept: string | undefined
  #contentType: string | undefined

  constructor(options: Guard.Options, maximumBodyBytes: number) {
    this.#guard = new Guard.Guard(options)
    this.#maximumBodyBytes = maximumBodyBytes
  }

  /** Why a request goes no further. */
  refuse(head: HttpHead, circumstances: Circumstances): HttpResponse | undefined {
    const refused = this.#refuse(head, circumstances)
    return refused && this.#forPage(head, refused)
  }

  /** The same `respond`, for responses that a page of an allowed origin may read: refusals too. */
  forPages(head: HttpHead, respond: Respond): Respond {
    return this.#guard.cors ? (response) => respond(this.#forPage(head, response)) : respond
  }

  /** The answer to a preflight request. */
  preflightHeaders(headers: Headers): { readonly [name: string]: string } | undefined {
    return this.#guard.preflightHeaders(headers)
  }

  #refuse(head: HttpHead, { isClosing, isForSse }: Circumstances): HttpResponse | undefined {
    const { headers, method } = head
    const refused = this.#guard.refuse(headers)
    if (refused !== undefined) return Refusal.response(403, Refusal.invalidRequest(refused))
    if (isClosing && opensStream(head)) return Refusal.shuttingDown()
    if (method !== "POST") return undefined
    const unfit = isForSse ? undefined : this.#refusePost(headers)
    if (unfit !== undefined) return unfit
    const isTooLarge = Number(headers["content-length"]) > this.#maximumBodyBytes
    return isTooLarge ? Refusal.tooLarge(this.#maximumBodyBytes) : undefined
  }

  #refusePost(headers: Headers): HttpResponse | undefined {
    const { accept, "content-type": contentType } = headers
    // Most clients say the same every time.
    if (accept !== undefined && accept === this.#accept && contentType === this.#contentType) return undefined
    const refused = Refusal.ofPostHeaders(headers)
    if (refused !== undefined) return refused
    this.#accept = accept
    this.#contentType = contentType
    return undefined
  }

  #forPage({ headers }: HttpHead, response: HttpResponse): HttpResponse {
    const cors = this.#guard.corsHeaders(headers)
    return cors === undefined ? response : { ...response, headers: { ...response.headers, ...cors } }
  }
}

/** Whether it asks for a stream that is not there yet. */
const opensStream = ({ headers, method }: HttpHead): boolean =>
  method === "GET" && headers["last-event-id"] === undefined
