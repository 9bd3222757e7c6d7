/**
 * Tools: things that a model can do. A tool is a value with a name and the schemas of what goes in and out; a server
 * handles it, a client calls it, and both get their types from it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools
 */
export * from "./ToolDefinition.ts"
export * from "./ToolHandler.ts"
export * from "./ForeignTool.ts"
