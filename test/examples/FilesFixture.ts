/**
 * Directories for testing the file server: one that is served, with everything in it that could lead out, and a secret
 * one beside it.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, FileSystem, Layer } from "effect"
import { McpClient, type Protocol } from "mcp-effect"
import { McpTest } from "mcp-effect/testing"
import { execFileSync } from "node:child_process"
import { files } from "../../examples/files/files.ts"
import { Root } from "../../examples/files/Root.ts"

/** What must never be seen. */
export const secret = "top-secret-4711"

/** Bytes that are no text. */
export const binary = new Uint8Array([0, 1, 2, 255, 254])

/** A PNG picture's first bytes; enough for telling that it is one. */
export const picture = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 1])

/** Makes the directories. They are gone when the scope ends. */
export const makeDirectories = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const base = yield* Effect.flatMap(fs.makeTempDirectoryScoped({ prefix: "mcp-effect-files-" }), fs.realPath)
  const root = `${base}/served`
  const outside = `${base}/served-not`
  for (const directory of ["src/deep", "node_modules/dependency", ".git", "empty"]) {
    yield* fs.makeDirectory(`${root}/${directory}`, { recursive: true })
  }
  yield* fs.makeDirectory(outside)
  yield* fs.writeFileString(`${outside}/secret.txt`, secret)
  const texts = {
    "a.txt": "first line\nsecond Line with needle\r\nthird\n",
    "b #1?.md": "# Needle\n",
    "src/index.ts": "export const NEEDLE = 1\n",
    "src/deep/more.ts": "// nothing\n",
    "node_modules/dependency/index.js": "needle",
    ".git/config": "needle",
    "umlaut-ä.txt": "grüß dich, needle"
  }
  for (const [path, text] of Object.entries(texts)) yield* fs.writeFileString(`${root}/${path}`, text)
  yield* fs.writeFile(`${root}/data.bin`, binary)
  yield* fs.writeFile(`${root}/picture.png`, picture)
  yield* fs.writeFileString(`${root}/huge.txt`, "needle".padEnd(1024 * 1024 + 1, "."))
  yield* fs.symlink(`${outside}/secret.txt`, `${root}/link-to-file`)
  yield* fs.symlink("../served-not/secret.txt", `${root}/relative-link`)
  yield* fs.symlink(outside, `${root}/link-to-directory`)
  yield* fs.symlink(`${root}/link-to-file`, `${root}/src/link-to-link`)
  yield* fs.symlink(`${outside}/nothing`, `${root}/broken-link`)
  yield* fs.symlink(`${root}/a.txt`, `${root}/inner-link`)
  yield* fs.symlink(root, `${root}/src/loop`)
  yield* Effect.sync(() => execFileSync("mkfifo", [`${root}/pipe`]))
  return { root, outside }
})

/** Options of {@link connect}. */
export interface Options {
  readonly revision: string
  readonly handlers?: McpClient.Options["handlers"]
}

/** A client of the file server, in memory. */
export const connect = (directory: string, { handlers, revision }: Options) =>
  Layer.build(
    McpTest.layer(files, { revision, ...(handlers !== undefined && { handlers }) }).pipe(
      Layer.provide(Root.layer(directory)),
      Layer.provide(NodeServices.layer)
    )
  ).pipe(Effect.flatMap((context) => Effect.provideContext(McpClient.McpClient, context)))

/** What a test is given. */
export interface Given {
  readonly client: McpClient.Client
  readonly fs: FileSystem.FileSystem
  readonly root: string
  readonly outside: string
}

/** Runs a test with a client of a server of fresh directories. */
export const given = <A, E>(options: Options, test: (given: Given) => Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const directories = yield* makeDirectories
    const client = yield* connect(directories.root, options)
    return yield* test({ client, fs, ...directories })
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

/** Handlers of a person who agrees to everything. */
export const yes: Options["handlers"] = {
  elicit: () => Effect.succeed({ action: "accept", content: { rename: true } } as const)
}

/** The texts in a result. */
export const textOf = ({ content }: Protocol.CallToolResult) =>
  content.map((block) => ("text" in block ? block.text : ""))
