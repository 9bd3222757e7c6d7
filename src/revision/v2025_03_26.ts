/**
 * Revision 2025-03-26: no titles, no structured results, no resource links, no elicitation, and `_meta` only in
 * messages (META-20).
 *
 * @see https://modelcontextprotocol.io/specification/2025-03-26
 */
import type { Annotations } from "../protocol/Annotations.ts"
import type { ContentBlock, ResourceLink, TextContent } from "../protocol/Content.ts"
import type { Prompt } from "../protocol/Prompt.ts"
import type { Tool } from "../protocol/Tool.ts"
import { initializeEra } from "./InitializeEra.ts"
import type { Revision } from "./Revision.ts"
import { mapItems, mapMember, without } from "./Rewrite.ts"
import { mapBlocks } from "./SamplingContent.ts"
import { older, type Spell, type Spelling } from "./Spelling.ts"
import { spelling2025_06_18 } from "./v2025_06_18.ts"

const withoutMeta = <A extends object>(value: A): A => without(value, ["_meta"])

const withoutTitle = <A extends object>(value: A): A => without(value, ["title"])

/** Leaves out what came with 2025-06-18 in everything that can have annotations. */
const annotated = <A extends { readonly annotations?: Annotations | undefined }>(value: A): A =>
  value.annotations !== undefined && "lastModified" in value.annotations
    ? { ...withoutMeta(value), annotations: without(value.annotations, ["lastModified"]) }
    : withoutMeta(value)

const described = <A extends { readonly annotations?: Annotations | undefined }>(value: A): A =>
  withoutTitle(annotated(value))

/** A title has its place among the hints here, unless another one is there already. */
const tool: Spell<Tool> = (value) => {
  const { title } = value
  const plain = without(value, ["title", "outputSchema", "_meta"])
  return title === undefined ? plain : { ...plain, annotations: { title, ...value.annotations } }
}

const prompt: Spell<Prompt> = (value) =>
  mapMember(withoutTitle(withoutMeta(value)), "arguments", mapItems(withoutTitle))

/** Name and URI are what a model needs to speak of a resource, or to ask for it. */
const linkAsText = ({ annotations, description, name, title, uri }: ResourceLink): TextContent => {
  const line = `${title ?? name}: ${uri}`
  return {
    type: "text",
    text: description === undefined ? line : `${line}\n${description}`,
    ...(annotations !== undefined && { annotations })
  }
}

const contentBlock: Spell<ContentBlock> = (block) => {
  switch (block.type) {
    case "resource_link":
      return annotated(linkAsText(block))
    case "resource":
      return mapMember(annotated(block), "resource", withoutMeta)
    case "text":
    case "image":
    case "audio":
      return annotated(block)
    default:
      return block
  }
}

const samplingContent = mapBlocks((block) =>
  block.type === "text" || block.type === "image" || block.type === "audio" ? annotated(block) : block
)

/** How 2025-03-26 spells the canonical messages. */
export const spelling2025_03_26: Spelling = older(spelling2025_06_18, {
  absent: ["elicitation/create"],
  implementation: withoutTitle,
  clientCapabilities: (capabilities) => without(capabilities, ["elicitation"]),
  tool,
  prompt,
  resource: described,
  resourceTemplate: described,
  resourceContents: withoutMeta,
  root: withoutMeta,
  contentBlock,
  callToolResult: (result) => without(result, ["structuredContent"]),
  completeParams: (params) => mapMember(without(params, ["context"]), "ref", withoutTitle),
  createMessageParams: (params) =>
    mapMember(
      params,
      "messages",
      mapItems((message) => mapMember(message, "content", samplingContent))
    ),
  createMessageResult: (result) => mapMember(result, "content", samplingContent)
})

/** Revision 2025-03-26, the only one with batches. */
export const v2025_03_26: Revision = initializeEra("2025-03-26", spelling2025_03_26, {
  batches: true,
  versionHeader: false,
  primingEvents: false,
  invalidArguments: "error"
})
