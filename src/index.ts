/**
 * Model Context Protocol servers and clients for Effect.
 *
 * Import the namespaces you need; Node-only layers are in `mcp-effect/node`, test layers in `mcp-effect/testing`.
 */
export * as CallContext from "./definition/CallContext.ts"
export * as Catalog from "./server/Catalog.ts"
export * as Content from "./protocol/Content.ts"
export * as EventStore from "./transport/EventStore.ts"
export * as McpClient from "./client/McpClient.ts"
export * as McpServer from "./server/McpServer.ts"
export * as Middleware from "./server/Middleware.ts"
export * as ParameterHeader from "./protocol/ParameterHeader.ts"
export * as Peer from "./definition/Peer.ts"
export * as Polling from "./definition/Polling.ts"
export * as Progress from "./definition/Progress.ts"
export * as Prompt from "./definition/Prompt.ts"
export * as Protocol from "./protocol/index.ts"
export * as RequestState from "./session/RequestState.ts"
export * as Resource from "./definition/Resource.ts"
export * as Socket from "./transport/Socket.ts"
export * as Step from "./definition/Step.ts"
export * as StreamableHttp from "./server/StreamableHttp.ts"
export * as Tool from "./definition/Tool.ts"
export * as Transport from "./transport/Transport.ts"
export * as WebSocket from "./server/WebSocket.ts"
export * as InMemory from "./transport/InMemory.ts"
export { McpError } from "./protocol/McpError.ts"
export { PromptMessage } from "./protocol/Prompt.ts"
