/**
 * What one peer may cost, at most. Every limit has a default and is an option wherever a session is made.
 */

import type * as Duration from "effect/Duration"

/** Limits of one session. */
export interface Limits {
  /** Requests of the peer being worked on at a time; more are refused with `LimitExceeded`. Default 1,024. */
  readonly requestsInFlight: number
  /** Messages in one batch (2025-03-26); a larger batch is refused with `LimitExceeded`. Default 1,024. */
  readonly batchMessages: number
  /** Answers that wait for the peer to read before nothing more is read from it. Default 64. */
  readonly answersUnread: number
  /** Resources that one peer may subscribe to; from 2026-07-28 on, in one `subscriptions/listen`. Default 256. */
  readonly subscriptions: number
  /** `subscriptions/listen` requests that one peer may have open (2026-07-28). Default 64. */
  readonly listeners: number
  /**
   * Time for a client to send `initialize`, or a request of 2026-07-28 or later, before a server hangs up. Default 30
   * seconds; no limit over stdio and in memory.
   */
  readonly handshake: Duration.Input
  /**
   * How long a client may say nothing before a server makes sure that it is there: with `ping` up to 2025-11-25, and later
   * by whether a request of it is under way. If it is not, the server hangs up. Default 30 minutes; no limit over stdio and
   * in memory. Sessions over HTTP have `sessionIdle` for it.
   */
  readonly idle: Duration.Input
  /** How long closing waits for handlers that can't be interrupted. Default 5 seconds. */
  readonly closing: Duration.Input
}

/** The limits where nothing else was said. */
export const defaults: Limits = {
  requestsInFlight: 1024,
  batchMessages: 1024,
  answersUnread: 64,
  subscriptions: 256,
  listeners: 64,
  handshake: "30 seconds",
  idle: "30 minutes",
  closing: "5 seconds"
}
