import { Effect, Schema } from "effect"
import { McpServer, Tool, McpClient } from "./src/index.ts"
import { McpTest } from "./src/testing/index.ts"
const Echo = Tool.make("echo", { input: Schema.Struct({ text: Schema.String }) })
const server = McpServer.make({ name: "x", version: "1", tools: [Tool.handle(Echo, ({ text }) => Effect.succeed(text))] })
const text = "x".repeat(60)
const N = 100000
const run = (revision: string) => Effect.scoped(Effect.gen(function* () {
  const client = yield* McpClient.McpClient
  const modern = revision === "2026-07-28"
  const _meta = modern ? { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}, "io.modelcontextprotocol/clientInfo": { name: "a", version: "1" } } : undefined
  const sm = { "io.modelcontextprotocol/serverInfo": { name: "x", version: "1" } }
  const raw = (i: number) => { const m = JSON.parse(JSON.stringify({ jsonrpc: "2.0", id: i, method: "tools/call", params: { name: "echo", arguments: { text }, _meta } })); JSON.parse(JSON.stringify({ jsonrpc: "2.0", id: m.id, result: { content: [{ type: "text", text: m.params.arguments.text }], ...(modern && { resultType: "complete", _meta: sm }) } })) }
  for (let i = 0; i < 20000; i++) { raw(i); yield* client.call(Echo, { text }) }
  for (let k = 0; k < 3; k++) {
  let t = (process.cpuUsage().user/1000); for (let i = 0; i < N; i++) raw(i); const r = ((process.cpuUsage().user/1000) - t) / N * 1e6
  t = (process.cpuUsage().user/1000); for (let i = 0; i < N; i++) yield* client.call(Echo, { text }); const s = ((process.cpuUsage().user/1000) - t) / N * 1e6
  console.log(revision, "raw", r.toFixed(0), "ours", s.toFixed(0), "ratio", (r / s).toFixed(3))
  }
})).pipe(Effect.provide(McpTest.layer(server, { revision } as any)))
const which = process.argv[2]
if (which !== "modern") await Effect.runPromise(run("2025-11-25") as any)
if (which !== "legacy") await Effect.runPromise(run("2026-07-28") as any)
