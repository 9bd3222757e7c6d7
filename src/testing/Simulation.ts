/**
 * A client and a server of this package in one process, over links on which everything goes wrong that can: slow, cut,
 * joined, duplicated, lost, stalled and broken, all decided by a seed. With {@link run} a program takes the same course
 * every time, in virtual time; with `TestClock` a test moves the clock itself.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import type * as HttpClient from "effect/http/HttpClient"
import { McpError } from "../protocol/McpError.ts"
import type { StreamableHttpServer } from "../transport/httpServer/StreamableHttpServer.ts"
import { ClientTransport, type Connection, ServerTransport } from "../transport/Transport.ts"
import { Dice, type Faults, gentle } from "./Faults.ts"
import * as SimulatedHttp from "./SimulatedHttp.ts"
import { SimulatedPipe } from "./SimulatedPipe.ts"

export { Dice, type Faults, gentle, none, rough } from "./Faults.ts"
export { type Options as RunOptions, run, type Run } from "./VirtualTime.ts"

/** Options of a simulated link. */
export interface Options {
  /** Decides what goes wrong, and when. */
  readonly seed: string | number
  /** What may go wrong. Default: {@link gentle}. */
  readonly faults?: Faults | undefined
}

/** Both transports, linked, and how to break what links them. */
export interface Simulation {
  /** The client's transport. Every `connect` opens a link of its own. */
  readonly client: ClientTransport["Service"]
  /** The server's transport: it serves every link that is opened. */
  readonly server: ServerTransport["Service"]
  /** Breaks every open link, as when a process dies or a cable is pulled. */
  readonly kill: Effect.Effect<void>
  /** How many links are open. */
  readonly open: Effect.Effect<number>
}

/** One link: two directions that break together. */
class Link {
  readonly client: Connection
  readonly server: Connection
  readonly #toServer: SimulatedPipe
  readonly #toClient: SimulatedPipe

  constructor(seed: string, faults: Faults) {
    this.#toServer = new SimulatedPipe(new Dice(`${seed} to server`), faults, () => this.kill())
    this.#toClient = new SimulatedPipe(new Dice(`${seed} to client`), faults, () => this.kill())
    this.client = connection(this.#toServer, this.#toClient)
    this.server = connection(this.#toClient, this.#toServer)
  }

  kill(): void {
    const broken = McpError.transport("The simulated link has broken")
    this.#toServer.fail(broken)
    this.#toClient.fail(broken)
  }

  /** One side hangs up: what it sent still arrives, and nobody reads what is sent to it. */
  hangUp(side: "client" | "server"): void {
    const [out, back] = side === "client" ? [this.#toServer, this.#toClient] : [this.#toClient, this.#toServer]
    out.end()
    back.fail(McpError.closed("The peer has closed the connection"))
  }
}

const connection = (out: SimulatedPipe, back: SimulatedPipe): Connection => ({
  send: (message) => out.send(message),
  run: (onMessage) => back.run(onMessage)
})

/**
 * Makes both transports. Every `connect` of the client's opens a link of its own, over which lines of JSON go as over
 * stdio: in order, unless they are lost.
 */
export const make = (options: Options): Effect.Effect<Simulation> =>
  Effect.map(Queue.unbounded<Link>(), (dialled) => {
    const links = new Set<Link>()
    let opened = 0
    return {
      client: {
        connect: Effect.map(
          Effect.acquireRelease(
            Effect.suspend(() => {
              const link = new Link(`${options.seed} ${opened++}`, options.faults ?? gentle)
              links.add(link)
              return Effect.as(Queue.offer(dialled, link), link)
            }),
            (link) =>
              Effect.sync(() => {
                link.hangUp("client")
                links.delete(link)
              })
          ),
          (link) => link.client
        )
      },
      server: {
        run: (serve) =>
          Effect.scopedWith((scope) =>
            Queue.take(dialled).pipe(
              Effect.flatMap((link) =>
                serve(link.server).pipe(Effect.ensuring(Effect.sync(() => link.hangUp("server"))), Effect.forkIn(scope))
              ),
              Effect.forever
            )
          )
      },
      kill: Effect.sync(() => {
        for (const link of links) link.kill()
      }),
      open: Effect.sync(() => links.size)
    }
  })

/**
 * Provides both transports.
 *
 * @example
 * ```ts
 * import { Effect, Layer } from "effect"
 * import { McpClient, McpServer, Tool } from "mcp-effect"
 * import { Simulation } from "mcp-effect/testing"
 *
 * const server = McpServer.make({
 *   name: "demo",
 *   version: "1.0.0",
 *   tools: [Tool.handle(Tool.make("ping"), () => Effect.succeed("pong"))]
 * })
 *
 * const bothEnds = Layer.merge(
 *   McpServer.layer(server),
 *   McpClient.layer({ name: "test", version: "1.0.0" })
 * ).pipe(Layer.provide(Simulation.layer({ seed: 42, faults: Simulation.rough })))
 *
 * const called = Simulation.run(
 *   McpClient.McpClient.pipe(
 *     Effect.flatMap((client) => client.callTool("ping")),
 *     Effect.exit,
 *     Effect.provide(bothEnds),
 *     Effect.exit
 *   )
 * )
 * // Whatever has happened: the call came to an end, and nothing is left over.
 * const checked = Effect.flatMap(called, ({ defects, exit, fibers, sleepers }) =>
 *   Effect.log(exit, fibers, sleepers, defects)
 * )
 * ```
 */
export const layer = (options: Options): Layer.Layer<ClientTransport | ServerTransport> =>
  Layer.effectContext(
    Effect.map(make(options), ({ client, server }) =>
      Context.make(ClientTransport, client).pipe(Context.add(ServerTransport, server))
    )
  )

/**
 * An HTTP client whose every request is answered by a server without a host, for `StreamableHttp.layerClient` and any
 * URL. Exchanges are independent, so they may overtake each other; what is inside one keeps its order.
 */
export const httpClient = (server: StreamableHttpServer, options: Options): HttpClient.HttpClient =>
  SimulatedHttp.make(server.handle, new Dice(`${options.seed} http`), options.faults ?? gentle)
