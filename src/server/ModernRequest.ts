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
import { type Asker, decodeParams, encodeResult, perform, refuse } from "./Answer.ts"
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
  const read = readRequest(runtime, request)
  if (Result.isFailure(read)) return refuse(runtime, read.failure)
  const { capabilities, meta, params, revision } = read.success
  const ask = (round: Round | undefined): Asker => ({
    revision,
    info: meta[MetaKey.clientInfo] as Implementation | undefined,
    capabilities,
    logLevel: meta[MetaKey.logLevel] as LoggingLevel | undefined,
    ask: round === undefined ? () => Effect.fail(cannotAsk(request.method)) : round.ask,
    steps: round ?? noSteps
  })
  if (!mayAsk.has(request.method)) {
    return Work.map(perform(runtime, request, params, ask(undefined), outlet), (result) =>
      finish(runtime, revision, request, result)
    )
  }
  const play = (memory?: Memory): Work.Work => {
    const round = new Round(capabilities, readAnswer(revision), params.inputResponses as JsonRpc.Members, memory)
    return Work.andThen(perform(runtime, request, params, ask(round), outlet), (outcome) => {
      // A run that met a question ends in it, whatever the handler made of its interruption.
      if (round.inputRequests !== undefined) return question(round)
      return Exit.isSuccess(outcome) ? Exit.succeed(finish(runtime, revision, request, outcome.value)) : outcome
    })
  }
  // The state goes along even when there is nothing to remember: it is what ties the answers to this request.
  const question = (round: Round) =>
    Effect.map(runtime.requestState.seal(round.memory, bindingOf(request, params, outlet)), (requestState) => {
      const result = { resultType: "input_required", inputRequests: round.inputRequests, requestState }
      return finish(runtime, revision, request, result)
    })
  if (params.requestState === undefined) return play()
  const opened = runtime.requestState.open(params.requestState as string, bindingOf(request, params, outlet))
  const resumed = Effect.flatMap(opened, (memory) => Work.toEffect(play(memory)))
  return Work.make(resumed, runtime.services)
}

const mayAsk: ReadonlySet<string> = new Set(inputRequiredMethods)

const noSteps = { get: () => undefined, set: () => {} }

const cannotAsk = (method: string) => McpError.unsupported(`Nothing can be asked during ${method} (MRTR-02)`)

interface ModernRequest {
  readonly revision: Revision
  readonly meta: JsonRpc.Members
  readonly capabilities: ClientCapabilities
  readonly params: JsonRpc.Members
}

/** What is required is checked before the version, and the version before the rest (section 3.5, META-14, VER-02). */
const readRequest = <R>(
  runtime: ServerRuntime<R>,
  request: JsonRpc.Request
): Result.Result<ModernRequest, McpError> => {
  const meta = request.params?._meta as JsonRpc.Members
  const version = meta[MetaKey.protocolVersion]
  const capabilities = meta[MetaKey.clientCapabilities]
  if (typeof version !== "string") return Result.fail(missing(MetaKey.protocolVersion, "a string"))
  if (!Predicate.isObject(capabilities)) return Result.fail(missing(MetaKey.clientCapabilities, "an object"))
  const revision = runtime.revisions.find((known) => known.version === version && known.era === "modern")
  if (revision === undefined) return Result.fail(unsupportedVersion(runtime, version))
  return Result.map(decodeParams(revision, request), (params) => ({ revision, meta, capabilities, params }))
}

const missing = (key: string, what: string) => McpError.invalidParams(`params._meta["${key}"] must be ${what}`)

/** Says who answers (META-16), and spells the result as the revision does. */
const finish = <R>(
  runtime: ServerRuntime<R>,
  revision: Revision,
  request: JsonRpc.Request,
  result: JsonRpc.Members
): JsonRpc.Members => {
  const _meta = { [MetaKey.serverInfo]: runtime.server.info, ...(result._meta as JsonRpc.Members | undefined) }
  return encodeResult(revision, request.method, { ...result, _meta })
}

/** State is good for one request of one caller: the same method, params and principal (MRTR-14). */
const bindingOf = (request: JsonRpc.Request, params: JsonRpc.Members, outlet: Outlet): string => {
  const { _meta, inputResponses: _answers, requestState: _state, ...rest } = params
  return canonicalJson([request.method, rest, outlet.principal?.subject ?? null])
}

const readAnswer =
  (revision: Revision): ReadAnswer =>
  ({ method }, value) => {
    const decoded = findRequest(revision.serverRequests, method)?.result.decode(value as JsonRpc.Members)
    if (decoded === undefined) return Effect.fail(McpError.methodNotFound(method))
    return Result.isSuccess(decoded)
      ? Effect.succeed(decoded.success)
      : Effect.fail(McpError.invalidParams(`The answer to ${method} is malformed: ${decoded.failure}`))
  }
