/**
 * The example programs as their readers run them: child processes, started from a command line.
 */
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { McpClient } from "mcp-effect"
import { Stdio, StreamableHttp } from "mcp-effect/node"
import edge from "../../examples/weather/edge.ts"
import { Forecast } from "../../examples/weather/forecast.ts"
import * as Programs from "./Programs.ts"

const revisions = ["2025-11-25", "2026-07-28"]
const tokyo = { latitude: 35.6, longitude: 139.7 }

const connect = (revision: string, options: Partial<McpClient.Options> = {}) =>
  McpClient.make({ name: "test", version: "1.0.0", revisions: [revision], ...options })

const overStdio = (name: string, stderr?: (line: string) => Effect.Effect<void>) =>
  Stdio.layerClient({ command: process.execPath, args: [...Programs.nodeFlags, Programs.example(name)], stderr })

describe("clients", { timeout: 30_000 }, () => {
  let node: ReturnType<typeof Programs.nodeDirectory>
  beforeAll(() => {
    node = Programs.nodeDirectory()
  })
  afterAll(() => node.remove())
  const runClient = (name: string) =>
    Programs.run(name, [], { PATH: `${node.directory}:${process.env.PATH}`, NO_COLOR: "1" })

  it("hello/client.ts greets", async () => {
    expect(await runClient("hello/client.ts")).toMatchObject({ code: 0, stdout: "Hello, Ada!\n", stderr: "" })
  })

  it("weather/client.ts shows every kind of call", async () => {
    const { code, stderr, stdout } = await runClient("weather/client.ts")
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(stdout).toContain("weather speaks 2026-07-28")
    expect(stdout).toContain("Tokyo: sunny, 29 °C")
    expect(stdout).toContain("finding a station")
    expect(stdout).toContain("asked for 35.6, 139.7")
    expect(stdout).toContain("No station at 90°")
    expect(stdout).toContain("{ summary: 'sunny', celsius: 29 }")
  })
})

describe.each(revisions)("servers in %s", { timeout: 30_000 }, (revision) => {
  it.live("weather/server.ts offers tools, resources with completion, and a prompt", () =>
    Effect.gen(function* () {
      const client = yield* connect(revision)
      expect(yield* client.call(Forecast, tokyo)).toEqual({ summary: "sunny", celsius: 29 })
      expect((yield* client.readResource("config://app")).contents).toMatchObject([{ text: `{"unit":"celsius"}` }])
      expect((yield* client.readResource("station:///Oslo")).contents).toHaveLength(1)
      const ref = { type: "ref/resource", uri: "station:///{name}" } as const
      expect((yield* client.complete(ref, { name: "name", value: "Os" })).values).toEqual(["Oslo", "Osaka"])
      expect((yield* client.getPrompt("pack", { place: "Oslo" })).messages).toHaveLength(1)
    }).pipe(Effect.scoped, Effect.provide(overStdio("weather/server.ts")))
  )

  it.live("weather/deploy.ts asks once, and plans once", () => {
    const stderr: Array<string> = []
    const questions: Array<string> = []
    return Effect.gen(function* () {
      const client = yield* connect(revision, {
        handlers: {
          elicit: ({ message }) =>
            Effect.sync(() => {
              questions.push(message)
              return { action: "accept", content: { sure: true } } as const
            })
        }
      })
      const { content } = yield* client.callTool("deploy", { service: "web" })
      expect(content).toEqual([{ type: "text", text: "deployed web to 3 machines" }])
      expect(questions).toEqual(["Deploy web?"])
    }).pipe(
      Effect.scoped,
      Effect.provide(overStdio("weather/deploy.ts", (line) => Effect.sync(() => void stderr.push(line)))),
      Effect.andThen(Effect.sync(() => expect(stderr).toEqual(["planning web"])))
    )
  })

  it.live("weather/deploy.ts deploys nothing when the person says no", () =>
    Effect.gen(function* () {
      const client = yield* connect(revision, {
        handlers: { elicit: () => Effect.succeed({ action: "decline" } as const) }
      })
      const { content } = yield* client.callTool("deploy", { service: "web" })
      expect(content).toEqual([{ type: "text", text: "not deployed" }])
    }).pipe(Effect.scoped, Effect.provide(overStdio("weather/deploy.ts")))
  )
})

describe("HTTP", { timeout: 30_000 }, () => {
  it("weather/http.ts serves MCP beside the application's own routes", async () => {
    const program = Programs.start("weather/http.ts", [], { PORT: "0" })
    const [base = ""] = await program.until("stdout", /http:\/\/127\.0\.0\.1:\d+/)
    expect(await (await fetch(`${base}/health`)).text()).toBe("fine")
    for (const revision of revisions) await forecastAt(`${base}/mcp`, revision)
    program.child.kill("SIGTERM")
    await program.ended
  })

  it("weather/standalone.ts says where it listens, and serves both eras", async () => {
    const program = Programs.start("weather/standalone.ts", [], { PORT: "0" })
    const [url = ""] = await program.until("stdout", /http:\/\/\S+/)
    for (const revision of revisions) await forecastAt(url, revision)
    program.child.kill("SIGTERM")
    await program.ended
  })

  it("weather/edge.ts answers fetch requests", async () => {
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
      "io.modelcontextprotocol/clientCapabilities": {}
    }
    const params = { name: "get-forecast", arguments: tokyo, _meta: meta }
    const response = await edge.fetch(
      new Request("http://localhost/", {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": "get-forecast"
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })
      })
    )
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ id: 1, result: { structuredContent: { celsius: 29 } } })
  })
})

const forecastAt = (url: string, revision: string) =>
  Effect.gen(function* () {
    const client = yield* connect(revision)
    expect(client.server.revision).toBe(revision)
    expect(yield* Stream.runCollect(client.listTools)).toHaveLength(1)
    expect((yield* client.call(Forecast, tokyo)).celsius).toBe(29)
  }).pipe(Effect.scoped, Effect.provide(StreamableHttp.layerClient({ url })), Effect.runPromise)
