/**
 * What a client of any library can do with a server, in the words of the scenarios.
 */
import type { Wire } from "./Wire.ts"

/** Where a server is. */
export type Target =
  | { readonly transport: "stdio"; readonly command: string; readonly args: ReadonlyArray<string> }
  | { readonly transport: "http" | "sse"; readonly url: string }

/** What a tool answered: its text, joined by newlines. */
export interface Answer {
  readonly isError: boolean
  readonly text: string
  readonly structured: unknown
}

export interface CallOptions {
  readonly onProgress?: ((progress: number) => void) | undefined
  /** Cancels the call. */
  readonly signal?: AbortSignal | undefined
}

/** A connection to a server. What is absent is what the client has no way to do. */
export interface Conversation {
  /** The revision that the client says was negotiated, if it says so. */
  readonly revision?: string | undefined
  /** The capabilities that the server declared, if the client tells. */
  readonly capabilities?: { readonly [name: string]: unknown } | undefined
  readonly listTools: () => Promise<ReadonlyArray<string>>
  readonly listResources: () => Promise<ReadonlyArray<string>>
  readonly listTemplates?: () => Promise<ReadonlyArray<string>>
  readonly listPrompts: () => Promise<ReadonlyArray<string>>
  readonly call: (name: string, args: Arguments, options?: CallOptions) => Promise<Answer>
  /** The text of all contents, or their blobs. */
  readonly read: (uri: string) => Promise<string>
  /** The text of all messages. */
  readonly prompt: (name: string, args: { readonly [name: string]: string }) => Promise<string>
  readonly complete?: (ref: Reference, name: string, value: string) => Promise<ReadonlyArray<string>>
  /** Asks for log messages of every level. */
  readonly wantLogs?: () => Promise<void>
  /** Watches a resource, until the connection ends; tells of its URI on every change. */
  readonly subscribe?: (uri: string, onUpdate: (uri: string) => void) => Promise<void>
  readonly ping?: () => Promise<void>
  readonly close: () => Promise<void>
}

export type Arguments = { readonly [name: string]: unknown }

export type Reference =
  { readonly type: "ref/prompt"; readonly name: string } | { readonly type: "ref/resource"; readonly uri: string }

/** What a client does when it is asked, and whom it tells of logs. */
export interface Handlers {
  readonly onLog: (data: unknown) => void
}

/** A client of some library. */
export interface ClientKind {
  readonly name: string
  readonly transports: ReadonlyArray<Target["transport"]>
  /** Revisions that it can be told to speak. */
  readonly revisions: ReadonlyArray<string>
  /** Whether it can be left to find out by itself what to speak. */
  readonly negotiates: boolean
  /** What it lets its caller do with a call that is under way. */
  readonly shows: { readonly progress: boolean; readonly cancellation: boolean }
  /** What it answers when a server asks. */
  readonly answers: ReadonlyArray<"elicit" | "sample" | "roots">
  /** Connects. `wire` is what a client may look at that can't say what it has negotiated. */
  readonly connect: (
    target: Target,
    revision: string | undefined,
    handlers: Handlers,
    wire: Wire
  ) => Promise<Conversation>
}

export const info = { name: "interop", version: "1.0.0" } as const

/** The root that every client has. */
export const root = { uri: "file:///interop", name: "interop" } as const

/** What every client's model says. */
export const said = "Something"

/** A person who fills in what is required, with the same things always. */
export const fillIn = (form: {
  readonly properties?: { readonly [name: string]: unknown } | undefined
  readonly required?: ReadonlyArray<string> | undefined
}): { [name: string]: string | number | boolean } =>
  Object.fromEntries(
    (form.required ?? []).map((name) => {
      const { format, type } = (form.properties?.[name] ?? {}) as { readonly format?: string; readonly type?: string }
      if (type === "boolean") return [name, true]
      if (type === "number" || type === "integer") return [name, 1]
      return [name, format === "email" ? "ada@example.org" : "Ada"]
    })
  )

/** The text in blocks of content, or in the contents of resources. */
export const textIn = (blocks: ReadonlyArray<unknown>): string =>
  (
    blocks as ReadonlyArray<{
      readonly text?: string
      readonly blob?: string
      readonly data?: string
      readonly resource?: object
    }>
  )
    .map(
      (block) =>
        block.text ?? block.blob ?? block.data ?? (block.resource === undefined ? "" : textIn([block.resource]))
    )
    .join("\n")
