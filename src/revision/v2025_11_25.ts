/**
 * Revision 2025-11-25, the last of the initialize era.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25
 */
import type { SamplingMessage } from "../protocol/Sampling.ts"
import type { SamplingMessageContentBlock } from "../protocol/Content.ts"
import { initializeEra, objectOutputSchema, objectStructuredContent } from "./InitializeEra.ts"
import type { Revision } from "./Revision.ts"
import { mapItems, mapMember, without } from "./Rewrite.ts"

const samplingBlock = (block: SamplingMessageContentBlock): SamplingMessageContentBlock =>
  block.type === "tool_result" ? objectStructuredContent(block) : block

const isList = (
  content: SamplingMessage["content"]
): content is Extract<SamplingMessage["content"], ReadonlyArray<unknown>> => Array.isArray(content)

const samplingMessage = (message: SamplingMessage): SamplingMessage =>
  mapMember(message, "content", (content) =>
    isList(content) ? mapItems(samplingBlock)(content) : samplingBlock(content)
  )

/** `tasks` of this revision is not offered: its messages are not in the tables. */
const withoutTasks = <A extends object>(capabilities: A): A => without(capabilities, ["tasks"])

/** Revision 2025-11-25. */
export const v2025_11_25: Revision = initializeEra("2025-11-25", {
  clientCapabilities: withoutTasks,
  serverCapabilities: withoutTasks,
  tool: objectOutputSchema,
  callToolResult: objectStructuredContent,
  createMessageParams: (params) => mapMember(params, "messages", mapItems(samplingMessage))
})
