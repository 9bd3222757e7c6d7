/**
 * Attempts to get out of the directory that the file server offers, with a client in memory.
 */
import { describe, expect, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Exit, FileSystem, Layer, Result } from "effect"
import { uriOf } from "../../examples/files/files.ts"
import { NotFound, NotUsable, OutsideRoot, Root } from "../../examples/files/Root.ts"
import { Read, Rename, Search } from "../../examples/files/Tools.ts"
import { binary, given, makeDirectories, secret, textOf, yes } from "./FilesFixture.ts"

describe.each(["2025-11-25", "2026-07-28"])("files in %s", { timeout: 30_000 }, (revision) => {
  const plain = { revision }

  describe("nothing outside is reachable", () => {
    const escapes = [
      ["the parent", "../served-not/secret.txt", OutsideRoot],
      ["the parent, in the middle", "src/../../served-not/secret.txt", OutsideRoot],
      ["the parent alone", "..", OutsideRoot],
      ["a parent that comes back", "src/../a.txt", OutsideRoot],
      ["an absolute path", "/etc/passwd", OutsideRoot],
      ["a zero in a path", "a.txt\0", OutsideRoot],
      ["a link to a file", "link-to-file", NotFound],
      ["a relative link", "relative-link", NotFound],
      ["a link in a directory of its own", "link-to-directory/secret.txt", NotFound],
      ["a link to a directory", "link-to-directory", NotFound],
      ["a link to a link", "src/link-to-link", NotFound],
      ["a broken link", "broken-link", NotFound],
      ["a link through a loop", "src/loop/link-to-file", NotFound],
      ["an encoded parent", "%2e%2e/served-not/secret.txt", NotFound],
      ["a pipe", "pipe", NotUsable]
    ] as const

    it.live.each(escapes)("not by %s [RES-17] [RES-18] [TOOL-31]", ([, path, failure]) =>
      given({ revision, handlers: yes }, ({ client, fs, outside, root }) =>
        Effect.gen(function* () {
          expect(yield* Effect.flip(client.call(Read, { path }))).toBeInstanceOf(failure)
          const results: ReadonlyArray<Result.Result<unknown, unknown>> = [
            yield* Effect.result(client.readResource(uriOf(path))),
            yield* Effect.result(client.getPrompt("review", { path })),
            yield* Effect.result(client.call(Rename, { from: path, to: "stolen.txt" }))
          ]
          for (const result of results) expect(Result.isFailure(result)).toBe(true)
          expect(JSON.stringify(results)).not.toContain(secret)
          expect(yield* fs.exists(`${root}/stolen.txt`)).toBe(false)
          expect(yield* fs.readDirectory(outside)).toEqual(["secret.txt"])
        })
      )
    )

    it.live.each([
      "file:///../served-not/secret.txt",
      "file:///%2e%2e/served-not/secret.txt",
      "file:///..%2fserved-not%2fsecret.txt",
      "file:///%2E%2E%2Fserved-not%2Fsecret.txt",
      "file:///%252e%252e/served-not/secret.txt",
      "file:////etc/passwd",
      "file:///%2fetc/passwd",
      "file:///etc/passwd",
      "file://etc/passwd",
      "file:///a.txt%00",
      "file:///link-to-file",
      "file:///link-to-directory/secret.txt",
      "file:///%zz"
    ])("not by the URI %s [RES-17] [RES-18]", (uri) =>
      given(plain, ({ client }) =>
        Effect.gen(function* () {
          const error = yield* Effect.flip(client.readResource(uri))
          expect(error.reason).toMatchObject({ code: expect.toBeOneOf([-32602, -32002]) })
          expect(JSON.stringify(error)).not.toContain(secret)
        })
      )
    )

    it.live("not by renaming into it [TOOL-31]", () =>
      given({ revision, handlers: yes }, ({ client, fs, outside, root }) =>
        Effect.gen(function* () {
          for (const to of [
            "../served-not/x",
            "/tmp/x",
            "link-to-directory/x",
            "src/../../x",
            "",
            "src/loop/../../x"
          ]) {
            const exit = yield* Effect.exit(client.call(Rename, { from: "a.txt", to }))
            expect(Exit.isFailure(exit)).toBe(true)
          }
          expect(yield* fs.readDirectory(outside)).toEqual(["secret.txt"])
          expect(yield* fs.exists(`${root}/a.txt`)).toBe(true)
        })
      )
    )

    it.live("not by a link that is made while it serves", () =>
      given(plain, ({ client, fs, outside, root }) =>
        Effect.gen(function* () {
          expect(textOf(yield* client.call(Read, { path: "src/index.ts" }))).toEqual(["export const NEEDLE = 1\n"])
          yield* fs.remove(`${root}/src`, { recursive: true })
          yield* fs.symlink(outside, `${root}/src`)
          const failure = yield* Effect.flip(client.call(Read, { path: "src/secret.txt" }))
          expect(failure).toEqual(new NotFound({ path: "src/secret.txt" }))
          yield* fs.remove(`${root}/a.txt`)
          yield* fs.symlink(`${outside}/secret.txt`, `${root}/a.txt`)
          expect(yield* Effect.flip(client.call(Read, { path: "a.txt" }))).toEqual(new NotFound({ path: "a.txt" }))
        })
      )
    )

    it.live("not by searching", () =>
      given(plain, ({ client }) =>
        Effect.map(client.call(Search, { text: secret }), ({ matches }) => expect(matches).toEqual([]))
      )
    )
  })
})

describe("Root", () => {
  it.live("notices when a file is swapped for another one while it is opened [RES-17]", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { outside, root } = yield* makeDirectories
      const swapping = Layer.succeed(FileSystem.FileSystem, {
        ...fs,
        open: (_, options) => fs.open(`${outside}/secret.txt`, options)
      })
      const failure = yield* Effect.flip(Effect.flatMap(Root, ({ read }) => read("a.txt"))).pipe(
        Effect.provide(Root.layer(root).pipe(Layer.provide(swapping)))
      )
      expect(failure).toEqual(new NotUsable({ path: "a.txt", reason: "was replaced while it was being opened" }))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("serves the root of the file system, too", () =>
    Effect.gen(function* () {
      const { root } = yield* makeDirectories
      const bytes = yield* Effect.flatMap(Root, ({ read }) => read(`${root.slice(1)}/data.bin`)).pipe(
        Effect.provide(Root.layer("/"))
      )
      expect([...bytes]).toEqual([...binary])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
