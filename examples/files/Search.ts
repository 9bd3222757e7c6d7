/**
 * Looking for text in the files of a directory. A search is an Effect: interrupting it stops it where it is.
 */
import { Effect, Glob, Stream } from "effect"
import { contentsOf } from "./Contents.ts"
import { Root, type RootError } from "./Root.ts"

/** What to look for. */
export interface Query {
  /** Plain text, found in any case. */
  readonly text: string
  /** Which files: a pattern of paths, or, without a slash in it, of names wherever they are. Default: all. */
  readonly glob?: string | undefined
  /** The most matches. */
  readonly limit: number
}

/** A line with the text in it. */
export interface Match {
  readonly path: string
  /** Its number, from 1 on. */
  readonly line: number
  /** The line, without the space around it, cut after 200 characters. */
  readonly text: string
}

/** What was found. */
export interface Found {
  readonly matches: ReadonlyArray<Match>
  /** Files that were searched. */
  readonly searched: number
  /** Files that were not, because they are not text, too large, or can't be read. */
  readonly skipped: number
  /** Whether there may be more than this. */
  readonly more: boolean
}

/** Directories that are not searched: what is in them was not written here. */
const ignored = new Set([".git", "node_modules"])

/** The most files that are looked at. */
const maximumFiles = 50_000

/** Files that are read at a time. */
const concurrency = 8

/** The paths of all files below a directory, in order. What can't be listed is left out. */
export const walk = (directory: string): Stream.Stream<string, never, Root> =>
  Stream.fromEffect(Effect.flatMap(Root, (root) => root.list(directory))).pipe(
    Stream.catch(() => Stream.empty),
    Stream.flattenIterable,
    Stream.filter(({ path }) => !ignored.has(path.slice(path.lastIndexOf("/") + 1))),
    Stream.flatMap(({ path, type }) => (type === "File" ? Stream.make(path) : walk(path)))
  )

/** Looks for text in all files. `onProgress` is told how many files are done, about a hundred times. */
export const search = <R>(
  query: Query,
  onProgress: (done: number, total: number, path: string) => Effect.Effect<void, never, R>
): Effect.Effect<Found, RootError, Root | R> =>
  Effect.gen(function* () {
    const root = yield* Root
    // An unreadable root is worth a failure; below it, what can't be read is skipped.
    yield* root.list("")
    const wanted = filterOf(query.glob)
    const paths = yield* walk("").pipe(Stream.filter(wanted), Stream.take(maximumFiles), Stream.runCollect)
    const step = Math.ceil(paths.length / 100)
    const progress = { done: 0, skipped: 0 }
    const matches = yield* Stream.fromIterable(paths).pipe(
      Stream.mapEffect((path) => Effect.map(linesOf(path), (lines) => ({ path, lines })), { concurrency }),
      Stream.tap(({ lines, path }) => {
        progress.done++
        if (lines === undefined) progress.skipped++
        const report = progress.done % step === 0 || progress.done === paths.length
        return report ? onProgress(progress.done, paths.length, path) : Effect.void
      }),
      Stream.flatMap(({ lines = [], path }) => Stream.fromIterable(matchesIn(path, lines, query.text))),
      Stream.take(query.limit),
      Stream.runCollect
    )
    const more = matches.length === query.limit || paths.length === maximumFiles
    return { matches, searched: progress.done - progress.skipped, skipped: progress.skipped, more }
  })

const filterOf = (glob: string | undefined): ((path: string) => boolean) => {
  if (glob === undefined) return () => true
  const pattern = Glob.make(glob.includes("/") ? glob : `**/${glob}`, { dot: true })
  return (path) => Glob.match(pattern, path)
}

const linesOf = (path: string): Effect.Effect<ReadonlyArray<string> | undefined, never, Root> =>
  Effect.flatMap(Root, (root) => root.read(path)).pipe(
    Effect.map((bytes) => {
      const contents = contentsOf(path, bytes)
      return contents.text?.split(/\r?\n/)
    }),
    Effect.catch(() => Effect.undefined)
  )

const matchesIn = (path: string, lines: ReadonlyArray<string>, text: string): ReadonlyArray<Match> => {
  const wanted = text.toLowerCase()
  return lines.flatMap((line, index) =>
    line.toLowerCase().includes(wanted) ? [{ path, line: index + 1, text: line.trim().slice(0, 200) }] : []
  )
}
