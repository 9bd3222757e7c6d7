/**
 * The message in the body of a POST, or the response that refuses it.
 */
import * as Effect from "effect/Effect"
import * as JsonRpc from "../../protocol/JsonRpc.ts"
import type { HttpRequest, HttpResponse } from "./HttpMessage.ts"
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

/** Reads the body as one message, and hands it to `use`; what is too large (413) or can't be read is refused. */
export const withMessage = (
  request: HttpRequest,
  { maximumBodyBytes: maximumBytes, maximumDepth }: BodyLimits,
  use: (message: JsonRpc.Incoming) => Effect.Effect<HttpResponse>
): Effect.Effect<HttpResponse> => {
  if (Number(request.headers["content-length"]) > maximumBytes) return Effect.succeed(Refusal.tooLarge(maximumBytes))
  return Effect.matchEffect(request.body(maximumBytes), {
    onSuccess: (bytes) => use(readMessage(bytes, maximumDepth)),
    onFailure: (error) =>
      Effect.succeed(
        error.reason._tag === "LimitExceeded"
          ? Refusal.tooLarge(maximumBytes)
          : Refusal.response(400, Refusal.parseError("The request body could not be read"))
      )
  })
}
