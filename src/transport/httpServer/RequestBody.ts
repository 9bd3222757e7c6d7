/**
 * The message in the body of a POST, or the response that refuses it.
 */
import * as JsonRpc from "../../protocol/JsonRpc.ts"
import { McpError } from "../../protocol/McpError.ts"
import type { Body, HttpResponse } from "./HttpMessage.ts"
import * as Refusal from "./Refusal.ts"

const decoder = new TextDecoder("utf-8", { fatal: true })

const readMessage = (bytes: Uint8Array, maximumDepth: number | undefined): JsonRpc.Incoming => {
  try {
    return JsonRpc.parse(decoder.decode(bytes), maximumDepth)
  } catch {
    return new JsonRpc.Malformed(Refusal.parseError("The request body is not UTF-8"))
  }
}

/** What a body may be at most. */
export interface BodyLimits {
  readonly maximumBodyBytes: number
  /** Levels of arrays and objects. Default 128. */
  readonly maximumDepth: number | undefined
}

/** Reads a body as one message, and hands it to `use`; what is too large (413) or could not be read is refused. */
export const withMessage = <A>(
  body: Body,
  { maximumBodyBytes, maximumDepth }: BodyLimits,
  use: (message: JsonRpc.Incoming) => A
): A | HttpResponse => {
  if (!(body instanceof McpError)) return use(readMessage(body, maximumDepth))
  return body.reason._tag === "LimitExceeded"
    ? Refusal.tooLarge(maximumBodyBytes)
    : Refusal.response(400, Refusal.parseError("The request body could not be read"))
}
