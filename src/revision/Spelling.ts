/**
 * How a revision of the initialize era spells what is not the same in all of them.
 *
 * A revision says only what it lacks against the next newer one; {@link older} adds that to the spelling of the newer.
 */
import type { ClientCapabilities, ServerCapabilities } from "../protocol/Capabilities.ts"
import type { CompleteRequestParams } from "../protocol/Completion.ts"
import type { ContentBlock } from "../protocol/Content.ts"
import type { ElicitRequestParams, ElicitResult } from "../protocol/Elicitation.ts"
import type { Implementation } from "../protocol/Implementation.ts"
import type { ProgressNotificationParams } from "../protocol/Progress.ts"
import type { Prompt } from "../protocol/Prompt.ts"
import type { Resource, ResourceContents, ResourceTemplate } from "../protocol/Resource.ts"
import type { Root } from "../protocol/Roots.ts"
import type { CreateMessageRequestParams, CreateMessageResult } from "../protocol/Sampling.ts"
import type { CallToolResult, Tool } from "../protocol/Tool.ts"
import { both } from "./Rewrite.ts"

/** Writes a value as a revision has it. */
export type Spell<A> = (value: A) => A

/** Says, as a whole sentence, why a revision has no way to say a value; `undefined` where it has one. */
export type Refuse<A> = (value: A) => string | undefined

/** How a revision spells the parts that differ between legacy revisions. What is absent is written as it is. */
export interface Spelling {
  /** Methods that came with a later revision of the era. */
  readonly absent?: ReadonlyArray<string> | undefined
  readonly implementation?: Spell<Implementation> | undefined
  readonly clientCapabilities?: Spell<ClientCapabilities> | undefined
  readonly serverCapabilities?: Spell<ServerCapabilities> | undefined
  readonly tool?: Spell<Tool> | undefined
  readonly prompt?: Spell<Prompt> | undefined
  readonly resource?: Spell<Resource> | undefined
  readonly resourceTemplate?: Spell<ResourceTemplate> | undefined
  /** Contents that are read; those inside a content block are for `contentBlock`. */
  readonly resourceContents?: Spell<ResourceContents> | undefined
  readonly root?: Spell<Root> | undefined
  /** A block of a tool's result or of a prompt. */
  readonly contentBlock?: Spell<ContentBlock> | undefined
  /** The result of a tool, apart from its blocks. */
  readonly callToolResult?: Spell<CallToolResult> | undefined
  readonly completeParams?: Spell<CompleteRequestParams> | undefined
  readonly progressParams?: Spell<ProgressNotificationParams> | undefined
  readonly createMessageParams?: Spell<CreateMessageRequestParams> | undefined
  readonly createMessageResult?: Spell<CreateMessageResult> | undefined
  readonly elicitParams?: Spell<ElicitRequestParams> | undefined
  readonly elicitResult?: Spell<ElicitResult> | undefined
  /** What can't be spelled, and must not be sent. */
  readonly refuseCreateMessageParams?: Refuse<CreateMessageRequestParams> | undefined
  readonly refuseCreateMessageResult?: Refuse<CreateMessageResult> | undefined
  readonly refuseElicitParams?: Refuse<ElicitRequestParams> | undefined
  readonly refuseElicitResult?: Refuse<ElicitResult> | undefined
}

const spell = <A>(newer: Spell<A> | undefined, more: Spell<A> | undefined): Spell<A> | undefined =>
  newer === undefined ? more : more === undefined ? newer : both(newer, more)

const refuse = <A>(newer: Refuse<A> | undefined, more: Refuse<A> | undefined): Refuse<A> | undefined =>
  newer === undefined ? more : more === undefined ? newer : (value) => newer(value) ?? more(value)

/** The spelling of an older revision: everything that `newer` lacks is lacking here too, and then `more`. */
export const older = (newer: Spelling, more: Spelling): Spelling => ({
  absent: [...(newer.absent ?? []), ...(more.absent ?? [])],
  implementation: spell(newer.implementation, more.implementation),
  clientCapabilities: spell(newer.clientCapabilities, more.clientCapabilities),
  serverCapabilities: spell(newer.serverCapabilities, more.serverCapabilities),
  tool: spell(newer.tool, more.tool),
  prompt: spell(newer.prompt, more.prompt),
  resource: spell(newer.resource, more.resource),
  resourceTemplate: spell(newer.resourceTemplate, more.resourceTemplate),
  resourceContents: spell(newer.resourceContents, more.resourceContents),
  root: spell(newer.root, more.root),
  contentBlock: spell(newer.contentBlock, more.contentBlock),
  callToolResult: spell(newer.callToolResult, more.callToolResult),
  completeParams: spell(newer.completeParams, more.completeParams),
  progressParams: spell(newer.progressParams, more.progressParams),
  createMessageParams: spell(newer.createMessageParams, more.createMessageParams),
  createMessageResult: spell(newer.createMessageResult, more.createMessageResult),
  elicitParams: spell(newer.elicitParams, more.elicitParams),
  elicitResult: spell(newer.elicitResult, more.elicitResult),
  refuseCreateMessageParams: refuse(newer.refuseCreateMessageParams, more.refuseCreateMessageParams),
  refuseCreateMessageResult: refuse(newer.refuseCreateMessageResult, more.refuseCreateMessageResult),
  refuseElicitParams: refuse(newer.refuseElicitParams, more.refuseElicitParams),
  refuseElicitResult: refuse(newer.refuseElicitResult, more.refuseElicitResult)
})
