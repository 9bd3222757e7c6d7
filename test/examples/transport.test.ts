import { describe, it } from "@effect/vitest"
import { TransportLaws } from "mcp-effect/testing"
import { layer } from "../../examples/transport.ts"

TransportLaws.suite({ describe, test: it.live }, "examples/transport.ts", layer)
