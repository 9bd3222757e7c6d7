/**
 * What can be done with the directory: tools as values, for the server that handles them and for typed clients.
 */
import { Schema } from "effect"
import { Tool } from "mcp-effect"
import { RootError } from "./Root.ts"

const FilePath = Schema.String.annotate({
  description: "Path of a file, relative to the directory, such as src/index.ts"
})

/** Looks for text in all files. */
export const Search = Tool.make("search", {
  title: "Search files",
  description:
    "Finds the lines that contain a text, in any case, in all text files of the directory. " +
    "Does not look into .git and node_modules.",
  input: Schema.Struct({
    text: Schema.NonEmptyString.annotate({ description: "The text to find; not a regular expression" }),
    glob: Schema.optionalKey(
      Schema.NonEmptyString.annotate({ description: "Which files: *.md by name, src/**/*.ts by path. Default: all" })
    ),
    limit: Schema.optionalKey(
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 })).annotate({
        description: "The most matches to give. Default 100"
      })
    )
  }),
  output: Schema.Struct({
    matches: Schema.Array(Schema.Struct({ path: Schema.String, line: Schema.Int, text: Schema.String })),
    searched: Schema.Int.annotate({ description: "How many files were searched" }),
    skipped: Schema.Int.annotate({ description: "How many files are not text, too large, or unreadable" }),
    more: Schema.Boolean.annotate({ description: "Whether there may be more matches than these" })
  }),
  error: RootError,
  hints: { readOnly: true, idempotent: true, openWorld: false }
})

/** Gives the contents of one file. */
export const Read = Tool.make("read", {
  title: "Read a file",
  description: "Gives the contents of a file, all of it or some lines of it; of a directory, the paths in it.",
  input: Schema.Struct({
    path: FilePath,
    firstLine: Schema.optionalKey(
      Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)).annotate({ description: "The first line to give. Default 1" })
    ),
    lineCount: Schema.optionalKey(
      Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)).annotate({ description: "How many lines. Default: all" })
    )
  }),
  error: RootError,
  hints: { readOnly: true, idempotent: true, openWorld: false }
})

/** Gives a file another path, when a person agrees. */
export const Rename = Tool.make("rename", {
  title: "Rename a file",
  description: "Renames or moves a file inside the directory, after asking the person. Never overwrites a file.",
  input: Schema.Struct({ from: FilePath, to: FilePath }),
  output: Schema.Struct({
    renamed: Schema.Boolean.annotate({ description: "false when the person did not agree" })
  }),
  error: RootError,
  hints: { readOnly: false, destructive: false, idempotent: false, openWorld: false }
})
