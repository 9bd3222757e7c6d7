/**
 * What a server offers, so that scenarios know what to ask for.
 */
import type { Arguments, Reference } from "./Conversation.ts"

/** A call, and what its answer has to contain. */
export interface Call {
  readonly name: string
  readonly args: Arguments
  readonly text: string
  /** Makes it possible, when it changes what it works on. */
  readonly prepare?: (() => void) | undefined
}

/** What there is to try. What is absent is not offered. */
export interface Offer {
  readonly call: Call
  /** A call with structured content, and a part of that. */
  readonly structured?: (Omit<Call, "text"> & { readonly content: Arguments }) | undefined
  /** A call that answers with `isError`. */
  readonly fail?: Call | undefined
  /** A call that reports progress, at least so often. */
  readonly progress?: (Call & { readonly atLeast: number }) | undefined
  /** A call that logs. */
  readonly log?: Call | undefined
  /** A call that takes long. */
  readonly cancel?: Cancel | undefined
  readonly elicit?: Call | undefined
  readonly sample?: Call | undefined
  readonly roots?: Call | undefined
  readonly resource?: { readonly uri: string; readonly text: string } | undefined
  /** A resource that there is not. */
  readonly missing?: string | undefined
  readonly template?: string | undefined
  readonly prompt?:
    { readonly name: string; readonly args: { readonly [name: string]: string }; readonly text: string } | undefined
  readonly complete?:
    | { readonly ref: Reference; readonly name: string; readonly value: string; readonly values: ReadonlyArray<string> }
    | undefined
  readonly subscribe?: { readonly uri: string; readonly change: () => void } | undefined
}

export interface Cancel extends Omit<Call, "text"> {
  /** It reports progress, so that one can tell that it runs; else a moment has to do. */
  readonly reports: boolean
  /** A tool that says how many calls were cancelled. */
  readonly counter?: string | undefined
}
