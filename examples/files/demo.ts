/**
 * A tour of the file server, as a person would see it: over stdio and over HTTP, in each era of the protocol, on this
 * repository's own files.
 *
 *     npm run demo
 *
 * Ends with code 0 if everything went as it is printed, and with 1 otherwise.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Deferred, Effect, Exit, Fiber, FileSystem, type Layer, Option, Schema, type Scope, Stream } from "effect"
import { ChildProcess } from "effect/process"
import { McpClient, type Transport } from "mcp-effect"
import { Stdio, StreamableHttp } from "mcp-effect/node"
import * as Screen from "./Screen.ts"
import { uriOf } from "./files.ts"
import { Rename, Search } from "./Tools.ts"

/** Something did not go as it should have. */
class Unexpected extends Schema.TaggedError<Unexpected>()("Unexpected", { message: Schema.String }) {}

const expect = (condition: boolean, message: string) => (condition ? Effect.void : new Unexpected({ message }))

const repository = `${import.meta.dirname}/../..`

/** The server's command line, with the flags that this process was started with. */
const server = (...args: ReadonlyArray<string>) => [...process.execArgv, `${import.meta.dirname}/server.ts`, ...args]

type Connect = (
  directory: string
) => Effect.Effect<
  Layer.Layer<Transport.ClientTransport>,
  unknown,
  Layer.Success<typeof NodeServices.layer> | Scope.Scope
>

/** Every client starts a server of its own. */
const overStdio: Connect = (directory) =>
  Effect.succeed(Stdio.layerClient({ command: process.execPath, args: server(directory) }))

/** One server for all clients; it prints its URL on standard error. */
const overHttp: Connect = Effect.fnUntraced(function* (directory) {
  const child = yield* ChildProcess.make(process.execPath, server(directory, "--http", "0"), { stdin: "ignore" })
  const url = yield* Deferred.make<string, Unexpected>()
  yield* child.stderr.pipe(
    Stream.decodeText,
    Stream.splitLines,
    Stream.runForEach((line) => (line.startsWith("http://") ? Deferred.succeed(url, line) : Effect.void)),
    Effect.andThen(Deferred.fail(url, new Unexpected({ message: "The HTTP server has ended" }))),
    Effect.forkScoped
  )
  yield* Screen.line("listening", yield* Deferred.await(url))
  return StreamableHttp.layerClient({ url: yield* Deferred.await(url) })
})

/** A client of one revision that answers questions with yes, and shows the dialogue. */
const connectAs = (revision: string) =>
  McpClient.make({
    name: "demo",
    version: "1.0.0",
    revisions: [revision],
    handlers: {
      elicit: ({ message, requestedSchema }) => {
        const [field = ""] = Object.keys(requestedSchema.properties)
        return Screen.line("question", `The server asks: ${message}`).pipe(
          Effect.andThen(Screen.line("answer", `${field}: yes`)),
          Effect.as({ action: "accept", content: { [field]: true } } as const)
        )
      }
    }
  })

const names = <E>(list: Stream.Stream<{ readonly name: string }, E>) =>
  Effect.map(Stream.runCollect(list), (entries) => entries.map(({ name }) => name).join(", "))

const showOffer = Effect.fnUntraced(function* (client: McpClient.Client) {
  const { info, revision } = client.server
  yield* Screen.line("server", `${info?.name} ${info?.version} speaks ${revision}`)
  const resources = yield* Stream.runCollect(client.listResources)
  const templates = yield* Stream.runCollect(client.listResourceTemplates)
  const uris = [...resources.map(({ uri }) => uri), ...templates.map(({ uriTemplate }) => uriTemplate)]
  yield* Screen.line("offers", `tools: ${yield* names(client.listTools)}`)
  yield* Screen.more([`resources: ${uris.join(", ")}`, `prompts: ${yield* names(client.listPrompts)}`])
  const ref = { type: "ref/resource", uri: templates[0]?.uriTemplate ?? "" } as const
  const { values } = yield* client.complete(ref, { name: "path", value: "src/s" })
  yield* expect(values.includes("src/server/"), "src/s was not completed")
  yield* Screen.line("complete", `src/s… → ${values.join(", ")}`)
})

const sought = "Schema.TaggedError"

const showSearch = Effect.fnUntraced(function* (client: McpClient.Client) {
  const bar = Screen.progressBar("search")
  const events = client.stream(Search, { text: sought, glob: "{src,test}/**/*.ts" })
  const found = yield* Stream.runFoldEffect(
    events,
    () => Option.none<typeof Search.output.Type>(),
    (result, event) => {
      if (event._tag === "Result") return Effect.succeedSome(event.value)
      if (event._tag === "Log") return Effect.succeed(result)
      return Effect.as(bar.show(event.progress, event.total ?? 0, event.message ?? ""), result)
    }
  )
  yield* bar.clear
  if (Option.isNone(found)) return yield* new Unexpected({ message: "The search ended without a result" })
  const { matches, searched } = found.value
  yield* expect(matches.length > 0, "Nothing was found")
  const files = new Set(matches.map(({ path }) => path))
  yield* Screen.line("found", `"${sought}" ${matches.length} times in ${files.size} of ${searched} files`)
  yield* Screen.more(matches.slice(0, 2).map(({ line, path, text }) => `${path}:${line}  ${text}`.slice(0, 100)))
})

const showCancel = Effect.fnUntraced(function* (client: McpClient.Client) {
  const started = yield* Deferred.make<string>()
  const search: Fiber.Fiber<unknown, unknown> = yield* Effect.forkChild(
    client.call(
      Search,
      { text: "Effect" },
      {
        // Interrupted right here, at the first sign of life, so that it can't have ended.
        onProgress: ({ progress, total }) => {
          search.interruptUnsafe()
          Deferred.doneUnsafe(started, Exit.succeed(`after ${progress} of ${total} files`))
        }
      }
    )
  )
  const exit = yield* Fiber.await(search)
  yield* expect(Exit.hasInterrupts(exit), "The search was not cancelled")
  const { contents } = yield* client.readResource(uriOf("package.json"))
  yield* expect(contents.length === 1, "The server does not answer any more")
  yield* Screen.line("cancel", `a search, ${yield* Deferred.await(started)}; the server goes on with other calls`)
})

const showRename = Effect.fnUntraced(function* (client: McpClient.Client, directory: string) {
  const fs = yield* FileSystem.FileSystem
  const { renamed } = yield* client.call(Rename, { from: "hello.ts", to: "renamed.ts" })
  const files = yield* fs.readDirectory(directory)
  yield* expect(renamed && files.includes("renamed.ts") && !files.includes("hello.ts"), "Nothing was renamed")
  yield* Screen.line("renamed", `in a temporary copy, which has now: ${files.toSorted().join(", ")}`)
})

const showChange = Effect.fnUntraced(function* (client: McpClient.Client, directory: string) {
  const fs = yield* FileSystem.FileSystem
  const uri = uriOf("server.ts")
  const changes = yield* client.subscribe({ uris: [uri] })
  yield* fs.writeFileString(`${directory}/server.ts`, "// changed\n")
  const change = yield* changes.pipe(Stream.runHead, Effect.timeout("30 seconds"))
  yield* expect(Option.isSome(change) && change.value._tag === "ResourceUpdated", "No change was told")
  yield* Screen.line("change", `server.ts was written to; the server says: ${uri} has changed`)
}, Effect.scoped)

const tour = Effect.fnUntraced(function* (name: string, connect: Connect) {
  const fs = yield* FileSystem.FileSystem
  const copy = yield* fs.makeTempDirectoryScoped({ prefix: "mcp-effect-demo-" })
  const transport = yield* connect(repository)
  const copyTransport = yield* connect(copy)
  for (const revision of ["2025-11-25", "2026-07-28"]) {
    yield* Screen.heading(`Over ${name}, revision ${revision}`)
    yield* lookAround(revision).pipe(Effect.provide(transport))
    yield* changeThings(revision, copy).pipe(Effect.provide(copyTransport))
  }
}, Effect.scoped)

const lookAround = Effect.fnUntraced(function* (revision: string) {
  const client = yield* connectAs(revision)
  yield* showOffer(client)
  yield* showSearch(client)
  yield* showCancel(client)
}, Effect.scoped)

const changeThings = Effect.fnUntraced(function* (revision: string, directory: string) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.copy(`${repository}/examples/hello`, directory, { overwrite: true })
  const client = yield* connectAs(revision)
  yield* showRename(client, directory)
  yield* showChange(client, directory)
  yield* fs.remove(`${directory}/renamed.ts`)
}, Effect.scoped)

tour("stdio", overStdio).pipe(
  Effect.andThen(Screen.heading("Starting HTTP servers for this repository and for a temporary copy of a part of it")),
  Effect.andThen(tour("HTTP", overHttp)),
  Effect.andThen(Screen.heading("All of this worked.")),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
