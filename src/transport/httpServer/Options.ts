/**
 * How a Streamable HTTP server behaves.
 */
import type { Duration } from "effect"
import type * as Guard from "./Guard.ts"
import type * as Sse from "./HttpSse.ts"
import type { Options as SessionOptions } from "./HttpSessions.ts"

/** Options of a Streamable HTTP server. */
export interface Options extends Guard.Options, SessionOptions {
  /** The most bytes of a request body; more is refused with 413. Default 4 MiB. */
  readonly maximumBodyBytes?: number | undefined
  /** How deeply the JSON of a body may nest; what is deeper is refused with 400. Default 128 levels. */
  readonly maximumDepth?: number | undefined
  /**
   * Requests being worked on at a time, whoever sent them; more are refused with 503. Those of one principal, or of one
   * session, are bounded by `limits.requestsInFlight` of the server, too. Default 10,000.
   */
  readonly maximumRequests?: number | undefined
  /** How long a request waits for its answer before its response becomes a stream. Default 100 milliseconds. */
  readonly streamAfter?: Duration.Input | undefined
  /**
   * How long a client may leave an event stream unread when 64 events wait on it. Then the stream is dropped, with a
   * warning in the log; a client of a session may still resume it (2025-11-25). Default 30 seconds.
   */
  readonly readTimeout?: Duration.Input | undefined
  /** How often an open stream gets a comment. Default 15 seconds. */
  readonly keepAlive?: Duration.Input | undefined
  /** How long requests under way may take to end at shutdown, before they are interrupted. Default 5 seconds. */
  readonly gracePeriod?: Duration.Input | undefined
  /**
   * Where a GET is answered with 200 while the server takes requests, and with 503 from the moment it begins to shut down;
   * such as `/ready`. Whoever asks needs no allowed host. Default: nowhere.
   */
  readonly readyPath?: `/${string}` | undefined
  /**
   * How long the server goes on taking requests after it has said that it is not ready, so that whoever balances load has
   * time to look elsewhere. Default: not at all.
   */
  readonly drainDelay?: Duration.Input | undefined
  /** How long clients are told to wait before they reconnect to a stream (2025-11-25). Default 1 second. */
  readonly retry?: Duration.Input | undefined
  /**
   * Serves HTTP+SSE, the transport of 2024-11-05, as well, for clients that know nothing newer; `{}` for the usual paths,
   * `/sse` and `/messages`. Default: not served.
   */
  readonly sse?: Sse.Options | undefined
}
