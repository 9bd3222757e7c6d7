/**
 * The file server and its demo as programs: what a client sees that starts them, and how they end.
 */
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { McpClient } from "mcp-effect"
import { StreamableHttp } from "mcp-effect/node"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Read, Search } from "../../examples/files/Tools.ts"
import * as Programs from "./Programs.ts"

const meta = (capabilities: object = {}) => ({
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": capabilities
})

const call = (id: number, name: string, args: object, more: object = {}) => ({
  id,
  method: "tools/call",
  params: { name, arguments: args, _meta: { ...meta(), ...more } }
})

describe("files/server.ts", { timeout: 30_000 }, () => {
  let directory: string
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "mcp-effect-files-"))
    for (let n = 0; n < 100; n++) writeFileSync(join(directory, `${n}.txt`), `needle ${n}\n`)
  })
  afterAll(() => rmSync(directory, { recursive: true }))

  it("speaks nothing but JSON-RPC on standard output, and ends with its input [STDIO-02] [STDIO-09]", async () => {
    const server = Programs.start("files/server.ts", [directory])
    server.send(call(1, "search", { text: "needle" }, { progressToken: "token" }), call(2, "read", { path: "1.txt" }))
    await server.until("stdout", /"id":1,/)
    await server.until("stdout", /"id":2,/)
    server.child.stdin.end()
    expect(await server.ended).toEqual({ code: 0, signal: null })
    const lines = server.stdout().trimEnd().split("\n")
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" })
    expect(lines.filter((line) => line.includes("notifications/progress"))).toHaveLength(100)
    expect(server.stderr()).toBe("")
  })

  it("stops a search that is cancelled, and answers nothing to it [CANC-04] [STDIO-08]", async () => {
    const server = Programs.start("files/server.ts", [directory])
    // In one piece, so that the search has begun, but has not got far.
    server.send(
      call(1, "search", { text: "needle" }, { progressToken: "token" }),
      { method: "notifications/cancelled", params: { requestId: 1 } },
      call(2, "search", { text: "needle" })
    )
    await server.until("stdout", /"id":2,/)
    server.child.stdin.end()
    await server.ended
    expect(server.stdout()).not.toContain('"id":1,')
    expect(server.stdout()).not.toContain("notifications/progress")
  })

  it("on SIGTERM lets a call end, tells who listens, takes no more, and ends with code 0 [SUBS-09] [SUBS-10]", async () => {
    const server = Programs.start("files/server.ts", [directory])
    const notifications = { resourceSubscriptions: ["file:///1.txt"] }
    server.send({ id: 1, method: "subscriptions/listen", params: { notifications, _meta: meta() } })
    await server.until("stdout", /acknowledged/)
    server.send(call(2, "search", { text: "needle", limit: 1000 }, { progressToken: "token" }))
    await server.until("stdout", /"progressToken":"token"/)
    server.child.kill("SIGTERM")
    expect(await server.ended).toEqual({ code: 0, signal: null })
    const messages = server
      .stdout()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
    expect(messages.find(({ id }) => id === 1).result).toMatchObject({ resultType: "complete" })
    expect(messages).toContainEqual(
      expect.objectContaining({ method: "notifications/cancelled", params: { requestId: 1 } })
    )
    expect(messages.find(({ id }) => id === 2).result.structuredContent).toMatchObject({ searched: 100 })
    expect(server.stderr()).toBe("")
  })

  it("on SIGTERM waits for a person's answer, though not for ever", async () => {
    const ask = async () => {
      const server = Programs.start("files/server.ts", [directory])
      const clientInfo = { name: "test", version: "1.0.0" }
      const params = { protocolVersion: "2025-11-25", capabilities: { elicitation: {} }, clientInfo }
      server.send({ id: 1, method: "initialize", params })
      await server.until("stdout", /"id":1,/)
      server.send(
        { method: "notifications/initialized" },
        { id: 2, method: "tools/call", params: { name: "rename", arguments: { from: "1.txt", to: "one.txt" } } }
      )
      const [line] = await server.until("stdout", /^.*"elicitation\/create".*$/m)
      server.child.kill("SIGTERM")
      // Signal and input race each other, so ask until it says that it is on its way out.
      const asking = setInterval(() => server.send({ id: 3, method: "tools/list" }), 20)
      await server.until("stdout", /"id":3,"error":.*shutting down/)
      clearInterval(asking)
      return { server, question: JSON.parse(line) }
    }
    const patient = await ask()
    patient.server.send({ id: patient.question.id, result: { action: "decline" } })
    expect(await patient.server.ended).toEqual({ code: 0, signal: null })
    expect(patient.server.stdout()).toMatch(/"id":2,.*Nothing was renamed/)
    const silent = await ask()
    expect(await silent.server.ended).toEqual({ code: 0, signal: null })
    expect(silent.server.stdout()).not.toContain('"id":2,')
  })

  it("says on standard error what is wrong with its arguments", async () => {
    const missing = await Programs.run("files/server.ts", [join(directory, "nothing")])
    expect(missing.code).toBe(1)
    expect(missing.stderr).toContain("does not exist")
    expect((await Programs.run("files/server.ts", [])).code).toBe(1)
    expect((await Programs.run("files/server.ts", [directory, "--http", "many"])).code).toBe(1)
  })

  it("serves over HTTP, prints its URL on standard error, and ends with code 0 on SIGTERM", async () => {
    const server = Programs.start("files/server.ts", [directory, "--http", "0"])
    const [, url = ""] = await server.until("stderr", /^(http:\/\/127\.0\.0\.1:\d+\/mcp)\n/m)
    for (const revision of ["2025-11-25", "2026-07-28"]) {
      await Effect.gen(function* () {
        const client = yield* McpClient.make({ name: "test", version: "1.0.0", revisions: [revision] })
        const events = yield* Stream.runCollect(client.stream(Search, { text: "needle", limit: 1000 }))
        expect(events.filter(({ _tag }) => _tag === "Progress")).toHaveLength(100)
        expect(events.at(-1)).toMatchObject({ _tag: "Result", value: { searched: 100 } })
        const { content } = yield* client.call(Read, { path: "1.txt" })
        expect(content).toMatchObject([{ text: "needle 1\n" }])
      }).pipe(Effect.scoped, Effect.provide(StreamableHttp.layerClient({ url })), Effect.runPromise)
    }
    server.child.kill("SIGTERM")
    expect(await server.ended).toEqual({ code: 0, signal: null })
    expect(server.stdout()).toBe("")
  })

  it("over HTTP, on SIGTERM, lets a call end, ends every stream, and ends with code 0 [SUBS-09]", async () => {
    const server = Programs.start("files/server.ts", [directory, "--http", "0"])
    const [, url = ""] = await server.until("stderr", /^(http:\/\/127\.0\.0\.1:\d+\/mcp)\n/m)
    const post = (message: { readonly method: string; readonly params: object }, more: Record<string, string>) =>
      fetch(url, {
        method: "POST",
        body: JSON.stringify({ jsonrpc: "2.0", ...message }),
        headers: {
          accept: "application/json, text/event-stream",
          "content-type": "application/json",
          "mcp-method": message.method,
          ...more
        }
      })
    const modern = { "mcp-protocol-version": "2026-07-28" }
    const notifications = { resourceSubscriptions: ["file:///1.txt"] }
    const listen = { id: 1, method: "subscriptions/listen", params: { notifications, _meta: meta() } }
    const listener = await post(listen, modern)
    const search = call(2, "search", { text: "needle", limit: 1000 }, { progressToken: "token" })
    const found = await post(search, { ...modern, "mcp-name": "search" })
    const clientInfo = { name: "test", version: "1.0.0" }
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo }
    const opened = await post({ id: 3, method: "initialize", params } as never, {})
    await opened.text()
    const session = {
      "mcp-session-id": opened.headers.get("mcp-session-id") ?? "",
      "mcp-protocol-version": "2025-11-25",
      accept: "text/event-stream"
    }
    const standalone = await fetch(url, { headers: session })
    server.child.kill("SIGTERM")
    expect(await listener.text()).toMatch(/acknowledged[^]*"id":1,"result":.*"resultType":"complete"/)
    expect(await found.text()).toMatch(/"id":2,"result":.*"searched":100/)
    await standalone.text()
    expect(await server.ended).toEqual({ code: 0, signal: null })
  })
})

describe("files/demo.ts", { timeout: 120_000 }, () => {
  it("shows everything, over stdio and over HTTP, in each era", async () => {
    const { code, stderr, stdout } = await Programs.run("files/demo.ts")
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    for (const transport of ["stdio", "HTTP"]) {
      for (const revision of ["2025-11-25", "2026-07-28"]) {
        const heading = `Over ${transport}, revision ${revision}\n`
        expect(stdout).toContain(heading)
        const part = stdout.slice(stdout.indexOf(heading)).split("\n\n")[0]
        expect(part).toContain(`speaks ${revision}`)
        expect(part).toContain("tools: search, read, rename")
        expect(part).toContain("100 %")
        expect(part).toMatch(/cancel +a search, after \d+ of \d+ files/)
        expect(part).toContain("The server asks: Rename hello.ts to renamed.ts?")
        expect(part).toContain("rename: yes")
        expect(part).toContain("client.ts, greet.ts, renamed.ts, server.ts")
        expect(part).toContain("file:///server.ts has changed")
      }
    }
    expect(stdout).toMatch(/listening +http:\/\/127\.0\.0\.1:\d+\/mcp\n/)
  })
})
