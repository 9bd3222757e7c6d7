/**
 * `server/discover` (from 2026-07-28): what the server is and can do.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/discover
 */
import * as Effect from "effect/Effect"
import type { DiscoverResult } from "../../protocol/index.ts"
import type { ServerRuntime } from "../ServerRuntime.ts"
import { cacheHint } from "./listPage.ts"

export const discover =
  <R>(runtime: ServerRuntime<R>) =>
  (): Effect.Effect<DiscoverResult> =>
    Effect.succeed({
      supportedVersions: runtime.revisions.map((revision) => revision.version),
      capabilities: runtime.capabilities,
      ...(runtime.server.instructions !== undefined && { instructions: runtime.server.instructions }),
      ...cacheHint(runtime.server, "discover")
    })
