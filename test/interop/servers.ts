/**
 * The servers of the matrix: how each is started, and what it offers.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { root, said, type Target } from "./Conversation.ts"
import type { Offer } from "./Offer.ts"
import { failure, greeting, note } from "./servers/offer.ts"

/** A way to start a server. */
export interface Start {
  readonly transport: Target["transport"]
  /** How the grid names the transport, where that is not all there is to say. */
  readonly label?: string | undefined
  readonly file: string
  readonly args: ReadonlyArray<string>
  readonly env?: { readonly [name: string]: string } | undefined
  /** For servers that listen: the path of the URL, and whether the port is for the caller to choose, in `PORT`. */
  readonly path?: string | undefined
  readonly choosesPort?: boolean | undefined
}

/** A server of some library. */
export interface ServerKind {
  readonly name: string
  readonly starts: ReadonlyArray<Start>
  /** The revisions that it speaks. */
  readonly speaks: ReadonlyArray<string>
  readonly offer: Offer
}

const upTo2025_06 = ["2024-11-05", "2025-03-26", "2025-06-18"]
const legacy = [...upTo2025_06, "2025-11-25"]
const modern = "2026-07-28"

const { resolve } = createRequire(import.meta.url)

/** The program of a package. */
const program = (name: string) => join(resolve(`@modelcontextprotocol/${name}/package.json`), "../dist/index.js")

const own = (name: string) => join(import.meta.dirname, `servers/${name}.ts`)

/** What the servers in `servers/` offer. */
const ours: Offer = {
  call: { name: "add", args: { a: 2, b: 3 }, text: "5" },
  structured: { name: "add", args: { a: 2, b: 3 }, content: { sum: 5 } },
  fail: { name: "fail", args: {}, text: failure },
  progress: { name: "steps", args: { count: 3 }, text: "done", atLeast: 3 },
  log: { name: "shout", args: {}, text: "shouted" },
  cancel: { name: "wait", args: {}, reports: false, counter: "waits" },
  elicit: { name: "ask", args: {}, text: "accept Ada" },
  sample: { name: "sample", args: {}, text: said },
  roots: { name: "roots", args: {}, text: root.uri },
  resource: { uri: note.uri, text: note.textOf("today") },
  missing: "nowhere://at/all",
  template: note.template,
  prompt: { name: "greet", args: { name: "Ada" }, text: greeting("Ada") },
  complete: { ref: { type: "ref/prompt", name: "greet" }, name: "name", value: "A", values: ["Ada", "Alan"] }
}

const library = (
  name: string,
  file: string,
  speaks: ReadonlyArray<string>,
  others: ReadonlyArray<Start> = []
): ServerKind => ({
  name,
  speaks,
  starts: [
    { transport: "stdio", file: own(file), args: ["stdio"] },
    { transport: "http", file: own(file), args: ["http"] },
    ...others
  ],
  offer: ours
})

const withSse = (file: string): ReadonlyArray<Start> => [
  { transport: "sse", file: own(file), args: ["http"], path: "/sse" },
  { transport: "http", label: "http, then sse", file: own(file), args: ["http"], path: "/sse" }
]

/** The servers that the client of this package drives, made in a directory for what they write. */
export const theirs = (directory: string): ReadonlyArray<ServerKind> => {
  const files = join(directory, "files")
  mkdirSync(files, { recursive: true })
  writeFileSync(join(files, "hello.txt"), "Hello from a file\n")
  const everything = program("server-everything")
  return [
    {
      name: "server-everything",
      speaks: legacy,
      starts: [
        { transport: "stdio", file: everything, args: ["stdio"] },
        { transport: "http", file: everything, args: ["streamableHttp"], path: "/mcp", choosesPort: true },
        { transport: "sse", file: everything, args: ["sse"], path: "/sse", choosesPort: true },
        {
          transport: "http",
          label: "http, then sse",
          file: everything,
          args: ["sse"],
          path: "/sse",
          choosesPort: true
        }
      ],
      offer: {
        call: { name: "get-sum", args: { a: 2, b: 3 }, text: "5" },
        structured: {
          name: "get-structured-content",
          args: { location: "Chicago" },
          content: { temperature: 36, humidity: 82 }
        },
        fail: { name: "get-sum", args: { a: "two", b: 3 }, text: "Invalid" },
        progress: {
          name: "trigger-long-running-operation",
          args: { duration: 0.3, steps: 3 },
          text: "completed",
          atLeast: 3
        },
        log: { name: "toggle-simulated-logging", args: {}, text: "Started" },
        cancel: { name: "trigger-long-running-operation", args: { duration: 10, steps: 100 }, reports: true },
        elicit: { name: "trigger-elicitation-request", args: {}, text: "Name: Ada" },
        sample: { name: "trigger-sampling-request", args: { prompt: "Hello", maxTokens: 10 }, text: said },
        roots: { name: "get-roots-list", args: {}, text: root.uri },
        resource: { uri: "demo://resource/static/document/features.md", text: "#" },
        missing: "nowhere://at/all",
        template: "demo://resource/dynamic/text/{resourceId}",
        prompt: { name: "args-prompt", args: { city: "Oslo" }, text: "Oslo" },
        complete: {
          ref: { type: "ref/prompt", name: "completable-prompt" },
          name: "department",
          value: "S",
          values: ["Sales", "Support"]
        }
      }
    },
    {
      name: "server-filesystem",
      speaks: legacy,
      starts: [{ transport: "stdio", file: program("server-filesystem"), args: [files] }],
      offer: {
        call: { name: "read_text_file", args: { path: join(files, "hello.txt") }, text: "Hello from a file" },
        structured: {
          name: "read_text_file",
          args: { path: join(files, "hello.txt") },
          content: { content: "Hello from a file\n" }
        },
        fail: { name: "read_text_file", args: { path: "/etc/passwd" }, text: "denied" }
      }
    },
    {
      name: "server-memory",
      speaks: legacy,
      starts: [
        {
          transport: "stdio",
          file: program("server-memory"),
          args: [],
          env: { MEMORY_FILE_PATH: join(directory, "memory.jsonl") }
        }
      ],
      offer: {
        call: {
          name: "create_entities",
          args: { entities: [{ name: "Ada", entityType: "person", observations: ["wrote a program"] }] },
          text: "["
        },
        fail: {
          name: "add_observations",
          args: { observations: [{ entityName: "Nobody", contents: ["is not there"] }] },
          text: "not found"
        }
      }
    },
    {
      name: "server-sequential-thinking",
      speaks: legacy,
      starts: [{ transport: "stdio", file: program("server-sequential-thinking"), args: [] }],
      offer: {
        call: {
          name: "sequentialthinking",
          args: { thought: "First", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
          text: "thoughtNumber"
        },
        structured: {
          name: "sequentialthinking",
          args: { thought: "First", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
          content: { thoughtNumber: 1 }
        },
        fail: { name: "sequentialthinking", args: { thought: 1 }, text: "" }
      }
    },
    library("@modelcontextprotocol/sdk", "sdk1", legacy, withSse("sdk1")),
    library("@modelcontextprotocol/server", "sdk2", [...legacy, modern]),
    library("fastmcp", "fastmcp", legacy, withSse("fastmcp")),
    library("tmcp", "tmcp", [...upTo2025_06, modern]),
    library("effect/ai", "effect-ai", [...legacy, modern])
  ]
}

/** The example server over a directory of its own: a change that one client makes is nothing to another. */
const filesServer = (directory: string, transport: "stdio" | "http"): ServerKind => {
  const files = join(directory, transport)
  mkdirSync(files, { recursive: true })
  // Enough to search that a search can be cancelled.
  for (let index = 0; index < 3000; index++) {
    writeFileSync(join(files, `${index}.txt`), `Line of file ${index}\n`.repeat(20))
  }
  writeFileSync(join(files, "hello.md"), "# Hello\n")
  const example = join(import.meta.dirname, "../../examples/files/server.ts")
  return {
    name: "examples/files",
    speaks: [...legacy, modern],
    starts: [{ transport, file: example, args: transport === "http" ? [files, "--http", "0"] : [files] }],
    offer: {
      call: { name: "read", args: { path: "hello.md" }, text: "# Hello" },
      structured: {
        name: "search",
        args: { text: "hello", glob: "hello.md" },
        content: { searched: 1, more: false }
      },
      fail: { name: "read", args: { path: "not-there.md" }, text: "does not exist" },
      // The clients of the SDK lose progress that comes in one piece with the answer (modelcontextprotocol/typescript-sdk
      // issue 2580): the last one, sometimes. There are about a hundred.
      progress: { name: "search", args: { text: "Nothing of this kind" }, text: "searched", atLeast: 50 },
      cancel: { name: "search", args: { text: "Nothing of this kind" }, reports: true },
      elicit: {
        name: "rename",
        args: { from: "old.md", to: "new.md" },
        text: "Renamed",
        prepare: () => {
          rmSync(join(files, "new.md"), { force: true })
          writeFileSync(join(files, "old.md"), "To be renamed\n")
        }
      },
      resource: { uri: "file:///", text: "hello.md" },
      missing: "file:///not-there.md",
      template: "file:///{+path}",
      prompt: { name: "review", args: { path: "hello.md" }, text: "# Hello" },
      complete: { ref: { type: "ref/prompt", name: "review" }, name: "path", value: "hel", values: ["hello.md"] },
      subscribe: {
        uri: "file:///hello.md",
        change: () => writeFileSync(join(files, "hello.md"), "# Hello\n")
      }
    }
  }
}

/** The servers of this package, that the clients of others drive. */
export const ofThisPackage = (directory: string): ReadonlyArray<ServerKind> => {
  const conformance = join(import.meta.dirname, "../conformance/server.ts")
  return [
    filesServer(directory, "stdio"),
    filesServer(directory, "http"),
    {
      name: "test/conformance/server.ts",
      speaks: [...legacy, modern],
      starts: [{ transport: "http", file: conformance, args: ["--port", "0"] }],
      offer: {
        call: { name: "test_simple_text", args: {}, text: "simple text response" },
        fail: { name: "test_error_handling", args: {}, text: "intentionally" },
        progress: { name: "test_tool_with_progress", args: {}, text: "Finished", atLeast: 3 },
        log: { name: "test_tool_with_logging", args: {}, text: "Logged" },
        cancel: { name: "test_tool_with_progress", args: {}, reports: true },
        elicit: { name: "test_elicitation", args: { message: "Who are you?" }, text: "action=accept" },
        sample: { name: "test_sampling", args: { prompt: "Hello" }, text: said },
        roots: { name: "test_input_required_result_list_roots", args: {}, text: root.uri },
        resource: { uri: "test://static-text", text: "static text resource" },
        missing: "test://not-there",
        template: "test://template/{id}/data",
        prompt: {
          name: "test_prompt_with_arguments",
          args: { arg1: "one", arg2: "two" },
          text: "arg1='one'"
        },
        complete: {
          ref: { type: "ref/prompt", name: "test_prompt_with_arguments" },
          name: "arg1",
          value: "par",
          values: ["paris", "park", "party"]
        }
      }
    }
  ]
}
