/**
 * `Effect.log*` in a handler reaches the peer, at the level that it asked for.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging
 */
import { Context, Effect, Logger, LogLevel, References } from "effect"
import { CallContext } from "../definition/CallContext.ts"
import { isAtLeast, type LoggingLevel } from "../protocol/index.ts"

const levels: { readonly [level in LogLevel.LogLevel]?: LoggingLevel } = {
  Fatal: "critical",
  Error: "error",
  Warn: "warning",
  Info: "info",
  Debug: "debug",
  Trace: "debug"
}

const minimums: { readonly [level in LoggingLevel]: LogLevel.LogLevel } = {
  debug: "All",
  info: "Info",
  notice: "Info",
  warning: "Warn",
  error: "Error",
  critical: "Fatal",
  alert: "Fatal",
  emergency: "Fatal"
}

/** Causes stay on this side: they hold what a peer must not see (LOG-07). */
const forwarding = Logger.make<unknown, void>(({ fiber, logLevel, message }) => {
  const call = Context.getOrUndefined(fiber.context, CallContext)
  const level = levels[logLevel]
  if (call?.logLevel === undefined || level === undefined || !isAtLeast(level, call.logLevel)) return
  const parts = Array.isArray(message) ? message : [message]
  const annotations = fiber.getRef(References.CurrentLogAnnotations)
  const text = parts.length === 1 ? parts[0] : parts
  const data = Object.keys(annotations).length === 0 ? text : { message: text, ...annotations }
  // A logger can't wait. Notifications of one call keep their order, for each transport takes them in turn.
  Effect.runForkWith(fiber.context)(call.notify("notifications/message", { level, data: data ?? null }))
})

/** Runs a handler so that what it logs is sent to the peer as well. */
export const forwardLogs = <A, E, R>(handler: Effect.Effect<A, E, R>, wanted: LoggingLevel): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    const own = fiber.getRef(References.MinimumLogLevel)
    const loggers = fiber.getRef(Logger.CurrentLoggers)
    const lowered = LogLevel.isLessThan(minimums[wanted], own)
    // The peer may want more than this side's own loggers are set to show.
    const all = new Set<Logger.Logger<unknown, unknown>>(
      lowered ? [...loggers].map((logger) => from(own, logger)) : loggers
    )
    all.add(forwarding)
    const forwarded = Effect.provideService(handler, Logger.CurrentLoggers, all)
    return lowered ? Effect.provideService(forwarded, References.MinimumLogLevel, minimums[wanted]) : forwarded
  })

const from = (minimum: LogLevel.LogLevel, logger: Logger.Logger<unknown, unknown>): Logger.Logger<unknown, unknown> =>
  Logger.make((options) => (LogLevel.isLessThan(options.logLevel, minimum) ? undefined : logger.log(options)))
