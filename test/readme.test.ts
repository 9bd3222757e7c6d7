/**
 * The README shows nothing but whole files of this repository, which are type-checked, linted and run like all others.
 */
import { describe, expect, it } from "@effect/vitest"
import { Duration } from "effect"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { defaultLimits } from "../src/client/Settings.ts"

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), "utf8")

const readme = read("README.md")
const blocks = [...readme.matchAll(/^```ts\n([^]*?)\n```$/gm)].map(([, text = ""]) => text)
const nameOf = (block: string) => /^\/\/ (\S+)\n/.exec(block)?.[1] ?? "a block without a name"

/** A file without the comment that it begins with. */
const code = (path: string) => read(path).replace(/^\/\*\*[^]*?\*\/\n/, "")

const linesOf = (...paths: ReadonlyArray<string>) =>
  paths.flatMap((path) => code(path).trim().split("\n")).filter((line) => line !== "").length

describe("README", () => {
  it("has code in it", () => {
    expect(blocks.map(nameOf)).toContain("examples/hello/server.ts")
  })

  it.each(blocks.map((block) => [nameOf(block), block] as const))("shows %s as it is", (path, block) => {
    expect(`${block}\n`).toBe(`// ${path}\n${code(path)}`)
  })

  it("needs under forty lines for a server, and for a client", () => {
    expect(linesOf("examples/hello/greet.ts", "examples/hello/hello.ts", "examples/hello/server.ts")).toBeLessThan(40)
    expect(linesOf("examples/hello/greet.ts", "examples/hello/client.ts")).toBeLessThan(40)
  })

  it("links to files that are there", () => {
    const links = [...readme.matchAll(/\]\((?!http|#)([^)]+)\)/g)].map(([, path = ""]) => path)
    expect(links.length).toBeGreaterThan(0)
    for (const path of links.filter((path) => path.endsWith(".ts"))) expect(read(path)).not.toBe("")
  })

  it.each(Object.entries(defaultLimits))("has limits.%s in its table, with the default", (limit, value) => {
    const row = readme.split("\n").find((line) => line.startsWith("|") && line.includes(`\`limits.${limit}\``))
    const text =
      typeof value === "number" ? value.toLocaleString("en") : Duration.format(Duration.fromInputUnsafe(value))
    expect(row?.replace(" min ", "m ").replace(" s ", "s ")).toContain(`| ${text} |`)
  })

  it("says which scripts to run", () => {
    const { scripts } = JSON.parse(read("package.json"))
    for (const [, script = ""] of readme.matchAll(/npm run (\w+)/g)) expect(scripts).toHaveProperty(script)
  })
})
