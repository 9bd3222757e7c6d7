/**
 * Every way in which talking to a peer can fail, as values.
 *
 * One error with a `reason`, so that a signature says `McpError` and a caller picks the reasons it can do something
 * about with `Effect.catchReason("McpError", "Timeout", …)`.
 */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import { type ErrorObject, ErrorCode } from "./JsonRpc.ts"

/** The peer (or, in a handler, this side) answered with a JSON-RPC error. */
export class ProtocolFailure extends Schema.TaggedError<ProtocolFailure>()("ProtocolFailure", {
  code: Schema.Number,
  message: Schema.String,
  data: Schema.optionalKey(Schema.Unknown)
}) {}

/** The transport could not carry a message: the process did not start, the socket broke, an HTTP status said no. */
export class TransportFailure extends Schema.TaggedError<TransportFailure>()("TransportFailure", {
  message: Schema.String,
  /** HTTP status, where there was one. */
  status: Schema.optionalKey(Schema.Number),
  cause: Schema.optionalKey(Schema.Defect())
}) {}

/** The connection has ended. A call that was in flight may or may not have run. */
export class Closed extends Schema.TaggedError<Closed>()("Closed", {
  message: Schema.String
}) {}

/** No answer within the time allowed; the request was cancelled. `after` is in milliseconds. */
export class Timeout extends Schema.TaggedError<Timeout>()("Timeout", {
  method: Schema.String,
  after: Schema.Number
}) {
  override get message(): string {
    return `No answer to ${this.method} within ${Duration.format(Duration.millis(this.after))}`
  }
}

/** A limit of this side was reached: pages, rounds of input, bytes, requests in flight. */
export class LimitExceeded extends Schema.TaggedError<LimitExceeded>()("LimitExceeded", {
  limit: Schema.String,
  message: Schema.String
}) {}

/** What the peer sent does not have the shape that the specification (or the tool's schema) promises. */
export class DecodeFailure extends Schema.TaggedError<DecodeFailure>()("DecodeFailure", {
  message: Schema.String
}) {}

/** A foreign tool, or one that did not declare its errors, said `isError: true`. */
export class ToolFailure extends Schema.TaggedError<ToolFailure>()("ToolFailure", {
  tool: Schema.String,
  message: Schema.String,
  /** The result as it came, content and all. */
  result: Schema.Unknown
}) {}

/** The peer can't do this: it did not declare the capability, or its revision has no such message. Nothing was sent. */
export class Unsupported extends Schema.TaggedError<Unsupported>()("Unsupported", {
  message: Schema.String,
  /** The client capabilities that would be needed, in the shape of `ClientCapabilities`. */
  requiredCapabilities: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
}) {}

/** Every reason of an {@link McpError}. */
export const Reason = Schema.Union([
  ProtocolFailure,
  TransportFailure,
  Closed,
  Timeout,
  LimitExceeded,
  DecodeFailure,
  ToolFailure,
  Unsupported
])

/** Every reason of an {@link McpError}. */
export type Reason = typeof Reason.Type

/**
 * The one error of the runtime. `reason` says what happened.
 *
 * @example
 * ```ts
 * import { Effect } from "effect"
 * import { McpClient } from "mcp-effect"
 *
 * const program = Effect.gen(function* () {
 *   const client = yield* McpClient.McpClient
 *   return yield* client.callTool("slow", {}).pipe(
 *     Effect.catchReason("McpError", "Timeout", () => Effect.succeed(undefined))
 *   )
 * })
 * ```
 */
export class McpError extends Schema.TaggedError<McpError>()("McpError", { reason: Reason }) {
  override get message(): string {
    return this.reason.message
  }

  /** A JSON-RPC error with this code. In a handler it is what the peer will be told. */
  static protocol(code: number, message: string, data?: unknown): McpError {
    return new McpError({
      reason: new ProtocolFailure(data === undefined ? { code, message } : { code, message, data })
    })
  }

  /** `-32602`: the parameters are not what the method takes. */
  static invalidParams(message: string, data?: unknown): McpError {
    return McpError.protocol(ErrorCode.InvalidParams, message, data)
  }

  /** `-32601`: there is no such method here. */
  static methodNotFound(method: string): McpError {
    return McpError.protocol(ErrorCode.MethodNotFound, `Method not found: ${method}`)
  }

  /** The transport could not carry a message. */
  static transport(message: string, options?: { readonly status?: number; readonly cause?: unknown }): McpError {
    return new McpError({ reason: new TransportFailure({ message, ...options }) })
  }

  /** The connection has ended. */
  static closed(message: string): McpError {
    return new McpError({ reason: new Closed({ message }) })
  }

  /** The peer sent something of the wrong shape. */
  static decode(message: string): McpError {
    return new McpError({ reason: new DecodeFailure({ message }) })
  }

  /** A limit of this side was reached. */
  static limit(limit: string, message: string): McpError {
    return new McpError({ reason: new LimitExceeded({ limit, message }) })
  }

  /** The peer can't do this. */
  static unsupported(message: string, requiredCapabilities?: { readonly [name: string]: unknown }): McpError {
    return new McpError({
      reason: new Unsupported(requiredCapabilities === undefined ? { message } : { message, requiredCapabilities })
    })
  }
}

/** How an error is told to a peer: codes where the specification has one, `-32603` without internals elsewhere. */
export const toErrorObject = (error: McpError): ErrorObject => {
  const reason = error.reason
  switch (reason._tag) {
    case "ProtocolFailure":
      return reason.data === undefined
        ? { code: reason.code, message: reason.message }
        : { code: reason.code, message: reason.message, data: reason.data }
    case "Unsupported":
      return reason.requiredCapabilities === undefined
        ? { code: ErrorCode.InvalidRequest, message: reason.message }
        : {
            code: ErrorCode.MissingRequiredClientCapability,
            message: reason.message,
            data: { requiredCapabilities: reason.requiredCapabilities }
          }
    case "LimitExceeded":
      return { code: ErrorCode.LimitExceeded, message: reason.message }
    default:
      return { code: ErrorCode.InternalError, message: "Internal error" }
  }
}
