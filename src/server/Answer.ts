/**
 * Answering one request of a peer: from the JSON of its revision to an operation, and back.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import type { CallContext } from "../definition/CallContext.ts"
import type * as JsonRpc from "../protocol/JsonRpc.ts"
import { McpError } from "../protocol/McpError.ts"
import { findRequest, type Revision } from "../revision/Revision.ts"
import * as Work from "../session/Work.ts"
import type { Outlet } from "../transport/Transport.ts"
import { type Asker, Call } from "./Call.ts"
import type { Run, ServerRuntime } from "./ServerRuntime.ts"

/** The params of a request as its revision spells them, read into the canonical model. */
export const decodeParams = (
  revision: Revision,
  request: JsonRpc.Request
): Result.Result<JsonRpc.Members, McpError> => {
  const codec = findRequest(revision.clientRequests, request.method)
  if (codec === undefined) return Result.fail(McpError.methodNotFound(request.method))
  const params = codec.params.decode(request.params)
  return Result.isSuccess(params)
    ? (params as Result.Success<JsonRpc.Members, never>)
    : Result.fail(McpError.invalidParams(`Invalid params of ${request.method}: ${params.failure}`))
}

/** A result in the canonical model, as a revision spells it. */
export const encodeResult = (revision: Revision, method: string, result: JsonRpc.Members): JsonRpc.Members =>
  findRequest(revision.clientRequests, method)?.result.encode(result) ?? result

/** Work that carries out a request whose params have been read, on behalf of whoever asks. */
export const perform = <R>(
  runtime: ServerRuntime<R>,
  request: JsonRpc.Request,
  params: JsonRpc.Members,
  asker: Asker,
  outlet: Outlet
): Work.Work => {
  const run = runtime.operations.get(request.method)
  // The revision has the method, but this server has no use for it (ERR-02).
  if (run === undefined) return refuse(runtime, McpError.methodNotFound(request.method))
  return new Call(runtime, request, asker, outlet, () => through(runtime, run, request.method, params))
}

/** Work that has nothing to do but to say no. */
export const refuse = <R>(runtime: ServerRuntime<R>, error: McpError): Work.Work =>
  Work.make(Exit.fail(error), runtime.services)

/** Work whose result is there already. */
export const give = <R>(runtime: ServerRuntime<R>, result: JsonRpc.Members): Work.Work =>
  Work.make(Exit.succeed(result), runtime.services)

const through = <R>(
  runtime: ServerRuntime<R>,
  run: Run<R>,
  method: string,
  params: JsonRpc.Members
): Effect.Effect<JsonRpc.Members, McpError, R | CallContext | Scope.Scope> => {
  const around = runtime.server.middleware
  // The codec of this method has read the params. What is around a handler decides whether and when it is called.
  let handler = around.length === 0 ? run(params as never) : Effect.suspend(() => run(params as never))
  for (let index = around.length - 1; index >= 0; index--) {
    // What the handler needs is provided with the whole chain; a middleware need not know of it.
    const next = handler as Effect.Effect<JsonRpc.Members, McpError, CallContext | Scope.Scope>
    handler = (around[index] as NonNullable<(typeof around)[number]>)({ method, params }, next)
  }
  return handler
}
