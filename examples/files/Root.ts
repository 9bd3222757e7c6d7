/**
 * A directory that nothing leads out of.
 *
 * Every path is relative to the directory, `/` between the names. What a symbolic link resolves to must be inside too;
 * a link that leads out is treated as if it were not there. Only regular files are opened, and what was opened is
 * compared with what the path means afterwards, so that a link that is put there in between gains nothing.
 */
import {
  ByteSize,
  type Cause,
  Context,
  Deferred,
  Effect,
  Exit,
  Fiber,
  FileSystem,
  Layer,
  Option,
  Path,
  Queue,
  Schema,
  type Scope,
  Stream
} from "effect"
import type { PlatformError } from "effect/PlatformError"

/** The path leads out of the directory, or is not a path that could be in it. */
export class OutsideRoot extends Schema.TaggedError<OutsideRoot>()("OutsideRoot", { path: Schema.String }) {
  override get message(): string {
    return `"${this.path}" is not a path inside the directory`
  }
}

/** There is nothing under this path. */
export class NotFound extends Schema.TaggedError<NotFound>()("NotFound", { path: Schema.String }) {
  override get message(): string {
    return `"${this.path}" does not exist`
  }
}

/** There is something under this path, but nothing that can be used as it was asked for. */
export class NotUsable extends Schema.TaggedError<NotUsable>()("NotUsable", {
  path: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `"${this.path}" ${this.reason}`
  }
}

/** The file is too large to be read in one piece; sizes are in bytes. */
export class TooLarge extends Schema.TaggedError<TooLarge>()("TooLarge", {
  path: Schema.String,
  size: Schema.Number,
  most: Schema.Number
}) {
  override get message(): string {
    return `"${this.path}" has ${this.size} bytes, and at most ${this.most} can be read`
  }
}

/** A rename would have overwritten this. */
export class AlreadyExists extends Schema.TaggedError<AlreadyExists>()("AlreadyExists", { path: Schema.String }) {
  override get message(): string {
    return `"${this.path}" exists already`
  }
}

/** Every way in which using the directory can fail. */
export const RootError = Schema.Union([OutsideRoot, NotFound, NotUsable, TooLarge, AlreadyExists])

/** Every way in which using the directory can fail. */
export type RootError = typeof RootError.Type

/** An entry of a directory. Links and special files are not listed. */
export interface Entry {
  /** Its path from the root on. */
  readonly path: string
  readonly type: "File" | "Directory"
}

/** Options of {@link Root.layer}. */
export interface Options {
  /** The most bytes of a file that is read. Default 1 MiB. */
  readonly maximumBytes?: number | undefined
}

/** The directory that is served. */
export class Root extends Context.Service<
  Root,
  {
    /** Its own name, without the way to it. */
    readonly name: string
    /** Reads a whole file. */
    readonly read: (path: string) => Effect.Effect<Uint8Array, RootError>
    /** The entries of a directory, sorted by name; `""` is the root. */
    readonly list: (path: string) => Effect.Effect<ReadonlyArray<Entry>, RootError>
    /** Fails if {@link rename} would. */
    readonly checkRename: (from: string, to: string) => Effect.Effect<void, RootError>
    /** Gives a file another path. Never overwrites anything. */
    readonly rename: (from: string, to: string) => Effect.Effect<void, RootError>
    /** Watches; then emits when the file under this path is created, written or removed, at most every 50 milliseconds. */
    readonly changes: (path: string) => Effect.Effect<Stream.Stream<void>, never, Scope.Scope>
  }
>()("examples/files/Root") {
  /** Serves a directory. */
  static readonly layer = (directory: string, options: Options = {}) =>
    Layer.effect(Root, make(directory, options.maximumBytes ?? 1024 * 1024))
}

const make = Effect.fnUntraced(function* (directory: string, maximumBytes: number) {
  const fs = yield* FileSystem.FileSystem
  const { basename, join, sep } = yield* Path.Path
  const root = yield* fs.realPath(directory)
  const prefix = root.endsWith(sep) ? root : root + sep
  /** On Windows a backslash separates names too, and a colon picks a drive or a stream. */
  const forbidden = sep === "\\" ? /[\0\\:]/ : /\0/

  const namesOf = (path: string): Effect.Effect<ReadonlyArray<string>, OutsideRoot> => {
    const names = path.split("/").filter((name) => name !== "" && name !== ".")
    const leadsOut = path.startsWith("/") || names.includes("..") || forbidden.test(path)
    return leadsOut ? new OutsideRoot({ path }) : Effect.succeed(names)
  }

  /** Where a path leads to, with all links resolved. */
  const resolve = Effect.fnUntraced(function* (path: string) {
    const target = join(root, ...(yield* namesOf(path)))
    const real = yield* Effect.mapError(fs.realPath(target), explain(path))
    // Not `OutsideRoot`: nobody is to find out through a link what there is elsewhere.
    if (real !== root && !real.startsWith(prefix)) return yield* new NotFound({ path })
    return real
  })

  /** The place of an entry, whether it exists or not: the directory it is in exists, and is inside. */
  const place = Effect.fnUntraced(function* (path: string) {
    const names = yield* namesOf(path)
    const name = names.at(-1)
    if (name === undefined) return yield* new NotUsable({ path, reason: "is the directory itself" })
    const parent = yield* resolve(names.slice(0, -1).join("/"))
    return { parent, name, full: join(parent, name) }
  })

  const infoOf = (path: string, real: string) => Effect.mapError(fs.stat(real), explain(path))

  const read = Effect.fnUntraced(function* (path: string) {
    const real = yield* resolve(path)
    // Opening a pipe waits for its other end, so it is looked at first.
    yield* mustBe("File", path, yield* infoOf(path, real))
    const file = yield* Effect.mapError(fs.open(real), explain(path))
    const opened = yield* Effect.mapError(file.stat, explain(path))
    yield* mustBe("File", path, opened)
    const now = yield* infoOf(path, yield* resolve(path))
    if (now.dev !== opened.dev || Option.getOrUndefined(now.ino) !== Option.getOrUndefined(opened.ino)) {
      return yield* new NotUsable({ path, reason: "was replaced while it was being opened" })
    }
    return yield* readAll(path, file, opened)
  }, Effect.scoped)

  const readAll = Effect.fnUntraced(function* (path: string, file: FileSystem.File, info: FileSystem.File.Info) {
    const size = ByteSize.toNumberUnsafe(info.size)
    if (size > maximumBytes) return yield* new TooLarge({ path, size, most: maximumBytes })
    const bytes = new Uint8Array(size)
    let length = 0
    while (length < size) {
      const count = yield* Effect.mapError(file.read(bytes.subarray(length)), explain(path))
      if (count === 0) break
      length += count
    }
    return bytes.subarray(0, length)
  })

  const list = Effect.fnUntraced(function* (path: string) {
    const real = yield* resolve(path)
    yield* mustBe("Directory", path, yield* infoOf(path, real))
    const entries = yield* Effect.mapError(fs.readDirectoryEntries(real), explain(path))
    // What was listed is only told if the path still means the same directory.
    if ((yield* resolve(path)) !== real) return yield* new NotFound({ path })
    const above = (yield* namesOf(path)).map((name) => `${name}/`).join("")
    return entries
      .flatMap(({ name, type }): ReadonlyArray<Entry> =>
        type === "File" || type === "Directory" ? [{ path: above + name, type }] : []
      )
      .toSorted((one, other) => (one.path < other.path ? -1 : 1))
  })

  const prepareRename = Effect.fnUntraced(function* (from: string, to: string) {
    const source = yield* place(from)
    const target = yield* place(to)
    yield* mustBe("File", from, yield* Effect.mapError(fs.lstat(source.full), explain(from)))
    const taken = yield* Effect.option(fs.lstat(target.full))
    if (Option.isSome(taken)) return yield* new AlreadyExists({ path: to })
    return { source: source.full, target: target.full }
  })

  const rename = Effect.fnUntraced(function* (from: string, to: string) {
    const { source, target } = yield* prepareRename(from, to)
    // The system's own rename overwrites what has appeared in the meantime; a second name for the file never does.
    yield* Effect.mapError(fs.link(source, target), explain(to))
    yield* fs.remove(source).pipe(
      Effect.tapError(() => Effect.ignore(fs.remove(target))),
      Effect.mapError(explain(from))
    )
  }, Effect.uninterruptible)

  const changes = (path: string) =>
    Effect.gen(function* () {
      const { name, parent } = yield* place(path)
      const ready = yield* Deferred.make<void>()
      // Many events are one change, and an editor may replace a file, so it is the directory that is watched.
      const events = fs.watch(parent, { onReady: () => Deferred.doneUnsafe(ready, Exit.void) }).pipe(
        Stream.filter((event) => basename(event.path) === name),
        Stream.map(() => undefined)
      )
      const changed = yield* Queue.sliding<void, Cause.Done>(1)
      const watching = yield* Effect.forkScoped(Stream.runIntoQueue(Stream.orDie(events), changed))
      // Should watching fail, there is nothing to wait for.
      yield* Effect.raceFirst(Deferred.await(ready), Fiber.await(watching))
      return Stream.groupedWithin(Stream.fromQueue(changed), 1024, "50 millis").pipe(Stream.map(() => undefined))
    }).pipe(
      Effect.catch((error) => Effect.as(Effect.logDebug("Not watching", error), Stream.empty as Stream.Stream<void>))
    )

  return Root.of({
    name: basename(root),
    read,
    list,
    checkRename: (from, to) => Effect.asVoid(prepareRename(from, to)),
    rename,
    changes
  })
})

const mustBe = (type: Entry["type"], path: string, info: FileSystem.File.Info): Effect.Effect<void, NotUsable> =>
  info.type === type
    ? Effect.void
    : new NotUsable({ path, reason: type === "File" ? "is not a regular file" : "is not a directory" })

/** The operating system's errors hold full paths, so nothing of them is told but what they mean. */
const explain =
  (path: string) =>
  ({ reason }: PlatformError): RootError => {
    switch (reason._tag) {
      case "NotFound":
        return new NotFound({ path })
      case "AlreadyExists":
        return new AlreadyExists({ path })
      case "PermissionDenied":
        return new NotUsable({ path, reason: "may not be used: permission denied" })
      default:
        return new NotUsable({ path, reason: "can't be used" })
    }
  }
