/**
 * Finding out which era a server lives in. The client asks `server/discover` first: only a modern server has it. From
 * what comes back, or does not, it stays modern or opens a legacy session.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { ErrorCode } from "../protocol/JsonRpc.ts"
import { McpError } from "../protocol/McpError.ts"
import type { Revision } from "../revision/Revision.ts"
import type { Link } from "./Link.ts"
import { type Agreement, discover, initialize, modernAgreement, settle } from "./Opening.ts"
import type { Settings } from "./Settings.ts"

/** What a probe has shown. */
type Finding =
  | { readonly _tag: "Modern"; readonly agreement: Agreement }
  /** Not modern, by this evidence. */
  | { readonly _tag: "Legacy"; readonly evidence: McpError }

/** Opens a conversation with a server. `open` makes a connection, and is used again when the first one dies. */
export const negotiate = <R>(
  settings: Settings,
  open: Effect.Effect<Link, McpError, R>
): Effect.Effect<Agreement, McpError, R> => Effect.tap(agree(settings, open), settle(settings))

const agree = <R>(
  settings: Settings,
  open: Effect.Effect<Link, McpError, R>
): Effect.Effect<Agreement, McpError, R> => {
  if (settings.modern.length === 0) return Effect.flatMap(open, (link) => initialize(link, settings))
  if (settings.prior !== "legacy" || settings.legacy.length === 0) return probeFirst(settings, open)
  return Effect.flatMap(open, (link) =>
    Effect.catchIf(initialize(link, settings), isEvidence, () =>
      // VER-17: what was remembered no longer holds.
      Effect.andThen(link.close, probeFirst({ ...settings, prior: "modern" }, open))
    )
  )
}

const probeFirst = Effect.fnUntraced(function* <R>(
  settings: Settings,
  open: Effect.Effect<Link, McpError, R>
): Effect.fn.Return<Agreement, McpError, R> {
  const link = yield* open
  const again = Effect.andThen(
    link.close,
    Effect.flatMap(open, (next) => initialize(next, settings))
  )
  // A server that has died of the probe is started again, and then spared (BUG-144).
  const legacy = Effect.catchIf(initialize(link, settings), hasDied, () => again)
  const probing = yield* Effect.forkChild(probe(link, settings), { startImmediately: true })
  const hurried = settings.prior !== "modern" && settings.legacy.length > 0
  const found = yield* hurried
    ? Effect.timeoutOption(Fiber.join(probing), settings.probeTimeout)
    : Effect.asSome(Fiber.join(probing))
  if (Option.isNone(found)) {
    // Silent, or slow to start. A server that answers in order shows which, by what it answers first.
    return yield* Effect.ensuring(Effect.raceFirst(legacy, lateAnswer(probing)), Fiber.interrupt(probing))
  }
  const finding = found.value
  if (finding._tag === "Modern") return finding.agreement
  if (settings.legacy.length === 0) return yield* notModern(settings, finding.evidence)
  return yield* hasDied(finding.evidence) ? again : legacy
})

/** The agreement of a probe that was not waited for; never, unless the server is modern. */
const lateAnswer = (probing: Fiber.Fiber<Finding, McpError>): Effect.Effect<Agreement> =>
  Effect.matchEffect(Fiber.join(probing), {
    onFailure: () => Effect.never,
    onSuccess: (finding) => (finding._tag === "Modern" ? Effect.succeed(finding.agreement) : Effect.never)
  })

const probe = Effect.fnUntraced(function* (link: Link, settings: Settings): Effect.fn.Return<Finding, McpError> {
  const [newest] = settings.modern as [Revision, ...ReadonlyArray<Revision>] // there is one, or nobody probes
  const asked = yield* Effect.result(discover(link, settings, newest))
  if (Result.isSuccess(asked)) {
    const { supportedVersions } = asked.success
    const revision = choose(settings.modern, supportedVersions)
    if (revision !== undefined) return { _tag: "Modern", agreement: modernAgreement(link, revision, asked.success) }
    return yield* legacyOrNothing(settings, supportedVersions)
  }
  const error = asked.failure
  const supported = supportedVersionsOf(error)
  if (supported !== undefined) {
    // VER-03: the same version may be tried again, but never `initialize`: who names a modern version is modern.
    const revision = choose(settings.modern, supported)
    if (revision === undefined) return yield* legacyOrNothing(settings, supported)
    const discovered = yield* discover(link, settings, revision)
    return { _tag: "Modern", agreement: modernAgreement(link, revision, discovered) }
  }
  return isEvidence(error) ? { _tag: "Legacy", evidence: error } : yield* error
})

const choose = (spoken: ReadonlyArray<Revision>, supported: ReadonlyArray<string>): Revision | undefined =>
  spoken.find(({ version }) => supported.includes(version))

/** A modern server with which this client shares no modern revision, but perhaps an older one. */
const legacyOrNothing = (settings: Settings, supported: ReadonlyArray<string>): Effect.Effect<Finding, McpError> => {
  const evidence = McpError.unsupported(
    `The server speaks ${supported.join(", ") || "no revision at all"}; this client speaks ${spokenBy(settings)}`
  )
  return choose(settings.legacy, supported) === undefined
    ? Effect.fail(evidence)
    : Effect.succeed({ _tag: "Legacy", evidence })
}

const spokenBy = (settings: Settings): string =>
  [...settings.modern, ...settings.legacy].map(({ version }) => version).join(", ")

/** What a `-32022` lists; `undefined` for any other error, and for a list that is none. */
export const supportedVersionsOf = (error: McpError): ReadonlyArray<string> | undefined => {
  const { reason } = error
  if (reason._tag !== "ProtocolFailure" || reason.code !== ErrorCode.UnsupportedProtocolVersion) return undefined
  const supported = Predicate.isObject(reason.data) && "supported" in reason.data ? reason.data.supported : undefined
  return Array.isArray(supported) && supported.every(Predicate.isString) ? supported : undefined
}

/**
 * Whether a failure tells an era: anything but the two errors that only a modern server knows, and the statuses that
 * speak of who may come in and of whether the server is up. Never a matter of one code (BUG-142).
 */
const isEvidence = ({ reason }: McpError): boolean => {
  switch (reason._tag) {
    case "ProtocolFailure":
      return reason.code !== ErrorCode.HeaderMismatch && reason.code !== ErrorCode.MissingRequiredClientCapability
    case "TransportFailure": {
      const { status } = reason
      return status === undefined || (status < 500 && status !== 401 && status !== 403 && status !== 429)
    }
    case "LimitExceeded":
      return false
    default:
      return true
  }
}

/** Whether the connection has ended, so that there is nothing left to fall back on. */
const hasDied = ({ reason }: McpError): boolean =>
  reason._tag === "Closed" || (reason._tag === "TransportFailure" && reason.status === undefined)

const notModern = (settings: Settings, evidence: McpError): Effect.Effect<never, McpError> =>
  hasDied(evidence) || evidence.reason._tag === "Timeout" || evidence.reason._tag === "Unsupported"
    ? Effect.fail(evidence)
    : Effect.fail(
        McpError.unsupported(
          `The server does not speak ${spokenBy(settings)}: it answered server/discover with "${evidence.message}"`
        )
      )
