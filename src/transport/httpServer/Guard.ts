/**
 * Who may talk to an HTTP server at all: the `Host` it was called by, the `Origin` of a page that calls it, and what a
 * browser has to be told (HTTP-03, HTTP-04, HTTP-05). Without this, any web page could reach a server on localhost.
 */
import * as Predicate from "effect/Predicate"
import type { Headers } from "./HttpMessage.ts"

/** Options of the guard. */
export interface Options {
  /**
   * Values of `Host` to answer to, with or without a port; `"*"` for any. Default: `localhost`, `127.0.0.1` and `[::1]`,
   * with any port.
   */
  readonly allowedHosts?: ReadonlyArray<string> | undefined
  /**
   * Origins whose pages may call, as `scheme://host[:port]`, or a predicate. Default: pages of the local machine. A
   * request without `Origin` does not come from a page and is let through.
   */
  readonly allowedOrigins?: ReadonlyArray<string> | ((origin: string) => boolean) | undefined
  /** Whether pages of allowed origins get the CORS headers that they need to read answers. Default `false`. */
  readonly cors?: boolean | undefined
}

const loopback = new Set(["localhost", "127.0.0.1", "[::1]"])

const hostOf = (authority: string): string => authority.toLowerCase().replace(/:\d+$/, "")

/** Checks requests against the options. */
export class Guard {
  readonly #hosts: (host: string) => boolean
  readonly #origins: (origin: string) => boolean
  /** Whether any page is told anything. */
  readonly cors: boolean

  constructor(options: Options) {
    const hosts = options.allowedHosts?.map((host) => host.toLowerCase())
    this.#hosts =
      hosts === undefined
        ? (host) => loopback.has(hostOf(host))
        : (host) => hosts.includes("*") || hosts.includes(host.toLowerCase()) || hosts.includes(hostOf(host))
    const origins = options.allowedOrigins
    if (Predicate.isFunction(origins)) this.#origins = origins
    else if (origins === undefined) this.#origins = isLoopbackOrigin
    else {
      const allowed = new Set(origins.map((origin) => origin.toLowerCase().replace(/\/$/, "")))
      this.#origins = (origin) => allowed.has(origin.toLowerCase())
    }
    this.cors = options.cors ?? false
  }

  /** Why a request is refused; `undefined` when it is welcome. */
  refuse(headers: Headers): string | undefined {
    const { host, origin } = headers
    // HTTP/1.1 demands a Host; hosts that speak HTTP/2 or fetch may not have one.
    if (host !== undefined && !this.#hosts(host)) return `Host "${host}" is not allowed; see allowedHosts`
    if (origin !== undefined && !this.#origins(origin)) return `Origin "${origin}" is not allowed; see allowedOrigins`
    return undefined
  }

  /** The headers that let a page of an allowed origin read the response. */
  corsHeaders(headers: Headers): { readonly [name: string]: string } | undefined {
    const { origin } = headers
    if (!this.cors || origin === undefined || !this.#origins(origin)) return undefined
    return {
      "access-control-allow-origin": origin,
      "access-control-expose-headers": "Mcp-Session-Id, WWW-Authenticate",
      vary: "Origin"
    }
  }

  /** The answer to a preflight request. */
  preflightHeaders(headers: Headers): { readonly [name: string]: string } | undefined {
    const cors = this.corsHeaders(headers)
    if (cors === undefined) return undefined
    return {
      ...cors,
      "access-control-allow-methods": "POST, GET, DELETE",
      // Mirrored arguments have names of their own, so what the page asks for is what is allowed.
      "access-control-allow-headers":
        headers["access-control-request-headers"] ??
        "Accept, Authorization, Content-Type, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id",
      "access-control-max-age": "600"
    }
  }
}

const isLoopbackOrigin = (origin: string): boolean => {
  const match = /^https?:\/\/([^/]+)$/i.exec(origin)
  return match?.[1] !== undefined && loopback.has(hostOf(match[1]))
}
