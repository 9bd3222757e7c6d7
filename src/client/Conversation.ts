/**
 * Requests to a server, in the canonical model: spelled as the agreed revision does, checked against what the server can
 * do, and read back.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import { type Members, type RequestId } from "../protocol/JsonRpc.ts"
import { McpError } from "../protocol/McpError.ts"
import type { ClientRequests, LoggingLevel, Meta } from "../protocol/index.ts"
import { findNotification, type Revision } from "../revision/Revision.ts"
import type { RequestOptions as SessionOptions } from "../session/Session.ts"
import { missingCapability } from "./Gate.ts"
import { modernMeta, withRequestMeta } from "./ModernMeta.ts"
import { supportedVersionsOf } from "./Negotiation.ts"
import { type Agreement, initialize, settle } from "./Opening.ts"
import type { Settings } from "./Settings.ts"

/** How far a request has come, as the server reports it. */
export interface Progress {
  /** How much is done; may be a fraction. */
  readonly progress: number
  /** The value of `progress` at the end, when the server knows it. */
  readonly total?: number | undefined
  /** For a person to read. */
  readonly message?: string | undefined
}

/** How one request is to be treated. */
export interface RequestOptions {
  /** Time without an answer after which the request is cancelled and fails with `Timeout`. Default: the client's. */
  readonly timeout?: Duration.Input | undefined
  /** Whether progress starts `timeout` anew. Default: yes, where progress is asked for. `true` asks for it (BUG-84). */
  readonly extendOnProgress?: boolean | undefined
  /** The most that extending can add up to, from the start of the request. Default 10 minutes. */
  readonly maximumTimeout?: Duration.Input | undefined
  /** Told of every progress notification, in order, before the answer. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** The least severe level of log message wanted while it runs (2026-07-28). Default: that of `setLogLevel`. */
  readonly logLevel?: LoggingLevel | undefined
  /** More members of the request's `_meta`. */
  readonly meta?: Meta | undefined
}

/** What the client itself may add to a request. */
export interface InternalOptions extends RequestOptions {
  readonly headers?: { readonly [name: string]: string } | undefined
  readonly onId?: ((id: RequestId) => void) | undefined
}

/** A conversation with one server. */
export class Conversation {
  readonly #settings: Settings
  readonly #renewing = Semaphore.makeUnsafe(1)
  #agreement: Agreement
  #logLevel: LoggingLevel | undefined
  #meta: { readonly revision: Revision; readonly value: Members } | undefined
  /** What a renewed legacy session has to be told again, besides the level of its log; by `attempt` alone. */
  readonly renewals = new Set<Effect.Effect<unknown, McpError>>()

  constructor(settings: Settings, agreement: Agreement) {
    this.#settings = settings
    this.#agreement = agreement
  }

  /** What is agreed on. */
  get agreement(): Agreement {
    return this.#agreement
  }

  /**
   * Sends a request. Fails with `Unsupported`, before anything is sent, when the revision does not have the method or a
   * legacy server did not offer it (LIFE-11); with `DecodeFailure` when the answer has not the shape that it should.
   */
  request<Method extends keyof ClientRequests>(
    method: Method,
    params: ClientRequests[Method]["params"],
    options: InternalOptions = {}
  ): Effect.Effect<ClientRequests[Method]["result"], McpError> {
    return Effect.suspend(() => {
      const agreement = this.#agreement
      return this.#send(method, params, options, (error) => {
        if (agreement.revision.era === "modern") {
          return this.#changeRevision(error) ? this.attempt(method, params, options) : Effect.fail(error)
        }
        return isForgotten(error)
          ? Effect.andThen(this.#renew(agreement), this.attempt(method, params, options))
          : Effect.fail(error)
      })
    })
  }

  /** Sends a notification; does nothing when the revision does not have it. */
  notify(method: string, params: Members): Effect.Effect<void, McpError> {
    const { link, revision } = this.#agreement
    const codec = findNotification(revision.clientNotifications, method)
    return codec === undefined ? Effect.void : link.session.notify(method, codec.params.encode(params))
  }

  /**
   * Which log messages are wanted from now on. A legacy server is told at once, and again when its session is renewed;
   * a modern one with every request that says nothing of its own (LOG-02, META-13).
   */
  setLogLevel(level: LoggingLevel | undefined): Effect.Effect<void, McpError> {
    return Effect.suspend(() => {
      const remember = Effect.sync(() => {
        this.#logLevel = level
      })
      if (this.#agreement.revision.era === "modern") return remember
      return Effect.andThen(this.request("logging/setLevel", { level: level ?? "emergency" }), remember)
    })
  }

  /** `request` without a second try. */
  attempt<Method extends keyof ClientRequests>(
    method: Method,
    params: ClientRequests[Method]["params"],
    options: InternalOptions = {}
  ): Effect.Effect<ClientRequests[Method]["result"], McpError> {
    return Effect.suspend(() => this.#send(method, params, options))
  }

  #send<Method extends keyof ClientRequests>(
    method: Method,
    params: ClientRequests[Method]["params"],
    options: InternalOptions,
    onFailure: (error: McpError) => Effect.Effect<ClientRequests[Method]["result"], McpError> = Effect.fail
  ): Effect.Effect<ClientRequests[Method]["result"], McpError> {
    const { link, revision, server } = this.#agreement
    const codec = revision.clientRequests[method]
    if (codec === undefined) {
      return Effect.fail(McpError.unsupported(`Revision ${revision.version} of the protocol has no ${method}`))
    }
    const missing = missingCapability(server, method)
    if (missing !== undefined) {
      return Effect.fail(McpError.unsupported(`The server did not declare ${missing}, which ${method} needs`))
    }
    const _meta =
      revision.era === "modern"
        ? withRequestMeta(this.#metaOf(revision), options.meta, options.logLevel ?? this.#logLevel)
        : options.meta
    const wire = codec.params.encode(_meta === undefined ? params : { ...params, _meta })
    return Effect.matchEffect(link.session.request(method, wire, this.#sessionOptions(options)), {
      onSuccess: (answer) => {
        const result = codec.result.decode(answer)
        return Result.isSuccess(result)
          ? Effect.succeed(result.success)
          : Effect.fail(McpError.decode(`The server's answer to ${method} is malformed: ${result.failure}`))
      },
      onFailure
    })
  }

  #metaOf(revision: Revision): Members {
    if (this.#meta?.revision !== revision) this.#meta = { revision, value: modernMeta(this.#settings, revision) }
    return this.#meta.value
  }

  #sessionOptions(options: InternalOptions): SessionOptions {
    const { extendOnProgress, headers, maximumTimeout, onId, onProgress, timeout = this.#settings.timeout } = options
    return {
      timeout,
      extendOnProgress,
      maximumTimeout,
      onId,
      send: headers && { headers },
      onProgress:
        onProgress === undefined
          ? extendOnProgress === true
            ? () => {}
            : undefined
          : (params) => onProgress(progressOf(params))
    }
  }

  /** On `-32022`: whether there is a revision to try again in, which is then the agreed one (VER-03). */
  #changeRevision(error: McpError): boolean {
    const supported = supportedVersionsOf(error)
    const revision = this.#settings.modern.find(({ version }) => supported?.includes(version))
    if (revision === undefined) return false
    const { server, ...rest } = this.#agreement
    this.#agreement = { ...rest, revision, server: { ...server, revision: revision.version } }
    return true
  }

  /** Opens the legacy session anew; whoever needs it meanwhile shares the one that comes of it (BUG-30, HTTP-32). */
  #renew(forgotten: Agreement): Effect.Effect<void, McpError> {
    return this.#renewing.withPermit(
      Effect.suspend(() => {
        if (this.#agreement !== forgotten) return Effect.void
        const renewed = Effect.tap(initialize(forgotten.link, this.#settings), settle(this.#settings))
        return Effect.flatMap(renewed, (agreement) => {
          this.#agreement = agreement
          const level = this.#logLevel
          return Effect.andThen(
            level === undefined ? Effect.void : Effect.ignore(this.attempt("logging/setLevel", { level })),
            Effect.forEach(this.renewals, (renewal) => Effect.ignore(renewal), { discard: true })
          )
        })
      })
    )
  }
}

/** Over HTTP, status 404 says that the server does not know the session: it did not run the request. */
const isForgotten = ({ reason }: McpError): boolean => reason._tag === "TransportFailure" && reason.status === 404

const progressOf = ({ message, progress, total }: Members): Progress => ({
  progress: progress as number, // the session has checked this one
  ...(typeof total === "number" && { total }),
  ...(typeof message === "string" && { message })
})
