/**
 * The file server, in memory: what it offers.
 */
import { describe, expect, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Deferred, Effect, Exit, Fiber, FileSystem, Layer, Stream } from "effect"
import { McpClient } from "mcp-effect"
import { McpTest } from "mcp-effect/testing"
import { files, uriOf } from "../../examples/files/files.ts"
import { AlreadyExists, NotFound, Root, TooLarge } from "../../examples/files/Root.ts"
import { Read, Rename, Search } from "../../examples/files/Tools.ts"
import { binary, connect, given, makeDirectories, type Options, picture, textOf } from "./FilesFixture.ts"

const template = { type: "ref/resource", uri: "file:///{+path}" } as const

const pathsFor = (client: McpClient.Client, input: { readonly glob?: string; readonly limit?: number }) =>
  Effect.map(client.call(Search, { text: "needle", ...input }), ({ matches, more }) => ({
    paths: matches.map(({ path }) => path),
    more
  }))

describe.each(["2025-11-25", "2026-07-28"])("files in %s", { timeout: 30_000 }, (revision) => {
  const plain = { revision }

  it.live("offers its tools, resources and prompt", () =>
    given(plain, ({ client }) =>
      Effect.gen(function* () {
        expect((yield* Stream.runCollect(client.listTools)).map(({ name }) => name)).toEqual([
          "search",
          "read",
          "rename"
        ])
        expect((yield* Stream.runCollect(client.listResources)).map(({ uri }) => uri)).toEqual(["file:///"])
        const templates = yield* Stream.runCollect(client.listResourceTemplates)
        expect(templates.map(({ uriTemplate }) => uriTemplate)).toEqual(["file:///{+path}"])
        expect((yield* Stream.runCollect(client.listPrompts)).map(({ name }) => name)).toEqual(["review"])
      })
    )
  )

  it.live("finds lines in text files, and tells how far it is [PROG-02]", () =>
    given(plain, ({ client }) =>
      Effect.gen(function* () {
        const events = yield* Stream.runCollect(client.stream(Search, { text: "needle" }))
        expect(events.at(-1)).toEqual({
          _tag: "Result",
          value: {
            matches: [
              { path: "a.txt", line: 2, text: "second Line with needle" },
              { path: "b #1?.md", line: 1, text: "# Needle" },
              { path: "src/index.ts", line: 1, text: "export const NEEDLE = 1" },
              { path: "umlaut-ä.txt", line: 1, text: "grüß dich, needle" }
            ],
            searched: 5,
            skipped: 3,
            more: false
          }
        })
        const progress = events.flatMap((event) => (event._tag === "Progress" ? [event] : []))
        expect(progress.map((event) => event.progress)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
        expect(progress.every((event) => event.total === 8)).toBe(true)
      })
    )
  )

  it.live("searches what a pattern picks, and no more than asked for", () =>
    given(plain, ({ client }) =>
      Effect.gen(function* () {
        expect(yield* pathsFor(client, { glob: "*.ts" })).toEqual({ paths: ["src/index.ts"], more: false })
        expect(yield* pathsFor(client, { glob: "src/**" })).toEqual({ paths: ["src/index.ts"], more: false })
        expect(yield* pathsFor(client, { glob: "../served-not/*" })).toEqual({ paths: [], more: false })
        expect(yield* pathsFor(client, { limit: 1 })).toEqual({ paths: ["a.txt"], more: true })
      })
    )
  )

  it.effect("stops searching when the call is cancelled [CANC-04]", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      const stopped = yield* Deferred.make<void>()
      const root = Layer.mock(Root, {
        name: "root",
        list: () => Effect.succeed([{ path: "a.txt", type: "File" }] as const),
        read: () =>
          Effect.andThen(Deferred.succeed(started, undefined), Effect.never).pipe(
            Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
          )
      })
      yield* Effect.gen(function* () {
        const client = yield* McpClient.McpClient
        const search = yield* Effect.forkChild(client.call(Search, { text: "a" }))
        yield* Deferred.await(started)
        yield* Fiber.interrupt(search)
        yield* Deferred.await(stopped)
      }).pipe(Effect.provide(McpTest.layer(files, plain).pipe(Layer.provide(root))))
    })
  )

  it.live("reads text, pictures, other bytes and directories", () =>
    given(plain, ({ client }) =>
      Effect.gen(function* () {
        expect(textOf(yield* client.call(Read, { path: "a.txt" }))).toEqual([
          "first line\nsecond Line with needle\r\nthird\n"
        ])
        expect(textOf(yield* client.call(Read, { path: "a.txt", firstLine: 3, lineCount: 1 }))).toEqual(["third"])
        expect(textOf(yield* client.call(Read, { path: "inner-link", lineCount: 1 }))).toEqual(["first line"])
        expect(textOf(yield* client.call(Read, { path: "src" }))).toEqual(["src/deep/\nsrc/index.ts"])
        expect((yield* client.call(Read, { path: "picture.png" })).content).toEqual([
          { type: "image", mimeType: "image/png", data: Buffer.from(picture).toString("base64") }
        ])
        expect((yield* client.call(Read, { path: "data.bin" })).content).toMatchObject([
          { type: "resource", resource: { blob: Buffer.from(binary).toString("base64") } }
        ])
        expect(yield* Effect.flip(client.call(Read, { path: "nothing" }))).toEqual(new NotFound({ path: "nothing" }))
        expect(yield* Effect.flip(client.call(Read, { path: "huge.txt" }))).toEqual(
          new TooLarge({ path: "huge.txt", size: 1024 * 1024 + 1, most: 1024 * 1024 })
        )
      })
    )
  )

  it.live("offers every file as a resource [RES-04] [RES-17]", () =>
    given(plain, ({ client }) =>
      Effect.gen(function* () {
        const contentsOf = (uri: string) => Effect.map(client.readResource(uri), ({ contents }) => contents)
        expect(yield* contentsOf("file:///a.txt")).toEqual([
          { uri: "file:///a.txt", mimeType: "text/plain", text: "first line\nsecond Line with needle\r\nthird\n" }
        ])
        for (const path of ["b #1?.md", "umlaut-ä.txt", "src/index.ts"]) {
          expect(yield* contentsOf(uriOf(path))).toMatchObject([{ uri: uriOf(path) }])
        }
        expect(yield* contentsOf("file:///data.bin")).toEqual([
          {
            uri: "file:///data.bin",
            mimeType: "application/octet-stream",
            blob: Buffer.from(binary).toString("base64")
          }
        ])
        expect(yield* contentsOf("file:///src/")).toMatchObject([
          { mimeType: "inode/directory", text: "src/deep/\nsrc/index.ts" }
        ])
        expect(yield* contentsOf("file:///")).toMatchObject([{ text: expect.stringContaining("a.txt\n") }])
        const missing = yield* Effect.flip(client.readResource("file:///nothing"))
        expect(missing.reason).toMatchObject({ code: revision === "2025-11-25" ? -32002 : -32602 })
      })
    )
  )

  it.live("completes paths, one directory at a time [COMP-07]", () =>
    given(plain, ({ client }) =>
      Effect.gen(function* () {
        const completed = (value: string) =>
          Effect.map(client.complete(template, { name: "path", value }), ({ values }) => values)
        expect(yield* completed("")).toEqual([
          ".git/",
          "a.txt",
          "b #1?.md",
          "data.bin",
          "empty/",
          "huge.txt",
          "node_modules/",
          "picture.png",
          "src/",
          "umlaut-ä.txt"
        ])
        expect(yield* completed("src/I")).toEqual(["src/index.ts"])
        expect(yield* completed("src/")).toEqual(["src/deep/", "src/index.ts"])
        for (const value of ["../", "/", "link-to-directory/", "src/../../", "nothing/"]) {
          expect(yield* completed(value)).toEqual([])
        }
        const ref = { type: "ref/prompt", name: "review" } as const
        expect((yield* client.complete(ref, { name: "path", value: "a" })).values).toEqual(["a.txt"])
      })
    )
  )

  it.live("prepares a review with the file in it", () =>
    given(plain, ({ client }) =>
      Effect.gen(function* () {
        const { messages } = yield* client.getPrompt("review", { path: "src/index.ts", focus: "names" })
        expect(messages[0]?.content).toMatchObject({ text: expect.stringContaining("names") })
        expect(messages[1]?.content).toMatchObject({ resource: { text: "export const NEEDLE = 1\n" } })
        const missing = yield* Effect.flip(client.getPrompt("review", { path: "nothing" }))
        expect(missing.reason).toMatchObject({ code: -32602 })
      })
    )
  )

  describe("rename", () => {
    it.live("asks first, and does as it is told", () => {
      const questions: Array<string> = []
      let sure = false
      const elicit: NonNullable<Options["handlers"]>["elicit"] = ({ message }) =>
        Effect.sync(() => {
          questions.push(message)
          return { action: "accept", content: { rename: sure } } as const
        })
      return given({ revision, handlers: { elicit } }, ({ client, fs, root }) =>
        Effect.gen(function* () {
          const input = { from: "a.txt", to: "src/b.txt" }
          expect(yield* client.call(Rename, input)).toEqual({ renamed: false })
          expect(yield* fs.exists(`${root}/a.txt`)).toBe(true)
          sure = true
          expect(yield* client.call(Rename, input)).toEqual({ renamed: true })
          expect(yield* fs.exists(`${root}/a.txt`)).toBe(false)
          expect(yield* fs.readFileString(`${root}/src/b.txt`)).toContain("needle")
          expect(questions).toEqual(["Rename a.txt to src/b.txt?", "Rename a.txt to src/b.txt?"])
        })
      )
    })

    it.live("leaves everything as it is when the person declines", () =>
      given(
        { revision, handlers: { elicit: () => Effect.succeed({ action: "decline" } as const) } },
        ({ client, fs, root }) =>
          Effect.gen(function* () {
            expect(yield* client.call(Rename, { from: "a.txt", to: "b.txt" })).toEqual({ renamed: false })
            expect(yield* fs.exists(`${root}/a.txt`)).toBe(true)
          })
      )
    )

    it.live("does nothing for a client that can't ask", () =>
      given(plain, ({ client, fs, root }) =>
        Effect.gen(function* () {
          const exit = yield* Effect.exit(client.call(Rename, { from: "a.txt", to: "b.txt" }))
          expect(Exit.isFailure(exit)).toBe(true)
          expect(yield* fs.exists(`${root}/a.txt`)).toBe(true)
        })
      )
    )

    it.live("never overwrites, and does not even ask", () => {
      let asked = 0
      const elicit = () =>
        Effect.sync(() => {
          asked++
          return { action: "accept", content: { rename: true } } as const
        })
      return given({ revision, handlers: { elicit } }, ({ client, fs, root }) =>
        Effect.gen(function* () {
          for (const to of ["src/index.ts", "data.bin", "empty", "broken-link", "pipe", "link-to-directory"]) {
            expect(yield* Effect.flip(client.call(Rename, { from: "a.txt", to }))).toEqual(
              new AlreadyExists({ path: to })
            )
          }
          expect(asked).toBe(0)
          expect(yield* fs.readFileString(`${root}/src/index.ts`)).toBe("export const NEEDLE = 1\n")
        })
      )
    })

    it.live("does not overwrite what has appeared while it asked", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { root } = yield* makeDirectories
        const elicit = () =>
          Effect.as(Effect.orDie(fs.writeFileString(`${root}/new.txt`, "precious")), {
            action: "accept",
            content: { rename: true }
          } as const)
        const client = yield* connect(root, { revision, handlers: { elicit } })
        expect(yield* Effect.flip(client.call(Rename, { from: "a.txt", to: "new.txt" }))).toEqual(
          new AlreadyExists({ path: "new.txt" })
        )
        expect(yield* fs.readFileString(`${root}/new.txt`)).toBe("precious")
        expect(yield* fs.exists(`${root}/a.txt`)).toBe(true)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
    )
  })

  it.live("tells subscribers when a file is written, replaced, removed and created", () =>
    given(plain, ({ client, fs, root }) =>
      Effect.gen(function* () {
        const uri = uriOf("src/index.ts")
        const path = `${root}/src/index.ts`
        const ways = [
          fs.writeFileString(path, "written"),
          Effect.andThen(fs.writeFileString(`${root}/src/new`, "replaced"), fs.rename(`${root}/src/new`, path)),
          fs.remove(path),
          fs.writeFileString(path, "created")
        ]
        for (const change of ways) {
          const told = yield* Effect.scoped(
            Effect.gen(function* () {
              const changes = yield* client.subscribe({ uris: [uri] })
              yield* fs.writeFileString(`${root}/src/other`, "not watched")
              yield* change
              return yield* Stream.runCollect(Stream.take(changes, 1))
            })
          )
          expect(told).toEqual([{ _tag: "ResourceUpdated", uri }])
        }
      })
    )
  )
})
