import { Effect } from "effect"
import { McpServer, Tool, McpClient, StreamableHttp } from "./src/index.ts"
import { McpTest } from "./src/testing/index.ts"
process.on("unhandledRejection", (e) => console.log("UNHANDLED", String(e).slice(0,200)))
process.on("uncaughtException", (e) => console.log("UNCAUGHT", String(e).slice(0,200)))
const server = McpServer.make({ name: "x", version: "1", tools: [
  Tool.handle(Tool.make("big"), () => Effect.succeed({ content: [], _meta: { x: 1n } } as any)),
  Tool.handle(Tool.make("throws"), () => Effect.succeed({ content: [], _meta: { x: { toJSON() { throw new Error("no") } } } } as any)),
  Tool.handle(Tool.make("undef"), () => Effect.succeed(null as any)),
  Tool.handle(Tool.make("num"), () => Effect.succeed(5 as any)),
] })
for (const revision of ["2026-07-28", "2025-11-25"])
for (const name of ["big", "throws", "undef", "num"])
await Effect.runPromise(Effect.gen(function*() { const c = yield* McpClient.McpClient; console.log(name, JSON.stringify(yield* Effect.result(c.callTool(name, {}, {timeout: 500})))) }).pipe(Effect.provide(McpTest.layer(server, { revision }))) ).catch(e => console.log("rejected", String(e)))
