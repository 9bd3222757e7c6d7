/**
 * Sampling: a server uses the client's model. Deprecated in 2026-07-28.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
 */
import * as Schema from "effect/Schema"
import { Role } from "./Annotations.ts"
import { SamplingMessageContentBlock } from "./Content.ts"
import { JsonObject } from "./Json.ts"
import { requestParams, resultMembers } from "./Message.ts"
import { Meta } from "./Meta.ts"
import { Tool } from "./Tool.ts"

const priority = Schema.optionalKey(Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: 1 })))

/** A part of a model's name. */
export const ModelHint = Schema.Struct({ name: Schema.optionalKey(Schema.String) })

/** A part of a model's name. */
export type ModelHint = typeof ModelHint.Type

/** Which model the server would like; hints are tried in order, then priorities from 0 to 1 (SAMP-17). */
export const ModelPreferences = Schema.Struct({
  hints: Schema.optionalKey(Schema.Array(ModelHint)),
  costPriority: priority,
  speedPriority: priority,
  intelligencePriority: priority
})

/** Which model the server would like. */
export type ModelPreferences = typeof ModelPreferences.Type

/** Whether the model must use tools (from 2025-11-25). Absent `mode` is `"auto"` (SAMP-09). */
export const ToolChoice = Schema.Struct({ mode: Schema.optionalKey(Schema.Literals(["auto", "required", "none"])) })

/** Whether the model must use tools. */
export type ToolChoice = typeof ToolChoice.Type

/** One block, or from 2025-11-25 several (SAMP-06, SAMP-07). */
const samplingContent = Schema.Union([SamplingMessageContentBlock, Schema.Array(SamplingMessageContentBlock)]).annotate(
  {
    expected: "a content block or several"
  }
)

/** One message of the conversation. */
export const SamplingMessage = Schema.Struct({
  role: Role,
  content: samplingContent,
  _meta: Schema.optionalKey(Meta)
})

/** One message of the conversation. */
export type SamplingMessage = typeof SamplingMessage.Type

/** Params of `sampling/createMessage` (SAMP-03). */
export const CreateMessageRequestParams = Schema.Struct({
  ...requestParams,
  messages: Schema.Array(SamplingMessage),
  modelPreferences: Schema.optionalKey(ModelPreferences),
  systemPrompt: Schema.optionalKey(Schema.String),
  /** Default `"none"`; the others need `sampling.context` (SAMP-14). */
  includeContext: Schema.optionalKey(Schema.Literals(["none", "thisServer", "allServers"])),
  temperature: Schema.optionalKey(Schema.Number),
  /** The most tokens to sample; the client must keep to it (SAMP-16). */
  maxTokens: Schema.Int,
  stopSequences: Schema.optionalKey(Schema.Array(Schema.String)),
  /** For the model's provider. */
  metadata: Schema.optionalKey(JsonObject),
  /** Needs `sampling.tools` (SAMP-08). */
  tools: Schema.optionalKey(Schema.Array(Tool)),
  toolChoice: Schema.optionalKey(ToolChoice)
})

/** Params of `sampling/createMessage`. */
export type CreateMessageRequestParams = typeof CreateMessageRequestParams.Type

/** Asks the model. In 2026-07-28 a bare object inside `inputRequests` (MRTR-04). */
export const CreateMessageRequest = Schema.Struct({
  method: Schema.Literal("sampling/createMessage"),
  params: CreateMessageRequestParams
})

/** Asks the model. */
export type CreateMessageRequest = typeof CreateMessageRequest.Type

/** Result of `sampling/createMessage`. */
export const CreateMessageResult = Schema.Struct({
  ...resultMembers,
  role: Role,
  content: samplingContent,
  /** The model that spoke. */
  model: Schema.String,
  /** `"endTurn"`, `"stopSequence"`, `"maxTokens"`, `"toolUse"`, or what the provider says. */
  stopReason: Schema.optionalKey(Schema.String)
})

/** Result of `sampling/createMessage`. */
export type CreateMessageResult = typeof CreateMessageResult.Type

/** What a client knows of one of its models. Marks go from 0 to 1; a higher `cheapness` costs less. */
export interface ModelMarks {
  readonly name: string
  readonly cheapness?: number | undefined
  readonly speed?: number | undefined
  readonly intelligence?: number | undefined
}

/**
 * The model that suits a server best: the first hint that is part of a model's name decides; without a hint that fits,
 * the priorities weigh the marks (SAMP-17). `undefined` only when there are no models.
 *
 * @example
 * ```ts
 * import { Protocol } from "mcp-effect"
 *
 * const models = [{ name: "small-1", cheapness: 0.9, intelligence: 0.3 }, { name: "large-1", intelligence: 0.9 }]
 * const model = Protocol.chooseModel({ hints: [{ name: "large" }] }, models)
 * ```
 */
export const chooseModel = <M extends ModelMarks>(
  preferences: ModelPreferences | undefined,
  models: ReadonlyArray<M>
): M | undefined => {
  // Between models that a hint fits alike, the priorities decide.
  const best = (candidates: ReadonlyArray<M>): M | undefined =>
    candidates.reduce<M | undefined>(
      (chosen, model) => (chosen === undefined || weigh(model) > weigh(chosen) ? model : chosen),
      undefined
    )
  const { costPriority = 0, hints = [], intelligencePriority = 0, speedPriority = 0 } = preferences ?? {}
  const weigh = (model: M) =>
    costPriority * (model.cheapness ?? 0) +
    speedPriority * (model.speed ?? 0) +
    intelligencePriority * (model.intelligence ?? 0)
  for (const hint of hints) {
    const part = hint.name?.toLowerCase()
    if (part === undefined || part === "") continue
    const fitting = models.filter((model) => model.name.toLowerCase().includes(part))
    if (fitting.length > 0) return best(fitting)
  }
  return best(models)
}
