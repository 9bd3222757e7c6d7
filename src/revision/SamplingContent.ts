/**
 * What is said in sampling: several blocks at a time from 2025-11-25, exactly one before (SAMP-06, SAMP-07).
 */
import type { SamplingMessageContentBlock } from "../protocol/Content.ts"
import type { CreateMessageRequestParams, CreateMessageResult, SamplingMessage } from "../protocol/Sampling.ts"
import { mapItems, mapMember, without } from "./Rewrite.ts"
import type { Refuse, Spell } from "./Spelling.ts"

type Content = SamplingMessage["content"]
type Blocks = ReadonlyArray<SamplingMessageContentBlock>

const isList = (content: Content): content is Extract<Content, Blocks> => Array.isArray(content)

const blocksOf = (content: Content): Blocks => (isList(content) ? content : [content])

/** Rewrites every block of a content. */
export const mapBlocks =
  (rewrite: Spell<SamplingMessageContentBlock>): Spell<Content> =>
  (content) =>
    isList(content) ? mapItems(rewrite)(content) : rewrite(content)

/** Every block of a conversation. */
export const blocksOfParams = ({ messages }: CreateMessageRequestParams): Blocks =>
  messages.flatMap(({ content }) => blocksOf(content))

/** Every block of an answer. */
export const blocksOfResult = ({ content }: CreateMessageResult): Blocks => blocksOf(content)

const oneBlockEach = (messages: ReadonlyArray<SamplingMessage>): ReadonlyArray<SamplingMessage> =>
  messages.some(({ content }) => isList(content))
    ? messages.flatMap((message) => blocksOf(message.content).map((content) => ({ ...message, content })))
    : messages

/**
 * Gives every block a message of its own: several of the same role in a row say what one with several blocks does.
 * Tools are left out; {@link refuseToolParams} sees to it that they were not needed.
 */
export const singleBlockParams: Spell<CreateMessageRequestParams> = (params) =>
  mapMember(without(params, ["tools", "toolChoice"]), "messages", oneBlockEach)

/** Makes an answer one block. Only text can be joined; {@link refuseSeveralBlocks} stops the rest. */
export const singleBlockResult: Spell<CreateMessageResult> = (result) =>
  mapMember(result, "content", (content): Content => {
    if (!isList(content)) return content
    const [first, ...others] = content
    if (first !== undefined && others.length === 0) return first
    return { type: "text", text: content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n") }
  })

const usesTools = (blocks: Blocks): boolean => blocks.some(({ type }) => type === "tool_use" || type === "tool_result")

/** A conversation with tools can't be had before 2025-11-25 (SAMP-08). */
export const refuseToolParams: Refuse<CreateMessageRequestParams> = (params) =>
  (params.tools !== undefined && params.tools.length > 0) || usesTools(blocksOfParams(params))
    ? "Sampling with tools is not in this revision of the protocol"
    : undefined

/** An answer that uses tools, or of several blocks that are not all text, can't be given before 2025-11-25. */
export const refuseSeveralBlocks: Refuse<CreateMessageResult> = (result) => {
  const blocks = blocksOfResult(result)
  if (usesTools(blocks)) return "Sampling with tools is not in this revision of the protocol"
  return blocks.length > 1 && blocks.some(({ type }) => type !== "text")
    ? "An answer in sampling is one block of content in this revision of the protocol"
    : undefined
}
