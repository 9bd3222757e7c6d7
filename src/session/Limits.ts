/**
 * What one peer may cost, at most. Every limit has a default and is an option wherever a session is made.
 */

import type { Duration } from "effect"

/** Limits of one session. */
export interface Limits {
  /** Requests of the peer being worked on at a time; more are refused with `LimitExceeded`. Default 1,024. */
  readonly requestsInFlight: number
  /** Messages in one batch (2025-03-26); a larger batch is refused with `LimitExceeded`. Default 1,024. */
  readonly batchMessages: number
  /** Answers that wait for the peer to read before nothing more is read from it. Default 64. */
  readonly answersUnread: number
  /** Resources that one peer may subscribe to. Default 256. */
  readonly subscriptions: number
  /** How long closing waits for handlers that can't be interrupted. Default 5 seconds. */
  readonly closing: Duration.Input
}

/** The limits where nothing else was said. */
export const defaults: Limits = {
  requestsInFlight: 1024,
  batchMessages: 1024,
  answersUnread: 64,
  subscriptions: 256,
  closing: "5 seconds"
}
