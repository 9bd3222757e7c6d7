/**
 * The servers as plain JavaScript, for what starts a process of its own: a user's server is not stripped of its types
 * at every start.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { inBench } from "./Child.ts"

interface Transformer {
  readonly transformSync: (source: string, options: object) => { readonly code: string }
}

// Required when it is needed: in a fresh clone it is not there yet.
const strip = (source: string): string =>
  (createRequire(import.meta.url)("esbuild") as Transformer).transformSync(source, { loader: "ts", target: "node22" })
    .code

const build = (from: string, to: string): void => {
  mkdirSync(to, { recursive: true })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (entry.isDirectory()) build(`${from}/${entry.name}`, `${to}/${entry.name}`)
    else if (entry.name.endsWith(".ts")) {
      const source = strip(readFileSync(`${from}/${entry.name}`, "utf8"))
      const text = source.replace(/(from "\.[^"]*)\.ts"/g, '$1.js"')
      writeFileSync(`${to}/${entry.name.replace(/\.ts$/, ".js")}`, text)
    }
  }
}

let done = false

/** The path of a server's JavaScript. */
export const built = (file: string): string => {
  if (!done) build(inBench("systems"), inBench("built"))
  done = true
  return inBench(`built/${file.replace(/\.ts$/, ".js")}`)
}
