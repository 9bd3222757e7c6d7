/**
 * Answering what a server asks: as requests of its own up to 2025-11-25, inside `input_required` results from 2026-07-28
 * on. Both come here, in the canonical model.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as JsonRpc from "../protocol/JsonRpc.ts"
import { McpError } from "../protocol/McpError.ts"
import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestParams,
  ElicitResult,
  InputRequest,
  ListRootsResult
} from "../protocol/index.ts"
import { findRequest, type Revision } from "../revision/Revision.ts"
import type { Refuse } from "../revision/Spelling.ts"
import * as FormAnswer from "./FormAnswer.ts"
import type { Handlers } from "./Handlers.ts"
import { toolResultProblem } from "../protocol/SamplingMessages.ts"

/** The server asks for something that this client did not declare. `code` is what JSON-RPC says to that. */
export class Undeclared extends Schema.TaggedError<Undeclared>()("Undeclared", {
  code: Schema.Number,
  message: Schema.String
}) {}

const noHandler = (method: string) =>
  new Undeclared({ code: JsonRpc.ErrorCode.MethodNotFound, message: `Method not found: ${method}` })

const noSuchMode = (what: string) =>
  new Undeclared({ code: JsonRpc.ErrorCode.InvalidParams, message: `This client did not declare ${what}` })

/** Answers the questions of a server. */
export class PeerRequests {
  readonly #handlers: Handlers<never>

  /** `services` is what the handlers need. */
  constructor(handlers: Handlers<unknown>, services: Context.Context<unknown>) {
    this.#handlers = provided(handlers, services)
  }

  /**
   * Answers a request of a legacy server, in the JSON of its revision. What was not declared is refused with the codes of
   * the specification (ELIC-05, SAMP-08, ROOT-07).
   */
  respond(revision: Revision, request: JsonRpc.Request): Effect.Effect<JsonRpc.Members, McpError> {
    const { method } = request
    const codec = findRequest(revision.serverRequests, method)
    if (codec === undefined) return Effect.fail(McpError.methodNotFound(method))
    if (method === "ping") return Effect.succeed({})
    const params = codec.params.decode(request.params)
    if (Result.isFailure(params)) {
      return this.#hasHandler(method)
        ? Effect.fail(McpError.invalidParams(`Invalid params of ${method}: ${params.failure}`))
        : Effect.fail(McpError.methodNotFound(method))
    }
    // The codec of this method has read the params.
    const question = { method, params: params.success } as InputRequest
    return this.answer(question, codec.result.refuse).pipe(
      Effect.flatMap((result) => {
        const refusal = codec.result.refuse?.(result)
        return refusal === undefined
          ? Effect.succeed(codec.result.encode(result))
          : Effect.fail(McpError.unsupported(refusal))
      }),
      Effect.catchTag("Undeclared", ({ code, message }) => Effect.fail(McpError.protocol(code, message)))
    )
  }

  /** Answers a question. `refuse` tells what the revision in use can't say in an answer. */
  answer(
    question: InputRequest,
    refuse?: Refuse<ElicitResult>
  ): Effect.Effect<ElicitResult | CreateMessageResult | ListRootsResult, McpError | Undeclared> {
    switch (question.method) {
      case "elicitation/create":
        return this.#elicit(question.params, refuse)
      case "sampling/createMessage":
        return this.#sample(question.params)
      case "roots/list":
        return this.#roots()
    }
  }

  #hasHandler(method: string): boolean {
    const { elicit, elicitUrl, roots, sample } = this.#handlers
    if (method === "elicitation/create") return elicit !== undefined || elicitUrl !== undefined
    return (method === "roots/list" ? roots : sample) !== undefined
  }

  #elicit(
    params: ElicitRequestParams,
    refuse: Refuse<ElicitResult> | undefined
  ): Effect.Effect<ElicitResult, McpError | Undeclared> {
    const { elicit, elicitUrl } = this.#handlers
    if (params.mode === "url") {
      if (elicitUrl !== undefined) return Effect.map(elicitUrl(params), FormAnswer.withoutContent)
    } else if (elicit !== undefined) {
      return Effect.flatMap(elicit(params), (answer) => FormAnswer.complete(params.requestedSchema, answer, refuse))
    }
    return Effect.fail(
      elicit === undefined && elicitUrl === undefined
        ? noHandler("elicitation/create")
        : noSuchMode(`elicitation by ${params.mode ?? "form"}`)
    )
  }

  #sample(params: CreateMessageRequestParams): Effect.Effect<CreateMessageResult, McpError | Undeclared> {
    const { sample, sampling } = this.#handlers
    if (sample === undefined) return Effect.fail(noHandler("sampling/createMessage"))
    if ((params.tools !== undefined || params.toolChoice !== undefined) && sampling?.tools !== true) {
      return Effect.fail(noSuchMode("sampling.tools"))
    }
    const problem = toolResultProblem(params.messages)
    return problem === undefined ? sample(params) : Effect.fail(McpError.invalidParams(problem))
  }

  #roots(): Effect.Effect<ListRootsResult, McpError | Undeclared> {
    const { roots } = this.#handlers
    if (roots === undefined) return Effect.fail(noHandler("roots/list"))
    return Effect.flatMap(roots, (list) => {
      const other = list.find(({ uri }) => !uri.startsWith("file://"))
      return other === undefined
        ? Effect.succeed({ roots: list })
        : Effect.fail(McpError.decode(`A root must have a file:// URI, and this one has not: ${other.uri}`))
    })
  }
}

const provided = (handlers: Handlers<unknown>, services: Context.Context<unknown>): Handlers<never> => {
  const { elicit, elicitUrl, roots, sample, sampling } = handlers
  const provide = <A>(effect: Effect.Effect<A, McpError, unknown>): Effect.Effect<A, McpError> =>
    Effect.provideContext(effect, services)
  return {
    sampling,
    elicit: elicit && ((request) => provide(Effect.suspend(() => elicit(request)))),
    elicitUrl: elicitUrl && ((request) => provide(Effect.suspend(() => elicitUrl(request)))),
    sample: sample && ((request) => provide(Effect.suspend(() => sample(request)))),
    roots: roots && provide(roots)
  }
}
