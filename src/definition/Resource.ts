/**
 * Resources: things that a model or a person can read, named by URI.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Base64 from "effect/encoding/Base64"
import type { McpError } from "../protocol/McpError.ts"
import * as UriTemplate from "../protocol/UriTemplate.ts"
import type {
  Annotations,
  Icon,
  Meta,
  ReadResourceResult,
  Resource as ResourceDescription,
  ResourceContents,
  ResourceTemplate as TemplateDescription
} from "../protocol/index.ts"
import type { CallContext } from "./CallContext.ts"
import { checkNames, type Completer, type Completers, type CompletersNeeds } from "./Completion.ts"

/**
 * There is nothing to read under this URI. Becomes the error that the peer's revision has for it.
 *
 * @example
 * ```ts
 * import { Effect } from "effect"
 * import { Resource } from "mcp-effect"
 *
 * const users = Resource.template("user://{id}", { name: "users" }, ({ id }) =>
 *   id === "ada" ? Effect.succeed("Ada Lovelace") : Effect.fail(new Resource.NotFound({ uri: `user://${id}` }))
 * )
 * ```
 */
export class NotFound extends Schema.TaggedError<NotFound>()("ResourceNotFound", { uri: Schema.String }) {
  override get message(): string {
    return `Resource not found: ${this.uri}`
  }
}

/** What a read gives: text, bytes, or contents that carry their own URI and type. */
export type ReadOutput = string | Uint8Array | ResourceContents | ReadonlyArray<ResourceContents>

/** How a read may fail; anything else is to be handled before. */
export type ReadError = NotFound | McpError

interface Details {
  /** The programmatic name. */
  readonly name: string
  /** A name for people. Sent from 2025-06-18 on. */
  readonly title?: string | undefined
  /** What it holds, for people and the model. */
  readonly description?: string | undefined
  /** The type of what is read, where it is always the same. */
  readonly mimeType?: string | undefined
  /** For whom it is, how important, and when it has changed. */
  readonly annotations?: Annotations | undefined
  /** Pictures for user interfaces. Sent from 2025-11-25 on. */
  readonly icons?: ReadonlyArray<Icon> | undefined
  /** Its `_meta` in lists. */
  readonly meta?: Meta | undefined
}

/**
 * Emits whenever a resource has changed. As an effect it gives such a stream once it is watching, so that no change is
 * missed after a client was told that its subscription stands; what it opens is closed with the subscription.
 */
export type Changes<R> =
  Stream.Stream<unknown, never, R> | Effect.Effect<Stream.Stream<unknown, never, R>, never, R | Scope.Scope>

/** Starts watching a resource, and gives its changes from then on. */
export type Watch<R> = Effect.Effect<Stream.Stream<unknown, never, R>, never, R | Scope.Scope>

const watchOf = <R>(changes: Changes<R> | undefined): Watch<Exclude<R, Scope.Scope>> | undefined =>
  // The subscription provides the scope, so nobody else need.
  (Stream.isStream(changes) ? Effect.succeed(changes) : changes) as Watch<Exclude<R, Scope.Scope>> | undefined

/** Options of {@link make}. */
export interface Options<R = never> extends Details {
  /** Size in bytes, before any encoding. */
  readonly size?: number | undefined
  /** Emits whenever the resource has changed. Runs only while a peer subscribes to it. */
  readonly changes?: Changes<R> | undefined
}

/** Options of {@link template}. */
export interface TemplateOptions<T extends string, C extends Completers = {}, RS = never> extends Details {
  /** Suggestions for the template's variables. */
  readonly complete?: (C & Completers) | undefined
  /** Emits whenever the resource with these variables has changed. Runs only while a peer subscribes to it. */
  readonly changes?: ((variables: UriTemplate.MatchOf<T>) => Changes<RS>) | undefined
}

/** A resource that a server offers. `R` is what reading it needs. */
export interface Fixed<out R> {
  readonly _tag: "Resource"
  /** Its URI. */
  readonly key: string
  /** The resource as `resources/list` shows it. */
  readonly description: ResourceDescription
  /** Reads it. */
  readonly read: Effect.Effect<ReadResourceResult, ReadError, R | CallContext | Scope.Scope>
  /** Starts watching it; `undefined` when it tells of no changes. */
  readonly changes: Watch<R> | undefined
}

/** A family of resources that a server offers. */
export interface Template<out R> {
  readonly _tag: "ResourceTemplate"
  /** Its URI template. */
  readonly key: string
  /** The template as `resources/templates/list` shows it. */
  readonly description: TemplateDescription
  /** What to do for a URI of the family; `undefined` when the URI is not of it; a failure when it is malformed. */
  readonly match: (uri: string) => Result.Result<Match<R> | undefined, UriTemplate.MatchFailure>
  /** Suggestions, by variable. */
  readonly complete: { readonly [variable: string]: Completer<R> | undefined }
  /** The names of its variables. */
  readonly variables: ReadonlyArray<string>
  /** Whether its resources tell of changes. */
  readonly subscribable: boolean
}

/** One resource of a template's family. */
export interface Match<out R> {
  /** Reads it. */
  readonly read: Effect.Effect<ReadResourceResult, ReadError, R | CallContext | Scope.Scope>
  /** Starts watching it; `undefined` when it tells of no changes. */
  readonly changes: Watch<R> | undefined
}

/** Either kind. */
export type Any<R> = Fixed<R> | Template<R>

/**
 * Offers one resource.
 *
 * What is not a URI is a mistake in the program, so it throws here and says why.
 *
 * @example
 * ```ts
 * import { Effect } from "effect"
 * import { Resource } from "mcp-effect"
 *
 * const motd = Resource.make("config://motd", { name: "motd", mimeType: "text/plain" }, Effect.succeed("Hello"))
 * ```
 */
export const make = <E extends ReadError, R, RS = never>(
  uri: string,
  options: Options<RS>,
  read: Effect.Effect<ReadOutput, E, R>
): Fixed<Exclude<R, CallContext | Scope.Scope> | Exclude<NoInfer<RS>, Scope.Scope>> => {
  if (!isUri(uri)) throw new TypeError(`"${uri}" is not a URI`)
  return {
    _tag: "Resource",
    key: uri,
    description: {
      uri,
      ...describe(options),
      ...(options.size !== undefined && { size: options.size })
    },
    read: contentsOf(uri, options.mimeType, read) as Fixed<Exclude<R, CallContext | Scope.Scope>>["read"],
    changes: watchOf(options.changes)
  }
}

/** Whether the characters are those of a URI, and it starts with a scheme (RES-16). */
const isUri = (text: string): boolean =>
  /^[a-z][a-z0-9+.-]*:(?:[a-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9a-f]{2})*$/i.test(text)

/**
 * Offers a family of resources under an RFC 6570 template. Variables arrive decoded; `{+path}` may hold slashes.
 *
 * A malformed template is a mistake in the program, so it throws here and says why.
 *
 * @example
 * ```ts
 * import { Effect } from "effect"
 * import { Resource } from "mcp-effect"
 *
 * const users = Resource.template("users://{id}/profile", { name: "profiles" }, ({ id }) =>
 *   id === "1" ? Effect.succeed("Ada") : Effect.fail(new Resource.NotFound({ uri: `users://${id}/profile` }))
 * )
 * ```
 */
export const template = <const T extends string, E extends ReadError, R, C extends Completers = {}, RS = never>(
  uriTemplate: T,
  options: TemplateOptions<T, C, RS>,
  read: (variables: UriTemplate.MatchOf<T>) => Effect.Effect<ReadOutput, E, R>
): Template<Exclude<R, CallContext | Scope.Scope> | CompletersNeeds<C> | Exclude<NoInfer<RS>, Scope.Scope>> => {
  type Needs = Exclude<R, CallContext | Scope.Scope> | CompletersNeeds<C> | Exclude<RS, Scope.Scope>
  const parsed = UriTemplate.parse(uriTemplate)
  if (Result.isFailure(parsed)) throw new TypeError(`"${uriTemplate}" is not a URI template: ${parsed.failure}`)
  const variables = UriTemplate.variables(parsed.success)
  checkNames(`Template "${uriTemplate}"`, options.complete ?? {}, variables)
  return {
    _tag: "ResourceTemplate",
    key: uriTemplate,
    description: { uriTemplate, ...describe(options) },
    match: (uri) =>
      Result.map(UriTemplate.match(parsed.success, uri), (variables): Match<Needs> | undefined => {
        if (variables === undefined) return undefined
        const known = variables as UriTemplate.MatchOf<T> // the type computes what `match` finds
        return {
          read: contentsOf(
            uri,
            options.mimeType,
            Effect.suspend(() => read(known))
          ) as Match<Needs>["read"],
          changes: watchOf(options.changes?.(known))
        }
      }),
    complete: (options.complete ?? {}) as { readonly [variable: string]: Completer<Needs> | undefined },
    variables,
    subscribable: options.changes !== undefined
  }
}

const describe = (details: Details) => ({
  name: details.name,
  ...(details.title !== undefined && { title: details.title }),
  ...(details.description !== undefined && { description: details.description }),
  ...(details.mimeType !== undefined && { mimeType: details.mimeType }),
  ...(details.annotations !== undefined && { annotations: details.annotations }),
  ...(details.icons !== undefined && { icons: details.icons }),
  ...(details.meta !== undefined && { _meta: details.meta })
})

const contentsOf = <E, R>(uri: string, mimeType: string | undefined, read: Effect.Effect<ReadOutput, E, R>) =>
  Effect.map(read, (output): ReadResourceResult => {
    const type = mimeType === undefined ? undefined : { mimeType }
    if (typeof output === "string") return { contents: [{ uri, ...type, text: output }] }
    if (output instanceof Uint8Array) return { contents: [{ uri, ...type, blob: Base64.encode(output) }] }
    return { contents: Predicate.isIterable(output) ? [...output] : [output as ResourceContents] }
  })
