/**
 * What can be imported by which name.
 */
import { describe, expect, it } from "vitest"
import { readFileSync } from "node:fs"

const { exports } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  readonly exports: { readonly [name: string]: { readonly types: string; readonly default: string } | string }
}

/** The source of what a name of the package stands for. */
const sourceOf = (name: string): string => {
  const entry = exports[name]
  if (entry === undefined || typeof entry === "string") throw new Error(`package.json exports no ${name}`)
  const source = entry.default.replace("./dist/", "../src/").replace(/\.js$/, ".ts")
  expect(entry.types).toBe(entry.default.replace(/\.js$/, ".d.ts"))
  return source
}

const load = (name: string): Promise<{ readonly [member: string]: unknown }> => import(sourceOf(name))

describe("every module of an index has a name of its own", () => {
  for (const index of [".", "./node", "./testing"]) {
    it(index, async () => {
      const all = await load(index)
      for (const [name, member] of Object.entries(all)) {
        if (typeof member === "function" || name === "PromptMessage") continue
        // Both names give one module, not one each.
        expect(await load(`${index}/${name}`), name).toBe(member)
      }
    })
  }

  it("and so does McpError", async () => {
    expect((await load("./McpError")).McpError).toBe((await load(".")).McpError)
  })

  it("and nothing else has", async () => {
    const all = Object.keys(exports).filter((name) => /^\.\/([A-Z]|node\/|testing\/)/.test(name))
    for (const name of all.filter((other) => other !== "./McpError")) {
      const index = name.slice(0, name.lastIndexOf("/"))
      expect(Object.keys(await load(index)), name).toContain(name.slice(index.length + 1))
    }
  })
})
