/**
 * Which capability of the server a request needs. In the legacy era nothing is asked for that was not negotiated
 * (LIFE-10, LIFE-11); a modern server says itself what it has not (ERR-02).
 */
import type { ServerCapabilities } from "../protocol/index.ts"
import type { Server } from "./Opening.ts"

type Needs = (capabilities: ServerCapabilities, revision: string) => string | undefined

const tools: Needs = (capabilities) => (capabilities.tools === undefined ? "tools" : undefined)
const prompts: Needs = (capabilities) => (capabilities.prompts === undefined ? "prompts" : undefined)
const resources: Needs = (capabilities) => (capabilities.resources === undefined ? "resources" : undefined)
const subscribe: Needs = (capabilities) =>
  capabilities.resources?.subscribe === true ? undefined : "resources.subscribe"
const logging: Needs = (capabilities) => (capabilities.logging === undefined ? "logging" : undefined)
// The capability came with 2025-03-26, the method was there before.
const completions: Needs = (capabilities, revision) =>
  capabilities.completions === undefined && revision !== "2024-11-05" ? "completions" : undefined

const needs = new Map<string, Needs>([
  ["tools/list", tools],
  ["tools/call", tools],
  ["prompts/list", prompts],
  ["prompts/get", prompts],
  ["resources/list", resources],
  ["resources/templates/list", resources],
  ["resources/read", resources],
  ["resources/subscribe", subscribe],
  ["resources/unsubscribe", subscribe],
  ["logging/setLevel", logging],
  ["completion/complete", completions]
])

/** The capability that a server would have to have declared for this method; `undefined` when it may be called. */
export const missingCapability = (server: Server, method: string): string | undefined =>
  server.era === "legacy" ? needs.get(method)?.(server.capabilities, server.revision) : undefined
