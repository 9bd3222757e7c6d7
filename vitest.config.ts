import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

const source = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url))

export default defineConfig({
  resolve: {
    alias: [
      { find: "mcp-effect/node", replacement: source("node/index.ts") },
      { find: "mcp-effect/testing", replacement: source("testing/index.ts") },
      { find: /^mcp-effect$/, replacement: source("index.ts") }
    ]
  },
  test: {
    include: ["test/**/*.test.ts"],
    passWithNoTests: false
  }
})
