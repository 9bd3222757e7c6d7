/**
 * Log messages from a server to a client. Deprecated in 2026-07-28, where a request opts in through its `_meta`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging
 */
import * as Schema from "effect/Schema"
import { LoggingLevel } from "./LoggingLevel.ts"
import { notificationParams, requestParams } from "./Message.ts"

/** Params of `logging/setLevel`, up to 2025-11-25 (LOG-02). */
export const SetLevelRequestParams = Schema.Struct({ ...requestParams, level: LoggingLevel })

/** Params of `logging/setLevel`. */
export type SetLevelRequestParams = typeof SetLevelRequestParams.Type

/** Params of `notifications/message` (LOG-05). `data` is any JSON. */
export const LoggingMessageNotificationParams = Schema.Struct({
  ...notificationParams,
  level: LoggingLevel,
  logger: Schema.optionalKey(Schema.String),
  data: Schema.Unknown
})

/** Params of `notifications/message`. */
export type LoggingMessageNotificationParams = typeof LoggingMessageNotificationParams.Type
