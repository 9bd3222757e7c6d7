/**
 * Content blocks: what tools, prompts and models say.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
 */
import * as Schema from "effect/Schema"
import * as Base64 from "effect/encoding/Base64"
import { Annotations } from "./Annotations.ts"
import { JsonObject } from "./Json.ts"
import { Meta } from "./Meta.ts"
import { type Resource, ResourceContents, resourceMembers } from "./Resource.ts"

const meta = { _meta: Schema.optionalKey(Meta) }
const annotated = { ...meta, annotations: Schema.optionalKey(Annotations) }

/** Text. */
export const TextContent = Schema.Struct({ ...annotated, type: Schema.Literal("text"), text: Schema.String })

/** Text. */
export type TextContent = typeof TextContent.Type

/** A picture; `data` is standard Base64. */
export const ImageContent = Schema.Struct({
  ...annotated,
  type: Schema.Literal("image"),
  data: Schema.String,
  mimeType: Schema.String
})

/** A picture. */
export type ImageContent = typeof ImageContent.Type

/** Sound (from 2025-03-26); `data` is standard Base64. */
export const AudioContent = Schema.Struct({
  ...annotated,
  type: Schema.Literal("audio"),
  data: Schema.String,
  mimeType: Schema.String
})

/** Sound. */
export type AudioContent = typeof AudioContent.Type

/** A resource that the client can read, not its contents (from 2025-06-18). It need not be listed (TOOL-22). */
export const ResourceLink = Schema.Struct({ ...resourceMembers, type: Schema.Literal("resource_link") })

/** A resource that the client can read. */
export type ResourceLink = typeof ResourceLink.Type

/** Contents of a resource, inside the message. */
export const EmbeddedResource = Schema.Struct({
  ...annotated,
  type: Schema.Literal("resource"),
  resource: ResourceContents
})

/** Contents of a resource, inside the message. */
export type EmbeddedResource = typeof EmbeddedResource.Type

/**
 * A block of a type that is not known here: one that a later revision or an extension may define. It passes, so that one
 * new kind of block does not lose the message around it; it is typed `never`, so that code which switches over `type`
 * needs no case that it could do nothing about.
 */
const foreignBlock = (types: ReadonlyArray<string>): Schema.Codec<never> => {
  const isForeign = Schema.makeFilter((type: string) => !types.includes(type), { expected: "a content block" })
  // The cast is the point: see above.
  return Schema.StructWithRest(Schema.Struct({ type: Schema.String.check(isForeign) }), [
    JsonObject
  ]) as unknown as Schema.Codec<never>
}

const contentTypes = ["text", "image", "audio", "resource_link", "resource"]

/**
 * What tools and prompts can say (TOOL-16, PROMPT-05). The type has the five kinds of the specification; a peer may
 * send others, which pass unread ({@link isKnownContent} tells).
 */
export const ContentBlock = Schema.Union([
  TextContent,
  ImageContent,
  AudioContent,
  ResourceLink,
  EmbeddedResource,
  foreignBlock(contentTypes)
]).annotate({ expected: "a content block" })

/** What tools and prompts can say. */
export type ContentBlock = typeof ContentBlock.Type

/** Whether a block is of one of the five kinds of the specification. */
export const isKnownContent = (block: { readonly type: string }): block is ContentBlock =>
  contentTypes.includes(block.type)

/** The model wants a tool called (sampling, from 2025-11-25). */
export const ToolUseContent = Schema.Struct({
  ...meta,
  type: Schema.Literal("tool_use"),
  id: Schema.String,
  name: Schema.String,
  input: JsonObject
})

/** The model wants a tool called. */
export type ToolUseContent = typeof ToolUseContent.Type

/** What that tool said (sampling, from 2025-11-25). `structuredContent` is any JSON from 2026-07-28, an object before. */
export const ToolResultContent = Schema.Struct({
  ...meta,
  type: Schema.Literal("tool_result"),
  toolUseId: Schema.String,
  content: Schema.Array(ContentBlock),
  structuredContent: Schema.optionalKey(Schema.Unknown),
  isError: Schema.optionalKey(Schema.Boolean)
})

/** What that tool said. */
export type ToolResultContent = typeof ToolResultContent.Type

/** What is said in sampling (SAMP-05); as tolerant as {@link ContentBlock}. */
export const SamplingMessageContentBlock = Schema.Union([
  TextContent,
  ImageContent,
  AudioContent,
  ToolUseContent,
  ToolResultContent,
  foreignBlock(["text", "image", "audio", "tool_use", "tool_result"])
]).annotate({ expected: "a content block" })

/** What is said in sampling. */
export type SamplingMessageContentBlock = typeof SamplingMessageContentBlock.Type

/** What every kind of content can carry. */
export interface ContentOptions {
  readonly annotations?: Annotations
  readonly _meta?: Meta
}

const base64 = (data: Uint8Array | string): string => (typeof data === "string" ? data : Base64.encode(data))

/** Builds text. */
export const text = (text: string, options?: ContentOptions): TextContent => ({ type: "text", text, ...options })

/** Builds a picture from bytes, or from text that is Base64 already. */
export const image = (data: Uint8Array | string, mimeType: string, options?: ContentOptions): ImageContent => ({
  type: "image",
  data: base64(data),
  mimeType,
  ...options
})

/** Builds sound from bytes, or from text that is Base64 already. */
export const audio = (data: Uint8Array | string, mimeType: string, options?: ContentOptions): AudioContent => ({
  type: "audio",
  data: base64(data),
  mimeType,
  ...options
})

/** Builds a link to a resource. */
export const resourceLink = (uri: string, name: string, options?: Omit<Resource, "uri" | "name">): ResourceLink => ({
  type: "resource_link",
  uri,
  name,
  ...options
})

/** Builds an embedded resource. Make the contents with `textContents` or `blobContents`. */
export const embeddedResource = (resource: ResourceContents, options?: ContentOptions): EmbeddedResource => ({
  type: "resource",
  resource,
  ...options
})
