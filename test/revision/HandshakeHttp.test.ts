/**
 * Streamable HTTP in every revision that opens with a handshake. 2024-11-05 had none.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { v2025_03_26 } from "../../src/revision/v2025_03_26.ts"
import { v2025_06_18 } from "../../src/revision/v2025_06_18.ts"
import { v2025_11_25 } from "../../src/revision/v2025_11_25.ts"
import { demo } from "../support/Demo.ts"
import { web } from "../support/HttpHosts.ts"
import { at, initializeParams, legacy } from "../support/RawClient.ts"
import { RawHttp } from "../support/RawHttp.ts"

for (const revision of [v2025_03_26, v2025_06_18, v2025_11_25]) {
  const { version } = revision

  describe(`Streamable HTTP in ${version}`, () => {
    const session = Effect.gen(function* () {
      const running = yield* web.start(demo)
      const client = new RawHttp(running.send, running.url, legacy)
      const reply = yield* client.request("initialize", initializeParams({}, version))
      expect(at(yield* reply.json, "result", "protocolVersion")).toBe(version)
      client.session = reply.headers.get("mcp-session-id") ?? undefined
      const named = { headers: { "mcp-protocol-version": revision.versionHeader ? version : undefined } }
      return { client, named }
    })

    it.effect("[HTTP-11][HTTP-12][HTTP-23] takes notifications, answers requests, opens a stream", () =>
      Effect.gen(function* () {
        const { client, named } = yield* session
        const notified = yield* client.post({ jsonrpc: "2.0", method: "notifications/initialized" }, named)
        expect([notified.status, yield* notified.text]).toEqual([202, ""])
        const listed = yield* client.request("tools/list", {}, named)
        expect([listed.status, listed.type]).toEqual([200, "application/json"])
        expect(at(yield* listed.json, "result", "tools")).toBeInstanceOf(Array)
        const counted = yield* client.request("tools/call", { name: "count", _meta: { progressToken: 1 } }, named)
        expect([counted.status, counted.type]).toEqual([200, "text/event-stream"])
        const stream = yield* client.listen(named.headers)
        expect([stream.status, stream.type]).toEqual([200, "text/event-stream"])
      })
    )

    it.effect("[HTTP-03][HTTP-31] knows its sessions and who may ask", () =>
      Effect.gen(function* () {
        const { client, named } = yield* session
        const foreign = { headers: { ...named.headers, origin: "https://evil.example" } }
        expect((yield* client.request("tools/list", {}, foreign)).status).toBe(403)
        expect((yield* client.listen(foreign.headers)).status).toBe(403)
        const other = { headers: { ...named.headers, "mcp-session-id": "other" } }
        expect((yield* client.request("tools/list", {}, other)).status).toBe(404)
        const headers = { ...named.headers, "mcp-session-id": client.session }
        expect((yield* client.fetch("DELETE", { headers })).status).toBeLessThan(300)
        expect((yield* client.request("tools/list", {}, named)).status).toBe(404)
      })
    )

    if (revision.versionHeader) {
      it.effect("[HTTP-36] refuses a revision in the header that it does not speak", () =>
        Effect.gen(function* () {
          const { client } = yield* session
          for (const name of ["1999-01-01", "nonsense"]) {
            const headers = { "mcp-protocol-version": name }
            expect((yield* client.request("tools/list", {}, { headers })).status).toBe(400)
          }
        })
      )
    }
  })
}
