/**
 * Layers that need Node.
 */
export * as Socket from "./Socket.ts"
export * as Stdio from "./Stdio.ts"
export * as StreamableHttp from "./StreamableHttp.ts"
export * as WebSocket from "./WebSocket.ts"
