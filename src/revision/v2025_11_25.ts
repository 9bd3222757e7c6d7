/**
 * Revision 2025-11-25, the last of the initialize era.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25
 */
import { initializeEra, objectOutputSchema, objectStructuredContent } from "./InitializeEra.ts"
import type { Revision } from "./Revision.ts"
import { mapItems, mapMember, without } from "./Rewrite.ts"
import { mapBlocks } from "./SamplingContent.ts"
import type { Spelling } from "./Spelling.ts"

const samplingContent = mapBlocks((block) => (block.type === "tool_result" ? objectStructuredContent(block) : block))

/** `tasks` of this revision is not offered: its messages are not in the tables. */
const withoutTasks = <A extends object>(capabilities: A): A => without(capabilities, ["tasks"])

/** How 2025-11-25 spells what 2026-07-28 says otherwise. */
export const spelling2025_11_25: Spelling = {
  clientCapabilities: withoutTasks,
  serverCapabilities: withoutTasks,
  tool: objectOutputSchema,
  callToolResult: objectStructuredContent,
  createMessageParams: (params) =>
    mapMember(
      params,
      "messages",
      mapItems((message) => mapMember(message, "content", samplingContent))
    )
}

/** Revision 2025-11-25. */
export const v2025_11_25: Revision = initializeEra("2025-11-25", spelling2025_11_25, {
  batches: false,
  versionHeader: true,
  primingEvents: true,
  invalidArguments: "result"
})
