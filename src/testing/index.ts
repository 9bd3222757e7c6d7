/**
 * For tests: of servers and clients, and of transports of your own.
 */
export * as Fuzz from "./Fuzz.ts"
export * as McpTest from "./McpTest.ts"
export * as ScriptedPeer from "./ScriptedPeer.ts"
export * as Simulation from "./Simulation.ts"
export * as TransportLaws from "./TransportLaws.ts"
