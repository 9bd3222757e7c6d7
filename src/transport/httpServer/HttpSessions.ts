/**
 * The legacy sessions of an HTTP server: opened by `initialize`, ended by DELETE, by idling too long or by shutdown, and
 * never more than so many.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Base64Url from "effect/encoding/Base64Url"
import * as JsonRpc from "../../protocol/JsonRpc.ts"
import type { McpError } from "../../protocol/McpError.ts"
import { findRevision } from "../../revision/Revisions.ts"
import type { Store } from "../EventStore.ts"
import { Recency, Used } from "../Recency.ts"
import type { Outlet, Principal } from "../Transport.ts"
import type { SessionPeer } from "./Endpoint.ts"
import * as Refusal from "./Refusal.ts"
import { type Owner, SessionStream } from "./SessionStream.ts"

/** Options of the table. */
export interface Options {
  /** Sessions at a time. When there are more, the one that idled longest is ended. Default 10,000. */
  readonly maximumSessions?: number | undefined
  /** Sessions of one principal at a time. When there are more, its own that idled longest is ended. Default 100. */
  readonly sessionsPerPrincipal?: number | undefined
  /**
   * How long a session may be without requests and streams before it is ended. A client that only listens is asked with
   * `ping` whether it is there, after as long. Default 30 minutes.
   */
  readonly sessionIdle?: Duration.Input | undefined
}

/** Why there is no session. */
export interface Refused {
  readonly status: number
  readonly error: JsonRpc.ErrorObject
}

/** One session. */
export class HttpSession extends Used implements Owner {
  readonly id: string
  readonly principal: Principal | undefined
  readonly store: Store
  readonly retry: number
  readonly scope: Scope.Closeable
  readonly streams = new Map<string, SessionStream>()
  /** For what belongs to no request. */
  readonly standalone: SessionStream
  peer!: SessionPeer
  usedAt: number
  #streams = 0

  readonly now: () => number

  constructor(id: string, principal: Principal | undefined, store: Store, retry: number, now: () => number) {
    super()
    this.now = now
    this.id = id
    this.principal = principal
    this.store = store
    this.retry = retry
    this.usedAt = now()
    this.scope = Scope.makeUnsafe()
    this.standalone = this.stream()
  }

  get primes(): boolean {
    return findRevision(this.peer.revision ?? "")?.primingEvents === true
  }

  /** Whether someone is being served or listens. */
  get isActive(): boolean {
    return this.peer.inFlight > 0 || this.standalone.isConnected
  }

  /** Opens a stream. */
  stream(): SessionStream {
    const stream = new SessionStream((this.#streams++).toString(36), this)
    this.streams.set(stream.id, stream)
    return stream
  }

  /** Forgets streams that were delivered to their end long ago; a store may still have their events. */
  prune(keep: number): void {
    if (this.streams.size <= keep) return
    for (const [id, stream] of this.streams) {
      if (this.streams.size <= keep) return
      if (stream.isComplete && !stream.isConnected) this.streams.delete(id)
    }
  }
}

/** The sessions of a server. */
export class HttpSessions {
  readonly #open: (outlet: Outlet) => Effect.Effect<SessionPeer, never, Scope.Scope>
  readonly #store: Store
  readonly #retry: number
  readonly #clock: Clock.Clock
  readonly #fork: (effect: Effect.Effect<void>) => Fiber.Fiber<void>
  readonly #maximum: number
  readonly #maximumEach: number
  readonly #idle: number
  readonly #sessions = new Map<string, HttpSession>()
  /** The same by last use: the oldest is the one that idled longest. */
  readonly #used = new Recency<HttpSession>()
  /** How many sessions each principal has. */
  readonly #held = new Map<string, number>()
  #sweeping = false

  constructor(
    open: (outlet: Outlet) => Effect.Effect<SessionPeer, never, Scope.Scope>,
    options: Options & { readonly store: Store; readonly retry: number; readonly clock: Clock.Clock },
    fork: (effect: Effect.Effect<void>) => Fiber.Fiber<void>
  ) {
    this.#open = open
    this.#store = options.store
    this.#retry = options.retry
    this.#clock = options.clock
    this.#fork = fork
    this.#maximum = options.maximumSessions ?? 10_000
    this.#maximumEach = options.sessionsPerPrincipal ?? 100
    this.#idle = Duration.toMillis(Duration.fromInputUnsafe(options.sessionIdle ?? Duration.minutes(30)))
  }

  get size(): number {
    return this.#sessions.size
  }

  /** The session with this id, if it is this principal's. Finding it counts as use. */
  find(id: string, principal: Principal | undefined): HttpSession | undefined {
    const session = this.#sessions.get(id)
    // Knowing the id of a session is not being its owner (SEC-09).
    if (session === undefined || session.principal?.subject !== principal?.subject) return undefined
    this.#touch(session)
    return session
  }

  /** Opens a session; refuses to when there are too many and all of them are in use. */
  open(principal: Principal | undefined): Effect.Effect<HttpSession | Refused> {
    return Effect.gen({ self: this }, function* () {
      const subject = principal?.subject
      if (subject !== undefined && (this.#held.get(subject) ?? 0) >= this.#maximumEach) {
        const made = yield* this.#evict((session) => session.principal?.subject === subject)
        if (!made) return { status: 429, error: Refusal.tooManySessionsEach(this.#maximumEach) }
      }
      if (this.#sessions.size >= this.#maximum && !(yield* this.#evict(() => true))) {
        return { status: 503, error: Refusal.tooManySessions }
      }
      const id = Base64Url.encode(SecureRandom.randomBytesUnsafe(24))
      const now = () => this.#clock.currentTimeMillisUnsafe()
      const session = new HttpSession(id, principal, this.#store, this.#retry, now)
      const send = (message: JsonRpc.Outgoing) =>
        Effect.suspend(() => session.standalone.send(JsonRpc.stringify(message)))
      const outlet: Outlet = { send, principal }
      session.peer = yield* Scope.provide(this.#open(outlet), session.scope)
      this.#sessions.set(id, session)
      this.#used.use(session)
      if (subject !== undefined) this.#held.set(subject, (this.#held.get(subject) ?? 0) + 1)
      this.#sweep()
      return session
    })
  }

  /** Ends a session: its handlers are interrupted, its streams end, its events are forgotten. */
  close(session: HttpSession): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (!this.#sessions.delete(session.id)) return Effect.void
      this.#used.delete(session)
      this.#release(session.principal)
      for (const stream of session.streams.values()) stream.close()
      return Effect.andThen(Scope.close(session.scope, Exit.void), this.#store.forget(session.id))
    })
  }

  /** Ends all sessions. */
  get closeAll(): Effect.Effect<void> {
    return Effect.suspend(() =>
      Effect.forEach([...this.#sessions.values()], (session) => this.close(session), {
        concurrency: "unbounded",
        discard: true
      })
    )
  }

  #release(principal: Principal | undefined): void {
    if (principal === undefined) return
    const held = (this.#held.get(principal.subject) ?? 0) - 1
    if (held > 0) this.#held.set(principal.subject, held)
    else this.#held.delete(principal.subject)
  }

  #touch(session: HttpSession): void {
    session.usedAt = this.#clock.currentTimeMillisUnsafe()
    this.#used.use(session)
  }

  #evict(isCandidate: (session: HttpSession) => boolean): Effect.Effect<boolean> {
    for (let session = this.#used.oldest; session !== undefined; session = this.#used.after(session)) {
      if (!session.isActive && isCandidate(session)) return Effect.as(this.close(session), true)
    }
    return Effect.succeed(false)
  }

  /** A stream that is open is no proof that someone is still there. */
  #ask(session: HttpSession): void {
    const { ping } = session.peer
    if (ping === undefined) return
    const gone = (error: McpError) =>
      Effect.andThen(Effect.logWarning(`A session was ended: ${error.message}`), this.close(session))
    this.#fork(Effect.catch(ping, gone))
  }

  #sweep(): void {
    if (this.#sweeping || this.#idle === Infinity) return
    this.#sweeping = true
    const expire = Effect.suspend(() => {
      const before = this.#clock.currentTimeMillisUnsafe() - this.#idle
      const expired: Array<HttpSession> = []
      let next = this.#used.oldest
      while (next !== undefined && next.usedAt <= before) {
        const session = next
        next = this.#used.after(session)
        if (!session.isActive) expired.push(session)
        else {
          this.#touch(session)
          if (session.standalone.isConnected) this.#ask(session)
        }
      }
      return Effect.forEach(expired, (session) => this.close(session), { discard: true })
    })
    const interval = Math.max(1000, this.#idle / 4)
    this.#fork(
      Effect.whileLoop({
        while: () => this.#sessions.size > 0,
        body: () => Effect.andThen(Effect.sleep(interval), expire),
        step: () => {}
      }).pipe(Effect.ensuring(Effect.sync(() => (this.#sweeping = false))))
    )
  }
}
