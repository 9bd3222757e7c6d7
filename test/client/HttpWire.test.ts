/**
 * What our client puts on the wire over HTTP, recorded between it and our own server.
 */
import { describe, expect, it } from "@effect/vitest"
import { Context, Effect, Layer, Schema, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { McpClient, McpServer, Prompt, PromptMessage, Resource, StreamableHttp, Tool } from "../../src/index.ts"

interface Sent {
  readonly method: string
  readonly headers: Headers
  readonly body: { readonly [member: string]: unknown } | ReadonlyArray<unknown> | undefined
}

const tools = Array.from({ length: 5 }, (_, index) =>
  Tool.handle(
    Tool.make(`tool-${index}`, { input: Schema.Struct({}), hints: { readOnly: true, idempotent: true } }),
    () => Effect.succeed("done")
  )
)
const server = McpServer.make({
  name: "recorded",
  version: "1.0.0",
  tools,
  resources: [Resource.make("file:///a", { name: "a", changes: Stream.never }, Effect.succeed("a"))],
  prompts: [Prompt.make("über", {}, () => Effect.succeed([PromptMessage.user("hello")]))],
  pageSize: 2
})

const record = <A, E>(
  revision: string,
  use: (client: McpClient.Client) => Effect.Effect<A, E>
): Effect.Effect<ReadonlyArray<Sent>, E> =>
  Effect.scoped(
    Effect.gen(function* () {
      const sent: Array<Sent> = []
      const { dispose, handler } = StreamableHttp.toWebHandler(server, Context.empty())
      yield* Effect.addFinalizer(() => Effect.promise(dispose))
      const fetch: typeof globalThis.fetch = async (input, init) => {
        const request = new Request(input, init)
        const text = await request.clone().text()
        sent.push({
          method: request.method,
          headers: request.headers,
          body: text === "" ? undefined : JSON.parse(text)
        })
        return handler(request)
      }
      const client = McpClient.layer({
        name: "test",
        version: "1.0.0",
        revisions: [revision],
        handlers: {
          elicit: () => Effect.succeed({ action: "decline" } as const),
          sample: () => Effect.die("not asked"),
          roots: Effect.succeed([])
        }
      }).pipe(
        Layer.provide(StreamableHttp.layerClient({ url: "http://127.0.0.1/mcp" })),
        Layer.provide(FetchHttpClient.layer),
        Layer.provide(Layer.succeed(FetchHttpClient.Fetch, fetch))
      )
      yield* Effect.provide(Effect.flatMap(McpClient.McpClient, use), client) as Effect.Effect<A, E>
      return sent
    })
  )

const posts = (sent: ReadonlyArray<Sent>) => sent.filter(({ method }) => method === "POST")
const methodOf = ({ body }: Sent) => (body as { readonly method?: string }).method

describe("a legacy client over HTTP", () => {
  it.live("[LIFE-12] names the negotiated revision in every request after initialization", () =>
    Effect.gen(function* () {
      const sent = yield* record("2025-11-25", (client) => Stream.runCollect(client.listTools))
      const after = sent.slice(sent.findIndex((request) => methodOf(request) === "initialize") + 1)
      expect(after.length).toBeGreaterThan(3)
      for (const { headers } of after) expect(headers.get("mcp-protocol-version")).toBe("2025-11-25")
    })
  )

  it.live("[HTTP-09] posts exactly one message at a time", () =>
    Effect.gen(function* () {
      const calls = (client: McpClient.Client) =>
        Effect.all(
          tools.map(({ key }) => client.callTool(key, {})),
          { concurrency: "unbounded" }
        )
      const sent = posts(yield* record("2025-11-25", calls))
      expect(sent.filter((request) => methodOf(request) === "tools/call")).toHaveLength(5)
      for (const { body } of sent) {
        expect(Array.isArray(body)).toBe(false)
        expect(body).toMatchObject({ jsonrpc: "2.0", method: expect.any(String) })
      }
    })
  )
})

describe("a modern client over HTTP", () => {
  it.live("[BUG-138][HDR-01][HDR-02] says in headers what every request is about, in ASCII", () =>
    Effect.gen(function* () {
      const sent = posts(
        yield* record("2026-07-28", (client) =>
          Effect.gen(function* () {
            yield* client.callTool("tool-1", {})
            yield* Effect.ignore(client.readResource("file:///é"))
            yield* client.getPrompt("über")
            yield* Effect.scoped(client.subscribe({ uris: ["file:///a"] }))
          })
        )
      )
      const encoded = (text: string) => `=?base64?${Buffer.from(text).toString("base64")}?=`
      const names: { [method: string]: string | null } = {}
      for (const request of sent) {
        const method = methodOf(request)
        expect(request.headers.get("mcp-method")).toBe(method)
        names[method ?? ""] = request.headers.get("mcp-name")
      }
      expect(names).toMatchObject({
        "server/discover": null,
        "tools/call": "tool-1",
        "resources/read": encoded("file:///é"),
        "prompts/get": encoded("über"),
        "subscriptions/listen": null
      })
    })
  )

  it.live("[SAMP-02][ELIC-02][ROOT-02] declares what it can be asked in every request", () =>
    Effect.gen(function* () {
      const sent = posts(yield* record("2026-07-28", (client) => client.callTool("tool-1", {})))
      expect(sent.length).toBeGreaterThan(1)
      for (const { body } of sent) {
        expect(body).toMatchObject({
          params: {
            _meta: {
              "io.modelcontextprotocol/clientCapabilities": { sampling: {}, elicitation: { form: {} }, roots: {} }
            }
          }
        })
      }
    })
  )
})

describe.each(["2025-11-25", "2026-07-28"])("a client that speaks %s", (revision) => {
  it.live("[PAGE-03] begins every listing without a cursor of an earlier one", () =>
    Effect.gen(function* () {
      const twice = (client: McpClient.Client) =>
        Effect.andThen(Stream.runCollect(Stream.take(client.listTools, 3)), Stream.runCollect(client.listTools))
      const lists = posts(yield* record(revision, twice)).filter((request) => methodOf(request) === "tools/list")
      const cursors = lists.map(({ body }) => (body as { params?: { cursor?: string } }).params?.cursor)
      expect(cursors.filter((cursor) => cursor === undefined)).toHaveLength(2)
      expect(cursors.length).toBeGreaterThanOrEqual(4)
    })
  )

  it.live("[TOOL-06] does not take a server's word for it that a tool changes nothing: every call goes out", () =>
    Effect.gen(function* () {
      const thrice = (client: McpClient.Client) =>
        Effect.andThen(
          Stream.runDrain(client.listTools),
          Effect.replicateEffect(client.callTool("tool-0", {}), 3, { discard: true })
        )
      const sent = posts(yield* record(revision, thrice))
      expect(sent.filter((request) => methodOf(request) === "tools/call")).toHaveLength(3)
    })
  )
})
