/** Who takes part: the limit, mcp-effect, and the peers. */
import type { Era } from "../systems/echo.ts"

export interface System {
  /** As it stands in tables. */
  readonly name: string
  /** Its folder in `systems/`. */
  readonly folder: string
  readonly role: "limit" | "ours" | "peer"
  readonly eras: ReadonlyArray<Era>
  /** Its HTTP server, when there are two. */
  readonly http: "http" | "route"
  /** What it takes part in besides HTTP. */
  readonly everywhere: boolean
  readonly hasClient: boolean
  /** The packages that a user of it installs. */
  readonly packages: ReadonlyArray<string>
}

const both: ReadonlyArray<Era> = ["legacy", "modern"]
const legacyOnly: ReadonlyArray<Era> = ["legacy"]

const system = (folder: string, role: System["role"], more: Partial<System>): System => ({
  name: folder,
  folder,
  role,
  eras: both,
  http: "http",
  everywhere: true,
  hasClient: true,
  packages: [],
  ...more
})

const ours = { packages: ["mcp-effect", "effect", "@effect/platform-node"] }

export const systems: ReadonlyArray<System> = [
  system("raw", "limit", {}),
  system("raw", "limit", { name: "raw route", http: "route", everywhere: false }),
  system("mcp-effect", "ours", ours),
  system("mcp-effect", "ours", { ...ours, name: "mcp-effect route", http: "route", everywhere: false }),
  system("sdk1", "peer", { eras: legacyOnly, packages: ["@modelcontextprotocol/sdk", "zod"] }),
  system("sdk2", "peer", { packages: ["@modelcontextprotocol/server", "zod"] }),
  system("effect-ai", "peer", { packages: ["effect", "@effect/platform-node"] }),
  system("tmcp", "peer", {
    hasClient: false,
    packages: ["tmcp", "@tmcp/transport-stdio", "@tmcp/adapter-zod", "zod"]
  }),
  system("fastmcp", "peer", { eras: legacyOnly, hasClient: false, packages: ["fastmcp", "zod"] })
]

/** What each name stands for. */
export const legend: { readonly [folder: string]: string } = {
  raw: "hand-written: JSON.parse, a function, JSON.stringify",
  "mcp-effect": "this package",
  sdk1: "@modelcontextprotocol/sdk",
  sdk2: "@modelcontextprotocol/server and client",
  "effect-ai": "effect/ai McpServer and McpClient",
  tmcp: "tmcp",
  fastmcp: "fastmcp"
}
