/**
 * The options of a client, and what they come to.
 */
import * as Duration from "effect/Duration"
import type { ClientCapabilities, Icon, Implementation } from "../protocol/index.ts"
import type { Revision } from "../revision/Revision.ts"
import { revisions as known } from "../revision/Revisions.ts"
import * as SessionLimits from "../session/Limits.ts"
import { capabilitiesOf, type Handlers } from "./Handlers.ts"

/** Which era a server was found to live in, and its revision. `client.server` is one. */
export interface Verdict {
  /** `legacy` opens with `initialize`; `modern` has no handshake. */
  readonly era: "legacy" | "modern"
  /** The revision that was spoken, such as `2025-11-25`. */
  readonly revision: string
}

/** What a server may cost a client, at most. */
export interface Limits extends SessionLimits.Limits {
  /** Pages of one list. Default 1,000. */
  readonly pages: number
  /** Entries of one list. Default 100,000. */
  readonly items: number
  /** Times that one request may be answered with a question (2026-07-28). Default 10. */
  readonly rounds: number
}

/** The limits where nothing else was said. */
export const defaultLimits: Limits = { ...SessionLimits.defaults, pages: 1000, items: 100_000, rounds: 10 }

/** How results are kept (2026-07-28). */
export interface CacheOptions {
  /** Results kept at a time; the one that was not used for longest goes first. Default 256. */
  readonly capacity?: number | undefined
}

/** Options of a client. */
export interface Options {
  /** The programmatic name. */
  readonly name: string
  /** The version of this program. No format is asked for. */
  readonly version: string
  /** A name for people. */
  readonly title?: string | undefined
  /** What it is, for people. Sent from 2025-11-25 on, as are `websiteUrl` and `icons`. */
  readonly description?: string | undefined
  /** Where people can read more. */
  readonly websiteUrl?: string | undefined
  /** Pictures for user interfaces. */
  readonly icons?: ReadonlyArray<Icon> | undefined
  /** What servers may ask of this client. Default: nothing. */
  readonly handlers?: Handlers<unknown> | undefined
  /** The dated revisions to speak, of those that this package knows. Default: all. */
  readonly revisions?: ReadonlyArray<string> | undefined
  /**
   * What was found out about this server before (VER-17): the probe is skipped, or not hurried. A verdict that no longer
   * holds is found out anew.
   */
  readonly prior?: "legacy" | "modern" | Verdict | undefined
  /**
   * How long a server may take to answer the probe before `initialize` is tried too; then the era is that of what is
   * answered first. Default 5 seconds.
   */
  readonly probeTimeout?: Duration.Input | undefined
  /** Time limit of every request that sets no other. Default 60 seconds. */
  readonly timeout?: Duration.Input | undefined
  /** Whether results that a server lets one keep are kept. Default: yes. */
  readonly cache?: boolean | CacheOptions | undefined
  /** Bounds; what is left out has its default. */
  readonly limits?: Partial<Limits> | undefined
}

/** The options of a client with everything filled in. */
export interface Settings {
  readonly info: Implementation
  readonly capabilities: ClientCapabilities
  /** Modern revisions to speak, newest first. */
  readonly modern: ReadonlyArray<Revision>
  /** Legacy revisions to speak, newest first. */
  readonly legacy: ReadonlyArray<Revision>
  readonly prior: Verdict["era"] | undefined
  readonly probeTimeout: Duration.Input
  readonly timeout: number
  /** Results to keep; 0 for none. */
  readonly cacheCapacity: number
  readonly limits: Limits
}

/** Fills in the options. A revision that this package does not know is a mistake in the program, so that throws. */
export const fromOptions = (options: Options): Settings => {
  const { description, icons, name, prior, revisions = known.map(({ version }) => version), title, version } = options
  const unknown = revisions.find((wanted) => !known.some((revision) => revision.version === wanted))
  if (unknown !== undefined) throw new TypeError(`Revision ${unknown} is not known to this package`)
  if (revisions.length === 0) throw new TypeError("A client needs at least one revision to speak")
  const spoken = known.filter((revision) => revisions.includes(revision.version))
  const cache = options.cache ?? true
  return {
    info: {
      name,
      version,
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
      ...(options.websiteUrl !== undefined && { websiteUrl: options.websiteUrl }),
      ...(icons !== undefined && { icons })
    },
    capabilities: capabilitiesOf(options.handlers ?? {}),
    modern: spoken.filter((revision) => revision.era === "modern"),
    legacy: spoken.filter((revision) => revision.era === "legacy"),
    prior: typeof prior === "object" ? prior.era : prior,
    probeTimeout: Duration.toMillis(Duration.fromInputUnsafe(options.probeTimeout ?? "5 seconds")),
    timeout: Duration.toMillis(Duration.fromInputUnsafe(options.timeout ?? "60 seconds")),
    cacheCapacity: cache === false ? 0 : ((cache === true ? undefined : cache.capacity) ?? 256),
    limits: { ...defaultLimits, ...options.limits }
  }
}
