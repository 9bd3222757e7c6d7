import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { McpClient } from "mcp-effect"
import { McpTest } from "mcp-effect/testing"
import { Greet } from "../../examples/hello/greet.ts"
import { hello } from "../../examples/hello/hello.ts"

it.layer(McpTest.layer(hello))("hello", (it) => {
  it.effect("greets", () =>
    Effect.gen(function* () {
      const client = yield* McpClient.McpClient
      expect(yield* client.call(Greet, { name: "Ada" })).toEqual({ greeting: "Hello, Ada!" })
    })
  )
})
