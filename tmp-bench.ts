import { Effect, Schema, Scope } from "effect"
import { McpServer, Tool, InMemory } from "./src/index.ts"
import * as ServerRuntime from "./src/server/ServerRuntime.ts"
import * as ServerPeer from "./src/server/ServerPeer.ts"
const Echo = Tool.make("echo", { input: Schema.Struct({ text: Schema.String }) })
const server = McpServer.make({ name: "x", version: "1", tools: [Tool.handle(Echo, ({ text }) => Effect.succeed(text))] })
const text = "x".repeat(60)
const N = 200000
const main = Effect.scoped(Effect.gen(function* () {
  const runtime = yield* ServerRuntime.make(server)
  let got = 0
  const outlet = { sendUnsafe: (m: any) => { JSON.parse(JSON.stringify(m)); got++; return Effect.void }, send: (m: any) => Effect.sync(() => { JSON.parse(JSON.stringify(m)); got++ }) }
  const peer = yield* ServerPeer.open(runtime, outlet)
  yield* peer.receive({ jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "a", version: "1" } } } as any, outlet)
  const legacy = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "echo", arguments: { text } } }
  const modern = { ...legacy, params: { ...legacy.params, _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}, "io.modelcontextprotocol/clientInfo": { name: "a", version: "1" } } } }
  for (const [name, msg] of [["legacy", legacy], ["modern", modern], ["legacy", legacy], ["modern", modern]] as const) {
    const raw = () => { const m = JSON.parse(JSON.stringify(msg)); JSON.parse(JSON.stringify({ jsonrpc: "2.0", id: m.id, result: { content: [{ type: "text", text: m.params.arguments.text }] } })) }
    for (let i = 0; i < 20000; i++) { raw(); yield* peer.receive(JSON.parse(JSON.stringify(msg)), outlet) }
    let t = (process.cpuUsage().user/1000); for (let i = 0; i < N; i++) raw(); const r = ((process.cpuUsage().user/1000) - t) / N * 1e6
    t = (process.cpuUsage().user/1000); for (let i = 0; i < N; i++) yield* peer.receive(JSON.parse(JSON.stringify(msg)), outlet); const s = ((process.cpuUsage().user/1000) - t) / N * 1e6
    console.log(name, "raw", r.toFixed(0), "ours", s.toFixed(0), "overhead", (s - r).toFixed(0))
  }
  console.log(got)
}))
await Effect.runPromise(main as any)
