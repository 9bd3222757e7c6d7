/**
 * For `node --import`: programs that import this package get its source instead of the last build, so that a test never
 * runs yesterday's code.
 */
import { registerHooks } from "node:module"

const entries: { readonly [specifier: string]: string } = {
  "mcp-effect": "../../src/index.ts",
  "mcp-effect/node": "../../src/node/index.ts",
  "mcp-effect/testing": "../../src/testing/index.ts"
}

registerHooks({
  resolve: (specifier, context, next) => {
    const source = entries[specifier]
    return next(source === undefined ? specifier : new URL(source, import.meta.url).href, context)
  }
})
