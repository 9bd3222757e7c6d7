/**
 * Asking the client in the middle of a call: a person for a decision, a model for a completion, the host for its
 * roots. Written once; the runtime asks in the way of the client's revision, as a live request up to 2025-11-25 and as
 * a round of input from 2026-07-28 on.
 *
 * In the newer revisions a question ends the request, and the handler runs again from its start with the answer at
 * hand. Work that must not be done twice goes into `Step.run`. Questions asked concurrently go out together.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as JsonCodec from "../protocol/JsonCodec.ts"
import { McpError } from "../protocol/McpError.ts"
import type { Members } from "../protocol/JsonRpc.ts"
import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestFormParams,
  ElicitResult,
  Root
} from "../protocol/index.ts"
import { toolResultProblem } from "../protocol/SamplingMessages.ts"
import { CallContext } from "./CallContext.ts"
import * as Form from "./Form.ts"

/** What a person did with a question. */
export type Answer<A> =
  | { readonly _tag: "Accept"; readonly value: A }
  /** They said no. */
  | { readonly _tag: "Decline" }
  /** They went away without an answer. */
  | { readonly _tag: "Cancel" }

/** How a question is put. */
export interface AskOptions {
  /**
   * The question's key in a round of input (2026-07-28), unique among the questions of the call. Default: made of the
   * question itself, so that it is the same in every round.
   */
  readonly key?: string | undefined
}

/** A schema that a form can be made of. */
export type FormSchema = Schema.Codec<unknown, unknown, never, never> & Schema.Top

/**
 * Asks a person to fill in a form. The answer is checked against the schema; one that does not fit fails with
 * `DecodeFailure`. Fails with `Unsupported` when the client did not declare that it can ask.
 *
 * Never ask for secrets this way (ELIC-19): that is what {@link elicitUrl} is for.
 *
 * @example
 * ```ts
 * import { Effect, Schema } from "effect"
 * import { Peer } from "mcp-effect"
 *
 * const confirm = Effect.gen(function* () {
 *   const answer = yield* Peer.elicit({ message: "Really?", schema: Schema.Struct({ sure: Schema.Boolean }) })
 *   return answer._tag === "Accept" && answer.value.sure
 * })
 * ```
 */
export const elicit = <S extends FormSchema>(
  options: AskOptions & {
    /** What the person is asked. */
    readonly message: string
    /** An object of strings, numbers, booleans and choices: what the answer must be. */
    readonly schema: S
    /** The form as the client sees it, where it is to differ from what the schema says. */
    readonly requestedSchema?: ElicitRequestFormParams["requestedSchema"] | undefined
  }
): Effect.Effect<Answer<S["Type"]>, McpError, CallContext> => {
  const form =
    options.requestedSchema === undefined ? Form.fromSchema(options.schema) : Result.succeed(options.requestedSchema)
  if (Result.isFailure(form)) return Effect.die(new TypeError(`This schema can't be a form: ${form.failure}`))
  const decode = Schema.decodeUnknownResult(JsonCodec.make(options.schema))
  return Effect.flatMap(
    ask(
      "elicitation/create",
      { mode: "form", message: options.message, requestedSchema: form.success },
      { elicitation: { form: {} } },
      options.key
    ),
    (result) => {
      const { action, content } = result as ElicitResult
      if (action !== "accept") return Effect.succeed(declined(action))
      const value = decode(content ?? {})
      return Result.isSuccess(value)
        ? Effect.succeed<Answer<S["Type"]>>({ _tag: "Accept", value: value.success })
        : Effect.fail(McpError.invalidParams(`The answer does not fit the form: ${value.failure.message}`))
    }
  )
}

/**
 * Asks a person to open a page, where they do what must not pass through the client: log in, pay, type a secret.
 * `Accept` means that they agreed to open it, not that they finished there.
 *
 * @example
 * ```ts
 * import { Effect } from "effect"
 * import { Peer, Tool } from "mcp-effect"
 *
 * const connect = Tool.handle(Tool.make("connect"), () =>
 *   Effect.map(
 *     Peer.elicitUrl({ message: "Please sign in to the archive", url: "https://archive.example/connect" }),
 *     (answer) => (answer._tag === "Accept" ? "Call again when you have signed in" : "Not connected")
 *   )
 * )
 * ```
 */
export const elicitUrl = (
  options: AskOptions & {
    /** Why the page is to be opened. */
    readonly message: string
    /** The page; without secrets or sign-ins in it (ELIC-23). */
    readonly url: string
    /** Names this elicitation in 2025-11-25; other revisions have no use for it. Default: one that no other has. */
    readonly elicitationId?: string | undefined
  }
): Effect.Effect<Answer<void>, McpError, CallContext> =>
  Effect.map(
    ask(
      "elicitation/create",
      {
        mode: "url",
        message: options.message,
        url: options.url,
        ...(options.elicitationId !== undefined && { elicitationId: options.elicitationId })
      },
      { elicitation: { url: {} } },
      options.key
    ),
    (result): Answer<void> => {
      const { action } = result as ElicitResult
      return action === "accept" ? { _tag: "Accept", value: undefined } : declined(action)
    }
  )

/**
 * Asks the client's model to complete a conversation. With `tools`, the client must have declared `sampling.tools`.
 *
 * Tool results out of order are a mistake in the program and die with a message that says so (SAMP-10, SAMP-11).
 *
 * @example
 * ```ts
 * import { Effect } from "effect"
 * import { Content, Peer, Tool } from "mcp-effect"
 *
 * const name = Tool.handle(Tool.make("name-a-cat"), () =>
 *   Effect.map(
 *     Peer.sample({ messages: [{ role: "user", content: Content.text("A name for a cat, please") }], maxTokens: 20 }),
 *     ({ content }) => JSON.stringify(content)
 *   )
 * )
 * ```
 */
export const sample = (
  params: CreateMessageRequestParams,
  options?: AskOptions
): Effect.Effect<CreateMessageResult, McpError, CallContext> => {
  const problem = toolResultProblem(params.messages)
  if (problem !== undefined) return Effect.die(new TypeError(`This conversation can't be completed: ${problem}`))
  return Effect.map(
    ask(
      "sampling/createMessage",
      params as Members,
      { sampling: params.tools === undefined ? {} : { tools: {} } },
      options?.key
    ),
    (result) => result as CreateMessageResult
  )
}

/**
 * Asks which directories or files the client lets the server work in. A hint, not access control (ROOT-09).
 *
 * @example
 * ```ts
 * import { Effect } from "effect"
 * import { Peer, Tool } from "mcp-effect"
 *
 * const where = Tool.handle(Tool.make("where"), () =>
 *   Effect.map(Peer.roots(), (roots) => roots.map(({ uri }) => uri).join("\n"))
 * )
 * ```
 */
export const roots = (options?: AskOptions): Effect.Effect<ReadonlyArray<Root>, McpError, CallContext> =>
  Effect.map(
    ask("roots/list", {}, { roots: {} }, options?.key),
    (result) => (result as { readonly roots: ReadonlyArray<Root> }).roots
  )

const declined = (action: "decline" | "cancel"): Answer<never> => ({
  _tag: action === "decline" ? "Decline" : "Cancel"
})

const ask = (
  method: "elicitation/create" | "sampling/createMessage" | "roots/list",
  params: Members,
  requires: Members,
  key: string | undefined
): Effect.Effect<unknown, McpError, CallContext> =>
  Effect.flatMap(CallContext, (call) => call.ask({ method, params, requires, key }))
