/**
 * The command line of `@modelcontextprotocol/inspector`. Every request is a process of its own, with a connection of its
 * own.
 */
import { spawn } from "node:child_process"
import { mkdtempSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { type Arguments, type ClientKind, type Target, textIn } from "../Conversation.ts"

const { resolve } = createRequire(import.meta.url)
const launcher = join(
  dirname(resolve("@modelcontextprotocol/inspector/package.json")),
  "clients/launcher/build/index.js"
)

/** It keeps its state in the home directory. */
const home = mkdtempSync(join(tmpdir(), "mcp-effect-inspector-"))

const targetOf = (target: Target): ReadonlyArray<string> =>
  target.transport === "stdio"
    ? [target.command, ...target.args]
    : ["--server-url", target.url, "--transport", target.transport]

const run = (parameters: ReadonlyArray<string>): Promise<unknown> =>
  new Promise((succeed, fail) => {
    const child = spawn(process.execPath, [launcher, "--cli", ...parameters], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, HOME: home }
    })
    let stdout = ""
    let stderr = ""
    child.stdout.on("data", (chunk: Buffer) => void (stdout += chunk.toString()))
    child.stderr.on("data", (chunk: Buffer) => void (stderr += chunk.toString()))
    child.once("error", fail)
    child.once("close", (code) => {
      try {
        // A tool that fails makes it end with a code of its own, and print the result all the same.
        const printed: unknown = JSON.parse(stdout)
        const { result } = printed as { readonly result?: unknown }
        succeed(result ?? printed)
      } catch {
        fail(new Error(`The inspector ended with ${code}: ${(stderr || stdout).trim().slice(0, 500)}`))
      }
    })
  })

const pairs = (flag: string, args: Arguments): ReadonlyArray<string> =>
  Object.entries(args).flatMap(([name, value]) => [flag, `${name}=${String(value)}`])

export const inspector: ClientKind = {
  name: "@modelcontextprotocol/inspector --cli",
  transports: ["stdio", "http", "sse"],
  revisions: ["2025-11-25", "2026-07-28"],
  negotiates: true,
  shows: { progress: false, cancellation: false },
  answers: [],
  connect: async (target, revision) => {
    const era = revision === undefined ? "auto" : revision === "2026-07-28" ? "modern" : "legacy"
    const request = <A>(method: string, ...parameters: ReadonlyArray<string>): Promise<A> => {
      const flags = ["--protocol-era", era, "--format", "json", "--method", method, ...parameters]
      // Flags before the target would be taken for the target's.
      return run(
        target.transport === "stdio" ? [...flags, "--", ...targetOf(target)] : [...targetOf(target), ...flags]
      ) as Promise<A>
    }
    type Named = { readonly name: string; readonly uri: string; readonly uriTemplate: string }
    await request("tools/list")

    return {
      listTools: async () =>
        (await request<{ tools: ReadonlyArray<Named> }>("tools/list")).tools.map(({ name }) => name),
      listResources: async () =>
        (await request<{ resources: ReadonlyArray<Named> }>("resources/list")).resources.map(({ uri }) => uri),
      listTemplates: async () =>
        (await request<{ resourceTemplates: ReadonlyArray<Named> }>("resources/templates/list")).resourceTemplates.map(
          ({ uriTemplate }) => uriTemplate
        ),
      listPrompts: async () =>
        (await request<{ prompts: ReadonlyArray<Named> }>("prompts/list")).prompts.map(({ name }) => name),
      call: async (name, args) => {
        const { content, isError, structuredContent } = await request<{
          content: ReadonlyArray<unknown>
          isError?: boolean
          structuredContent?: unknown
        }>("tools/call", "--tool-name", name, "--tool-args-json", JSON.stringify(args))
        return { isError: isError === true, text: textIn(content), structured: structuredContent }
      },
      read: async (uri) =>
        textIn((await request<{ contents: ReadonlyArray<unknown> }>("resources/read", "--uri", uri)).contents),
      prompt: async (name, args) => {
        const { messages } = await request<{ messages: ReadonlyArray<{ content: unknown }> }>(
          "prompts/get",
          "--prompt-name",
          name,
          ...pairs("--prompt-args", args)
        )
        return textIn(messages.map(({ content }) => content))
      },
      close: async () => {}
    }
  }
}
