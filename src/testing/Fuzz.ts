/**
 * Made-up messages, for finding out what a server, a client or a single tool does with what nobody thought of. Every
 * generator is derived from the schemas that the runtime itself reads with, so none is missing and none is out of date.
 *
 * The generators are arbitraries of `fast-check`, which prints the seed of a failure and shrinks it. It is the user's to
 * install; nothing else here needs it.
 */
import type * as Schema from "effect/Schema"
import type * as FastCheck from "fast-check"
import type * as Tool from "../definition/Tool.ts"
import type * as JsonRpc from "../protocol/JsonRpc.ts"
import { MetaKey } from "../protocol/index.ts"
import type { Codec } from "../revision/Codec.ts"
import type { Revision } from "../revision/Revision.ts"
import { findRevision } from "../revision/Revisions.ts"
import * as MessageSchemas from "./MessageSchemas.ts"
import * as Mutation from "./Mutation.ts"
import { type FastCheckModule, make as fromSchema } from "./SchemaArbitrary.ts"

export type { FastCheckModule } from "./SchemaArbitrary.ts"

/** How far hostile values go. */
export interface Options {
  /** The deepest nesting of JSON text. Default 5,000. */
  readonly depth?: number | undefined
  /** The longest string, in UTF-16 units. Default 20,000. */
  readonly length?: number | undefined
  /** The most changes made to one valid value. Default 3. */
  readonly changes?: number | undefined
}

/** Generators. All values are JSON; all text may be sent as it is. */
export interface Fuzz {
  /** JSON that a schema takes. */
  readonly schema: (schema: Schema.Constraint) => FastCheck.Arbitrary<unknown>
  /** Arguments that a tool takes, as a client sends them. */
  readonly arguments: (tool: Tool.Any) => FastCheck.Arbitrary<JsonRpc.Members>
  /**
   * Arguments that a client should not send: of the wrong types, without members that must be there, with strange ones,
   * deeply nested, very long. Some of them may be right all the same.
   */
  readonly hostileArguments: (tool: Tool.Any) => FastCheck.Arbitrary<JsonRpc.Members>
  /** A valid message of a client in a revision such as `2025-11-25`: request, notification or answer. */
  readonly clientMessage: (revision: string) => FastCheck.Arbitrary<JsonRpc.Message>
  /** A valid message of a server in a revision. */
  readonly serverMessage: (revision: string) => FastCheck.Arbitrary<JsonRpc.Message>
  /** A result that may answer a request of a client in a revision. */
  readonly result: (revision: string, method: string) => FastCheck.Arbitrary<JsonRpc.Members>
  /** Hostile JSON text made of valid values: members changed, removed, added, repeated, wrapped. Always well-formed. */
  readonly mutated: (valid: FastCheck.Arbitrary<unknown>) => FastCheck.Arbitrary<string>
  /** Text that is hardly ever what anyone expects, with what framings cut at strewn in. */
  readonly text: FastCheck.Arbitrary<string>
  /** A text with a few of its characters gone, doubled or replaced. */
  readonly damaged: (text: FastCheck.Arbitrary<string>) => FastCheck.Arbitrary<string>
  /** Bytes cut into chunks anywhere, in the middle of characters too. */
  readonly chunks: (bytes: FastCheck.Arbitrary<Uint8Array>) => FastCheck.Arbitrary<ReadonlyArray<Uint8Array>>
}

/**
 * Makes generators.
 *
 * @example
 * ```ts
 * import { Effect, Schema } from "effect"
 * import * as fc from "fast-check"
 * import { McpClient, McpServer, Tool } from "mcp-effect"
 * import { Fuzz, McpTest } from "mcp-effect/testing"
 *
 * const Shout = Tool.make("shout", { input: Schema.Struct({ text: Schema.String }), output: Schema.String })
 * const server = McpServer.make({
 *   name: "shouter",
 *   version: "1.0.0",
 *   tools: [Tool.handle(Shout, ({ text }) => Effect.succeed(text.toUpperCase()))]
 * })
 *
 * const fuzz = Fuzz.make(fc)
 *
 * // Whatever a client sends, the tool answers, and never with an internal error.
 * const property = fc.asyncProperty(fuzz.hostileArguments(Shout), (args) =>
 *   McpClient.McpClient.pipe(
 *     Effect.flatMap((client) => Effect.result(client.callTool("shout", args))),
 *     Effect.map((result) => result._tag === "Success" || !result.failure.message.includes("Internal error")),
 *     Effect.provide(McpTest.layer(server)),
 *     Effect.runPromise
 *   )
 * )
 *
 * const check = () => fc.assert(property, { numRuns: 1000 })
 * ```
 */
export const make = (fc: FastCheckModule, options: Options = {}): Fuzz => {
  const sizes: Mutation.Sizes = { depth: options.depth ?? 5000, length: options.length ?? 20_000 }
  const changes = options.changes ?? 3
  const known = new Map<Schema.Constraint, FastCheck.Arbitrary<unknown>>()

  const schema = (schema: Schema.Constraint): FastCheck.Arbitrary<unknown> => {
    const arbitrary = known.get(schema) ?? fromSchema(fc, schema)
    known.set(schema, arbitrary)
    return arbitrary
  }
  const members = (of: Schema.Constraint) => schema(of) as FastCheck.Arbitrary<JsonRpc.Members> // of messages: objects

  const mutated = (valid: FastCheck.Arbitrary<unknown>) => Mutation.mutatedText(fc, valid, sizes, changes)

  const spelled = (of: ReadonlyArray<Schema.Constraint>, codec: Codec<unknown>) =>
    fc
      .oneof(...of.map(members))
      .filter((value) => codec.refuse?.(value) === undefined)
      .map((value) => codec.encode(value))

  const id = fc.oneof(fc.nat({ max: 20 }), fc.string({ maxLength: 6 }), fc.maxSafeInteger())
  const failure: FastCheck.Arbitrary<JsonRpc.Message> = fc.record({
    jsonrpc: fc.constant("2.0" as const),
    id,
    error: fc.record(
      { code: fc.integer(), message: fc.string(), data: fc.jsonValue({ maxDepth: 2 }) },
      { requiredKeys: ["code", "message"] }
    )
  })

  const requests = (table: object, schemas: object, finish: (params: JsonRpc.Members) => JsonRpc.Members) =>
    entries(table, schemas, (codec: RequestCodec, { params }: RequestSchemas, method) =>
      fc.record({
        jsonrpc: fc.constant("2.0" as const),
        id,
        method: fc.constant(method),
        params: spelled([params], codec.params).map(finish)
      })
    )

  const answers = (table: object, schemas: object) =>
    entries(table, schemas, (codec: RequestCodec, { results }: RequestSchemas) =>
      fc.record({ jsonrpc: fc.constant("2.0" as const), id, result: spelled(results, codec.result) })
    )

  const notifications = (table: object, schemas: object) =>
    entries(table, schemas, (codec: NotificationCodec, params: Schema.Constraint, method) =>
      fc.record({
        jsonrpc: fc.constant("2.0" as const),
        method: fc.constant(method),
        params: spelled([params], codec.params)
      })
    )

  const clientMessage = (version: string): FastCheck.Arbitrary<JsonRpc.Message> => {
    const revision = revisionOf(version)
    return fc.oneof(
      ...requests(revision.clientRequests, MessageSchemas.clientRequests, withMeta(revision)),
      ...notifications(revision.clientNotifications, MessageSchemas.clientNotifications),
      ...(revision.era === "legacy" ? answers(revision.serverRequests, MessageSchemas.serverRequests) : []),
      failure
    )
  }

  const serverMessage = (version: string): FastCheck.Arbitrary<JsonRpc.Message> => {
    const revision = revisionOf(version)
    return fc.oneof(
      ...(revision.era === "legacy"
        ? requests(revision.serverRequests, MessageSchemas.serverRequests, (params) => params)
        : []),
      ...notifications(revision.serverNotifications, MessageSchemas.serverNotifications),
      ...answers(revision.clientRequests, MessageSchemas.clientRequests),
      failure
    )
  }

  const result = (version: string, method: string): FastCheck.Arbitrary<JsonRpc.Members> => {
    const codec = (revisionOf(version).clientRequests as { readonly [method: string]: RequestCodec | undefined })[
      method
    ]
    const schemas = (MessageSchemas.clientRequests as { readonly [method: string]: RequestSchemas | undefined })[method]
    if (codec === undefined || schemas === undefined) throw new TypeError(`Revision ${version} has no ${method}`)
    return spelled(schemas.results, codec.result)
  }

  const args = (tool: Tool.Any) => members(tool.input)
  const text = fc
    .array(
      fc.oneof(
        fc.string({ unit: "binary", maxLength: 12 }),
        fc.constantFrom(...separators),
        fc.constantFrom(
          "{",
          "}",
          "[",
          "]",
          '"',
          ",",
          ":",
          "\\",
          "\\u",
          "null",
          "1e9",
          "data:",
          "id:",
          "event:",
          "retry:"
        )
      ),
      { maxLength: 12 }
    )
    .map((parts) => parts.join(""))

  return {
    schema,
    arguments: args,
    hostileArguments: (tool) =>
      Mutation.mutatedText(fc, args(tool), { ...sizes, depth: Math.min(sizes.depth, 500) }, changes)
        .map((json): unknown => JSON.parse(json))
        .filter(
          (value): value is JsonRpc.Members => typeof value === "object" && value !== null && !Array.isArray(value)
        ),
    clientMessage,
    serverMessage,
    result,
    mutated,
    text,
    damaged: (valid) =>
      fc
        .tuple(
          valid,
          fc.array(fc.tuple(fc.nat({ max: 400 }), fc.nat({ max: 3 }), fc.string({ unit: "binary", maxLength: 3 })), {
            maxLength: 4
          })
        )
        .map(([whole, damages]) =>
          damages.reduce((left, [at, length, put]) => {
            const start = left === "" ? 0 : at % left.length
            return left.slice(0, start) + put + left.slice(start + length)
          }, whole)
        ),
    chunks: (bytes) =>
      fc.tuple(bytes, fc.array(fc.nat({ max: 10_000 }), { maxLength: 8 })).map(([whole, at]) => cut(whole, at))
  }
}

interface RequestCodec {
  readonly params: Codec<unknown>
  readonly result: Codec<unknown>
}

interface RequestSchemas {
  readonly params: Schema.Constraint
  readonly results: ReadonlyArray<Schema.Constraint>
}

interface NotificationCodec {
  readonly params: Codec<unknown>
}

/** What framings cut at, and what is often taken for it. */
const separators = [
  "\n",
  "\r",
  "\r\n",
  "\n\n",
  "\u2028",
  "\u2029",
  "\u0085",
  "\ufeff",
  "\u0000",
  " ",
  "\t",
  ":",
  ";",
  "="
]

/** Both halves of what a revision has, by method. */
const entries = <C, S, A>(
  table: object,
  schemas: object,
  f: (codec: C, schemas: S, method: string) => FastCheck.Arbitrary<A>
): ReadonlyArray<FastCheck.Arbitrary<A>> =>
  Object.entries(table as { readonly [method: string]: C }).map(([method, codec]) =>
    f(codec, (schemas as { readonly [method: string]: S })[method] as S, method)
  )

const revisionOf = (version: string): Revision => {
  const revision = findRevision(version)
  if (revision === undefined) throw new TypeError(`Revision ${version} is not known to this package`)
  return revision
}

/** A modern request says in `_meta` which revision it is written in, and what its sender can do (META-10, META-11). */
const withMeta =
  (revision: Revision) =>
  (params: JsonRpc.Members): JsonRpc.Members => {
    if (revision.era === "legacy") return params
    const meta = params._meta as JsonRpc.Members | undefined
    return {
      ...params,
      _meta: { [MetaKey.clientCapabilities]: {}, ...meta, [MetaKey.protocolVersion]: revision.version }
    }
  }

const cut = (bytes: Uint8Array, at: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const edges = [0, ...at.map((position) => position % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]
  return edges.slice(1).map((end, index) => bytes.subarray(edges[index], end))
}
