/**
 * Revision 2024-11-05, the first: no sound, and no hints on what a tool does.
 *
 * `completion/complete` is there, but no capability that says so.
 *
 * @see https://modelcontextprotocol.io/specification/2024-11-05
 */
import type { AudioContent, ContentBlock, SamplingMessageContentBlock, TextContent } from "../protocol/Content.ts"
import { initializeEra } from "./InitializeEra.ts"
import type { Revision } from "./Revision.ts"
import { without } from "./Rewrite.ts"
import { blocksOfParams, blocksOfResult } from "./SamplingContent.ts"
import { older, type Spell, type Spelling } from "./Spelling.ts"
import { spelling2025_03_26 } from "./v2025_03_26.ts"

/** Who can't get the sound is at least told that there was some. */
const audioAsText = ({ annotations, mimeType }: AudioContent): TextContent => ({
  type: "text",
  text: `[Audio (${mimeType}), which can't be sent in this revision of the protocol]`,
  ...(annotations !== undefined && { annotations })
})

const contentBlock: Spell<ContentBlock> = (block) => (block.type === "audio" ? audioAsText(block) : block)

/** A model that is asked about a sound, and doesn't get it, would answer something else: so it is not asked. */
const refuseAudio = (blocks: ReadonlyArray<SamplingMessageContentBlock>): string | undefined =>
  blocks.some(({ type }) => type === "audio") ? "Audio in sampling is not in this revision of the protocol" : undefined

/** How 2024-11-05 spells the canonical messages. */
export const spelling2024_11_05: Spelling = older(spelling2025_03_26, {
  serverCapabilities: (capabilities) => without(capabilities, ["completions"]),
  tool: (tool) => without(tool, ["annotations"]),
  contentBlock,
  progressParams: (params) => without(params, ["message"]),
  refuseCreateMessageParams: (params) => refuseAudio(blocksOfParams(params)),
  refuseCreateMessageResult: (result) => refuseAudio(blocksOfResult(result))
})

/** Revision 2024-11-05. */
export const v2024_11_05: Revision = initializeEra("2024-11-05", spelling2024_11_05, {
  batches: false,
  versionHeader: false,
  primingEvents: false,
  invalidArguments: "error"
})
