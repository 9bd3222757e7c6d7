export * as Fuzz from "./Fuzz.ts"
export * as McpTest from "./McpTest.ts"
export * as ScriptedPeer from "./ScriptedPeer.ts"
export * as TransportLaws from "./TransportLaws.ts"
