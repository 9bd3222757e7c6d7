/**
 * Requests of 2026-07-28 and later: each one stands for itself and says in `_meta` which revision it is written in and
 * what its sender can do.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { noSteps, type StepMemory } from "../definition/CallContext.ts"
import type { Question } from "../definition/Question.ts"
import * as JsonRpc from "../protocol/JsonRpc.ts"
import { McpError } from "../protocol/McpError.ts"
import {
  type ClientCapabilities,
  type Implementation,
  inputRequiredMethods,
  type LoggingLevel,
  MetaKey
} from "../protocol/index.ts"
import { findRequest, type Revision } from "../revision/Revision.ts"
import { canonicalJson, type Memory } from "../session/RequestState.ts"
import { type ReadAnswer, Round } from "../session/Round.ts"
import * as Work from "../session/Work.ts"
import type { Outlet } from "../transport/Transport.ts"
import { decodeParams, encodeResult, perform, refuse } from "./Answer.ts"
import type { Asker } from "./Call.ts"
import type { ServerRuntime } from "./ServerRuntime.ts"

/** Whether a request is written in the modern way: it names its revision in `_meta`. */
export const isModern = (request: JsonRpc.Request): boolean =>
  Predicate.isObject(request.params?._meta) && MetaKey.protocolVersion in request.params._meta

/** The `-32022` that lists what this server speaks (ERR-10). */
export const unsupportedVersion = <R>(runtime: ServerRuntime<R>, requested: unknown): McpError =>
  McpError.protocol(JsonRpc.ErrorCode.UnsupportedProtocolVersion, "Unsupported protocol version", {
    supported: runtime.revisions.map((revision) => revision.version),
    requested: String(requested)
  })

/** Work that answers a modern request. */
export const answer = <R>(runtime: ServerRuntime<R>, request: JsonRpc.Request, outlet: Outlet): Work.Work => {
  const read = readRequest(runtime, request, outlet)
  if (Result.isFailure(read)) return refuse(runtime, read.failure)
  const asker = read.success
  const { params } = asker
  if (params.requestState === undefined || !mayAsk.has(request.method)) {
    return perform(runtime, request, params, asker, outlet)
  }
  const opened = runtime.requestState.open(params.requestState as string, asker.binding)
  const resumed = Effect.flatMap(opened, (memory) => {
    asker.recall(memory)
    return Work.toEffect(perform(runtime, request, params, asker, outlet))
  })
  return Work.make(resumed, runtime.services)
}

/** What a request of this era tells of its sender, and the round of questions that it may come to. */
class ModernAsker<R> implements Asker {
  readonly revision: Revision
  readonly params: JsonRpc.Members
  readonly #runtime: ServerRuntime<R>
  readonly #request: JsonRpc.Request
  readonly #outlet: Outlet
  #memory: Memory | undefined
  // Most handlers neither ask nor remember anything.
  #round: Round | undefined

  constructor(
    runtime: ServerRuntime<R>,
    revision: Revision,
    request: JsonRpc.Request,
    params: JsonRpc.Members,
    outlet: Outlet
  ) {
    this.#runtime = runtime
    this.#request = request
    this.#outlet = outlet
    this.revision = revision
    this.params = params
  }

  get info(): Implementation | undefined {
    return this.#meta[MetaKey.clientInfo] as Implementation | undefined
  }

  get capabilities(): ClientCapabilities {
    return this.#meta[MetaKey.clientCapabilities] as ClientCapabilities // read as such before
  }

  get logLevel(): LoggingLevel | undefined {
    return this.#meta[MetaKey.logLevel] as LoggingLevel | undefined
  }

  get steps(): StepMemory {
    return mayAsk.has(this.#request.method) ? this.#begun() : noSteps
  }

  ask(question: Question): Effect.Effect<unknown, McpError> {
    return mayAsk.has(this.#request.method)
      ? this.#begun().ask(question)
      : Effect.fail(McpError.unsupported(`Nothing can be asked during ${this.#request.method} (MRTR-02)`))
  }

  /** Begins with what was remembered in the round before. */
  recall(memory: Memory): void {
    this.#memory = memory
  }

  /** State is good for one request of one caller: the same method, params and principal (MRTR-14). */
  get binding(): string {
    const { _meta, inputResponses: _answers, requestState: _state, ...rest } = this.params
    return canonicalJson([this.#request.method, rest, this.#outlet.principal?.subject ?? null])
  }

  conclude(_request: JsonRpc.Request, outcome: Work.Outcome): Effect.Effect<JsonRpc.Members, McpError> {
    const round = this.#round
    // A run that met a question ends in it, whatever the handler made of its interruption.
    if (round?.inputRequests !== undefined) return this.#question(round)
    return Exit.isSuccess(outcome) ? Exit.succeed(this.#finish(outcome.value)) : outcome
  }

  get #meta(): JsonRpc.Members {
    return this.#request.params?._meta as JsonRpc.Members // checked before
  }

  #begun(): Round {
    this.#round ??= new Round(
      this.capabilities,
      readAnswer(this.revision),
      this.params.inputResponses as JsonRpc.Members,
      this.#memory
    )
    return this.#round
  }

  // The state goes along even when there is nothing to remember: it is what ties the answers to this request.
  #question(round: Round): Effect.Effect<JsonRpc.Members, McpError> {
    return Effect.map(this.#runtime.requestState.seal(round.memory, this.binding), (requestState) =>
      this.#finish({ resultType: "input_required", inputRequests: round.inputRequests, requestState })
    )
  }

  /** Says who answers (META-16), and spells the result as the revision does. */
  #finish(result: JsonRpc.Members): JsonRpc.Members {
    const { meta } = this.#runtime
    const _meta = result._meta === undefined ? meta : { ...meta, ...(result._meta as JsonRpc.Members) }
    return encodeResult(this.revision, this.#request.method, { ...result, _meta })
  }
}

const mayAsk: ReadonlySet<string> = new Set(inputRequiredMethods)

/** What is required is checked before the version, and the version before the rest (section 3.5, META-14, VER-02). */
const readRequest = <R>(
  runtime: ServerRuntime<R>,
  request: JsonRpc.Request,
  outlet: Outlet
): Result.Result<ModernAsker<R>, McpError> => {
  const meta = request.params?._meta as JsonRpc.Members
  const version = meta[MetaKey.protocolVersion]
  const capabilities = meta[MetaKey.clientCapabilities]
  if (typeof version !== "string") return Result.fail(missing(MetaKey.protocolVersion, "a string"))
  if (!Predicate.isObject(capabilities)) return Result.fail(missing(MetaKey.clientCapabilities, "an object"))
  const revision = runtime.revisions.find((known) => known.version === version && known.era === "modern")
  if (revision === undefined) return Result.fail(unsupportedVersion(runtime, version))
  const params = decodeParams(revision, request)
  if (Result.isFailure(params)) return Result.fail(params.failure)
  return Result.succeed(new ModernAsker(runtime, revision, request, params.success, outlet))
}

const missing = (key: string, what: string) => McpError.invalidParams(`params._meta["${key}"] must be ${what}`)

const readAnswer =
  (revision: Revision): ReadAnswer =>
  ({ method }, value) => {
    const decoded = findRequest(revision.serverRequests, method)?.result.decode(value as JsonRpc.Members)
    if (decoded === undefined) return Effect.fail(McpError.methodNotFound(method))
    return Result.isSuccess(decoded)
      ? Effect.succeed(decoded.success)
      : Effect.fail(McpError.invalidParams(`The answer to ${method} is malformed: ${decoded.failure}`))
  }
