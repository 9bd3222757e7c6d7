/**
 * Revision 2025-06-18: no icons, no pages to visit, plain forms, no tools in sampling.
 *
 * Left as they are, because a JSON Schema means what its keywords say in every revision: the keywords of an input schema,
 * `$schema` too. Extensions stay in the capabilities, which are open sets in the whole era.
 *
 * @see https://modelcontextprotocol.io/specification/2025-06-18
 */
import type { ClientCapabilities } from "../protocol/Capabilities.ts"
import { initializeEra } from "./InitializeEra.ts"
import * as PlainForm from "./PlainForm.ts"
import type { Revision } from "./Revision.ts"
import { mapItems, mapMember, without } from "./Rewrite.ts"
import { refuseSeveralBlocks, refuseToolParams, singleBlockParams, singleBlockResult } from "./SamplingContent.ts"
import { older, type Spell, type Spelling } from "./Spelling.ts"
import { spelling2025_11_25 } from "./v2025_11_25.ts"

const withoutIcons = <A extends object>(value: A): A => without(value, ["icons"])

/** Elicitation is by forms here, so a client that can only show pages does not declare it (ELIC-03). */
const clientCapabilities: Spell<ClientCapabilities> = (capabilities) => {
  const { elicitation } = capabilities
  const onlyPages = elicitation?.form === undefined && elicitation?.url !== undefined
  const declared = onlyPages ? without(capabilities, ["elicitation"]) : capabilities
  return mapMember(
    mapMember(declared, "elicitation", (modes) => without(modes, ["form", "url"])),
    "sampling",
    (sampling) => without(sampling, ["context", "tools"])
  )
}

/** How 2025-06-18 spells the canonical messages. */
export const spelling2025_06_18: Spelling = older(spelling2025_11_25, {
  absent: ["notifications/elicitation/complete"],
  implementation: (value) => without(value, ["icons", "description", "websiteUrl"]),
  clientCapabilities,
  tool: (tool) => without(tool, ["icons", "execution"]),
  prompt: withoutIcons,
  resource: withoutIcons,
  resourceTemplate: withoutIcons,
  contentBlock: (block) => (block.type === "resource_link" ? withoutIcons(block) : block),
  createMessageParams: (params) =>
    mapMember(
      singleBlockParams(params),
      "messages",
      mapItems((message) => without(message, ["_meta"]))
    ),
  createMessageResult: singleBlockResult,
  elicitParams: PlainForm.elicitParams,
  refuseCreateMessageParams: refuseToolParams,
  refuseCreateMessageResult: refuseSeveralBlocks,
  refuseElicitParams: PlainForm.refuseElicitParams,
  refuseElicitResult: PlainForm.refuseElicitResult
})

/** Revision 2025-06-18. */
export const v2025_06_18: Revision = initializeEra("2025-06-18", spelling2025_06_18, {
  batches: false,
  versionHeader: true,
  primingEvents: false,
  invalidArguments: "error"
})
