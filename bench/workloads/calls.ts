/** Calls of `echo` and of `progress`, and lists: every transport, both eras. */
import * as Expectation from "../harness/Expectation.ts"
import * as HttpDriver from "../harness/HttpDriver.ts"
import * as InMemoryDriver from "../harness/InMemoryDriver.ts"
import * as messages from "../harness/messages.ts"
import * as StdioDriver from "../harness/StdioDriver.ts"
import type { System } from "../harness/Systems.ts"
import { contest, type Workload } from "../harness/Workload.ts"
import { type Era, versions } from "../systems/echo.ts"

const eras: ReadonlyArray<Era> = ["legacy", "modern"]

/** A request, what it is called, and what comes of it. */
interface Request {
  readonly template: messages.Template
  readonly expect: Expectation.Expectation
  /** Messages that come of it. */
  readonly messages: number
  readonly env?: { readonly [name: string]: string }
}

const echo = (era: Era, bytes: number): Request => {
  const text = messages.textOf(bytes)
  return { template: messages.echo(era, text), expect: Expectation.content(era, text), messages: 1 }
}

const progress = (era: Era, times: number): Request => {
  const text = messages.textOf(100)
  return {
    template: messages.progress(era, text, times),
    expect: Expectation.content(era, text, times),
    messages: times + 1,
    env: { BENCH_ANSWERS: "sse" }
  }
}

const listLength = 1000

const list = (era: Era): Request => ({
  template: messages.list(era),
  expect: Expectation.tools(era, listLength),
  messages: 1,
  env: { BENCH_TOOLS: String(listLength) }
})

const everywhere = (era: Era) => (system: System) => system.everywhere && system.eras.includes(era)

interface Options {
  readonly name: string
  readonly title: string
  readonly quick?: boolean
  readonly longer?: number
}

const inMemory = (options: Options, era: Era, request: Request): Workload =>
  contest({
    ...options,
    includes: everywhere(era),
    open: ({ folder }) =>
      InMemoryDriver.open(folder, { era, request: request.template, expect: request.expect }, request.env)
  })

const stdio = (options: Options, era: Era, inFlight: number, request: Request): Workload =>
  contest({
    ...options,
    includes: everywhere(era),
    open: ({ folder }) =>
      StdioDriver.open(
        `systems/${folder}/server-stdio.ts`,
        { era, inFlight, lines: request.messages, request: request.template, expect: request.expect },
        { env: request.env ?? {} }
      )
  })

const http = (options: Options, era: Era, connections: number, request: Request): Workload =>
  contest({
    ...options,
    includes: (system) => system.eras.includes(era),
    open: (system) =>
      HttpDriver.open(
        `systems/${system.folder}/server-${system.http}.ts`,
        { era, connections, request: request.template, expect: request.expect },
        { env: request.env ?? {} }
      )
  })

const base = eras.flatMap((era): ReadonlyArray<Workload> => {
  const date = versions[era]
  return [
    inMemory(
      { name: `memory-${era}`, title: `In memory, ${date}, 100 B, one after the other`, quick: true },
      era,
      echo(era, 100)
    ),
    stdio(
      { name: `stdio-1-${era}`, title: `stdio, ${date}, 100 B, one after the other`, quick: era === "legacy" },
      era,
      1,
      echo(era, 100)
    ),
    stdio(
      { name: `stdio-64-${era}`, title: `stdio, ${date}, 100 B, 64 in flight`, quick: true },
      era,
      64,
      echo(era, 100)
    ),
    http({ name: `http-1-${era}`, title: `HTTP, ${date}, 100 B, JSON, 1 connection` }, era, 1, echo(era, 100)),
    http(
      { name: `http-64-${era}`, title: `HTTP, ${date}, 100 B, JSON, 64 connections`, quick: true },
      era,
      64,
      echo(era, 100)
    ),
    http(
      { name: `sse-1-${era}`, title: `HTTP, ${date}, one report of progress and the answer as events, 1 connection` },
      era,
      1,
      progress(era, 1)
    ),
    http(
      {
        name: `sse-64-${era}`,
        title: `HTTP, ${date}, one report of progress and the answer as events, 64 connections`,
        quick: true
      },
      era,
      64,
      progress(era, 1)
    )
  ]
})

const sizes = [
  { label: "10KB", bytes: 10_000, longer: 1 },
  { label: "1MB", bytes: 1_000_000, longer: 2 },
  // The last that everybody takes: four mebibytes are a common limit.
  { label: "4MB", bytes: 4_000_000, longer: 4 }
]

const payloads = sizes.flatMap(({ bytes, label, longer }): ReadonlyArray<Workload> => [
  inMemory(
    { name: `payload-memory-${label}`, title: `In memory, payload of ${label}`, quick: label !== "10KB", longer },
    "legacy",
    echo("legacy", bytes)
  ),
  stdio(
    { name: `payload-stdio-${label}`, title: `stdio, payload of ${label}`, longer },
    "legacy",
    1,
    echo("legacy", bytes)
  ),
  http(
    { name: `payload-http-${label}`, title: `HTTP, payload of ${label}, 1 connection`, longer },
    "legacy",
    1,
    echo("legacy", bytes)
  )
])

const lists: ReadonlyArray<Workload> = [
  inMemory({ name: "list-memory", title: "In memory, tools/list of 1,000 tools" }, "legacy", list("legacy")),
  stdio({ name: "list-stdio", title: "stdio, tools/list of 1,000 tools" }, "legacy", 1, list("legacy")),
  http({ name: "list-http", title: "HTTP, tools/list of 1,000 tools, 1 connection" }, "legacy", 1, list("legacy"))
]

const reports: ReadonlyArray<Workload> = [
  inMemory(
    { name: "progress-memory", title: "In memory, calls that report progress ten times" },
    "legacy",
    progress("legacy", 10)
  ),
  stdio(
    { name: "progress-stdio", title: "stdio, calls that report progress ten times" },
    "legacy",
    1,
    progress("legacy", 10)
  ),
  http(
    { name: "progress-http", title: "HTTP, calls that report progress ten times, 64 connections" },
    "legacy",
    64,
    progress("legacy", 10)
  )
]

export const workloads: ReadonlyArray<Workload> = [...base, ...payloads, ...lists, ...reports]
