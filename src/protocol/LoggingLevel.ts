/**
 * The eight levels of RFC 5424, in order.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging#log-levels
 */
import * as Schema from "effect/Schema"

/** Every level, from the least to the most severe (LOG-05). */
export const loggingLevels = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const

/** How severe a log message is. */
export const LoggingLevel = Schema.Literals(loggingLevels)

/** How severe a log message is. */
export type LoggingLevel = typeof LoggingLevel.Type

/** Whether `level` is as severe as `minimum`, or more. */
export const isAtLeast = (level: LoggingLevel, minimum: LoggingLevel): boolean =>
  loggingLevels.indexOf(level) >= loggingLevels.indexOf(minimum)
