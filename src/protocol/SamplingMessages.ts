/**
 * The order that tool calls and their results keep in a conversation for sampling (SAMP-10, SAMP-11, SAMP-12).
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/sampling#tool-use
 */
import type { SamplingMessage, SamplingMessageContentBlock } from "./index.ts"

type Blocks = ReadonlyArray<SamplingMessageContentBlock>

const blocksOf = ({ content }: SamplingMessage): Blocks =>
  Array.isArray(content) ? (content as Blocks) : [content as SamplingMessageContentBlock]

const member = (block: SamplingMessageContentBlock, name: string): unknown =>
  (block as { readonly [name: string]: unknown })[name]

/** What is wrong with the tool results of a conversation; `undefined` when nothing is. */
export const toolResultProblem = (messages: ReadonlyArray<SamplingMessage>): string | undefined => {
  let open: ReadonlyArray<unknown> = []
  for (const message of messages) {
    const blocks = blocksOf(message)
    const results = blocks.filter(({ type }) => type === "tool_result").map((block) => member(block, "toolUseId"))
    if (results.length > 0 && results.length < blocks.length) {
      return "A message with tool results must hold nothing else"
    }
    if (!open.every((id) => results.includes(id))) return "Every tool use must be answered in the next message"
    if (!results.every((id) => open.includes(id))) return "A tool result answers no tool use of the message before it"
    open = blocks.filter(({ type }) => type === "tool_use").map((block) => member(block, "id"))
  }
  return open.length > 0 ? "Every tool use must be answered in the next message" : undefined
}
