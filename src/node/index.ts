/**
 * Layers that need Node.
 */
export * as Stdio from "./Stdio.ts"
export * as StreamableHttp from "./StreamableHttp.ts"
