/**
 * The server: a directory to search, read, review, watch and, when a person agrees, change.
 *
 * Its resources are `file:///` URIs whose paths start at the directory, not at the root of the file system: what is not
 * in the directory has no URI.
 */
import { Effect, Option, Schema } from "effect"
import {
  Content,
  McpError,
  McpServer,
  Peer,
  Progress,
  Prompt,
  PromptMessage,
  Protocol,
  Resource,
  Tool
} from "mcp-effect"
import { contentsOf } from "./Contents.ts"
import { Root, type RootError } from "./Root.ts"
import { search } from "./Search.ts"
import { Read, Rename, Search } from "./Tools.ts"

/** The URI of a file of the directory. */
export const uriOf = (path: string) => `file:///${encodeURI(path).replaceAll("?", "%3F").replaceAll("#", "%23")}`

/** A file as contents of a resource; of a directory, the paths in it. */
const read = Effect.fnUntraced(function* (path: string) {
  const root = yield* Root
  const entries = yield* Effect.option(root.list(path))
  if (Option.isSome(entries)) {
    const paths = entries.value.map((entry) => (entry.type === "Directory" ? `${entry.path}/` : entry.path))
    return Protocol.textContents(uriOf(path), paths.join("\n"), "inode/directory")
  }
  const { bytes, mimeType, text } = contentsOf(path, yield* root.read(path))
  return text === undefined
    ? Protocol.blobContents(uriOf(path), bytes, mimeType)
    : Protocol.textContents(uriOf(path), text, mimeType)
})

const readResource = (path: string) =>
  Effect.mapError(read(path), (error: RootError) =>
    error._tag === "NotFound" ? new Resource.NotFound({ uri: uriOf(path) }) : McpError.invalidParams(error.message)
  )

const changesOf = (path: string) => Effect.flatMap(Root, (root) => root.changes(path))

/** Paths that begin like this, one directory at a time, as a shell would complete them. */
const suggestPaths = Effect.fnUntraced(function* (typed: string) {
  const root = yield* Root
  const directory = typed.slice(0, typed.lastIndexOf("/") + 1)
  const entries = yield* Effect.orElseSucceed(root.list(directory), () => [])
  const paths = entries.map(({ path, type }) => (type === "Directory" ? `${path}/` : path))
  return paths.filter((path) => path.toLowerCase().startsWith(typed.toLowerCase()))
})

/** The server. What it needs is the directory. */
export const files = McpServer.make({
  name: "files",
  version: "1.0.0",
  title: "Files",
  instructions: "Offers one directory. All paths are relative to it. Search first, then read what was found.",
  tools: [
    Tool.handle(Search, ({ glob, limit = 100, text }) =>
      search({ text, glob, limit }, (progress, total, message) => Progress.report({ progress, total, message }))
    ),

    Tool.handle(
      Read,
      Effect.fnUntraced(function* ({ firstLine = 1, lineCount = Infinity, path }) {
        const contents = yield* read(path)
        if ("blob" in contents) {
          const { blob, mimeType = "" } = contents
          return mimeType.startsWith("image/") ? Content.image(blob, mimeType) : Content.embeddedResource(contents)
        }
        const lines = contents.text.split("\n").slice(firstLine - 1, firstLine - 1 + lineCount)
        return Content.text(lines.join("\n"))
      })
    ),

    Tool.handle(
      Rename,
      Effect.fnUntraced(function* ({ from, to }) {
        const root = yield* Root
        // Nobody is asked about what can't be done anyway.
        yield* root.checkRename(from, to)
        const answer = yield* Peer.elicit({
          message: `Rename ${from} to ${to}?`,
          schema: Schema.Struct({ rename: Schema.Boolean.annotate({ title: "Rename it" }) })
        })
        if (answer._tag !== "Accept" || !answer.value.rename) {
          return Tool.withContent({ renamed: false }, [Content.text("Nothing was renamed: the person did not agree.")])
        }
        yield* root.rename(from, to)
        yield* Effect.logInfo("Renamed a file", { from, to })
        return Tool.withContent({ renamed: true }, [Content.text(`Renamed ${from} to ${to}.`)])
      })
    )
  ],
  resources: [
    Resource.make(
      "file:///",
      { name: "root", title: "The directory", description: "The paths in it", mimeType: "inode/directory" },
      readResource("")
    ),
    Resource.template(
      "file:///{+path}",
      {
        name: "file",
        title: "A file of the directory",
        description: "Text or bytes of a file, or the paths in a directory",
        complete: { path: suggestPaths },
        changes: ({ path }) => changesOf(path)
      },
      ({ path }) => readResource(path)
    )
  ],
  prompts: [
    Prompt.make(
      "review",
      {
        title: "Review a file",
        description: "Asks for a review of one file",
        arguments: Schema.Struct({
          path: Schema.String.annotate({ description: "Path of the file" }),
          focus: Schema.optionalKey(Schema.String.annotate({ description: "What to look at above all" }))
        }),
        complete: { path: suggestPaths }
      },
      Effect.fnUntraced(function* ({ focus, path }) {
        const contents = yield* Effect.mapError(read(path), (error) => McpError.invalidParams(error.message))
        const wish = focus === undefined ? "" : ` Look at this above all: ${focus}.`
        return [
          PromptMessage.user(`Review ${path}. Say what is wrong, where, and how to mend it.${wish}`),
          PromptMessage.user(Content.embeddedResource(contents))
        ]
      })
    )
  ]
})
