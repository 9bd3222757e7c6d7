/** A server is a value too. */
import { Effect } from "effect"
import { McpServer, Tool } from "mcp-effect"
import { Greet } from "./greet.ts"

export const hello = McpServer.make({
  name: "hello",
  version: "1.0.0",
  tools: [Tool.handle(Greet, ({ name }) => Effect.succeed({ greeting: `Hello, ${name}!` }))]
})
