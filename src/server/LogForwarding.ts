/**
 * `Effect.log*` in a handler reaches the peer, at the level that it asked for.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as LogLevel from "effect/LogLevel"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
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
const forwarding: Logger.Logger<unknown, unknown> = Logger.make(({ fiber, logLevel, message }) => {
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

/** Adds the forwarding to the loggers of a server, once for all of its calls. */
export const withForwarding = <R>(services: Context.Context<R>): Context.Context<R> => {
  const loggers = new Set<Logger.Logger<unknown, unknown>>(Context.get(services, Logger.CurrentLoggers))
  return Context.add(services, Logger.CurrentLoggers, loggers.add(forwarding)) as Context.Context<R>
}

/** Whether a peer wants messages that a server with these services does not even make. */
export const needsMore = <R>(services: Context.Context<R>, wanted: LoggingLevel): boolean =>
  LogLevel.isLessThan(minimums[wanted], Context.get(services, References.MinimumLogLevel))

/** Runs a handler so that the peer gets what it asked for, even where this side's own loggers show less. */
export const forwardLogs = <A, E, R>(handler: Effect.Effect<A, E, R>, wanted: LoggingLevel): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    const minimum = minimums[wanted]
    const own = fiber.getRef(References.MinimumLogLevel)
    const loggers = new Set<Logger.Logger<unknown, unknown>>()
    for (const logger of fiber.getRef(Logger.CurrentLoggers)) {
      loggers.add(logger === forwarding ? logger : from(own, logger))
    }
    return handler.pipe(
      Effect.provideService(Logger.CurrentLoggers, loggers),
      Effect.provideService(References.MinimumLogLevel, minimum)
    )
  })

const from = (minimum: LogLevel.LogLevel, logger: Logger.Logger<unknown, unknown>): Logger.Logger<unknown, unknown> =>
  Logger.make((options) => (LogLevel.isLessThan(options.logLevel, minimum) ? undefined : logger.log(options)))
