/** Bytes that a minimal stdio server brings along: installed on the disk, and bundled. */
import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { gzipSync } from "node:zlib"
import { inBench } from "../harness/Child.ts"
import type { Result, Row } from "../harness/Result.ts"
import type { System } from "../harness/Systems.ts"
import type { Workload } from "../harness/Workload.ts"

interface Manifest {
  readonly name: string
  readonly files?: ReadonlyArray<string>
  readonly dependencies?: { readonly [name: string]: string }
  readonly peerDependencies?: { readonly [name: string]: string }
  readonly peerDependenciesMeta?: { readonly [name: string]: { readonly optional?: boolean } }
}

const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))

const root = inBench("..").replace(/\/$/, "")

/** Where a package is that is needed by one in `from`. */
const find = (name: string, from: string): string | undefined => {
  if (name === "mcp-effect") return root
  for (let folder = from; folder !== dirname(folder); folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name)
    if (existsSync(join(candidate, "package.json"))) return candidate
  }
  return undefined
}

const sizeOf = (path: string): number => {
  if (!existsSync(path) || lstatSync(path).isSymbolicLink()) return 0
  if (!statSync(path).isDirectory()) return statSync(path).size
  // What a package needs of others is counted on its own.
  const entries = readdirSync(path).filter((entry) => entry !== "node_modules")
  return entries.reduce((total, entry) => total + sizeOf(join(path, entry)), 0)
}

/** The packages that npm would install for these, without what is optional. */
const closure = (packages: ReadonlyArray<string>): ReadonlySet<string> => {
  const found = new Set<string>()
  const add = (name: string, from: string): void => {
    const folder = find(name, from)
    if (folder === undefined || found.has(folder)) return
    found.add(folder)
    const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = manifestOf(folder)
    for (const needed of Object.keys(dependencies)) add(needed, folder)
    for (const needed of Object.keys(peerDependencies)) {
      if (peerDependenciesMeta[needed]?.optional !== true) add(needed, folder)
    }
  }
  for (const name of packages) add(name, inBench("systems"))
  return found
}

const installedBytes = (folder: string): number =>
  folder === root
    ? // Of this package, what is published.
      [...(manifestOf(root).files ?? []), "package.json"].reduce((total, file) => total + sizeOf(join(root, file)), 0)
    : sizeOf(folder)

const installed = ({ name, packages, role }: System): Row => {
  const folders = [...closure(packages)]
  return {
    system: name,
    role,
    value: folders.reduce((total, folder) => total + installedBytes(folder), 0),
    more: {
      packages: folders.length,
      "B of its own": installedBytes(find(packages[0] ?? "", inBench("systems")) ?? "")
    }
  }
}

interface Bundler {
  readonly build: (
    options: object
  ) => Promise<{ readonly outputFiles: ReadonlyArray<{ readonly contents: Uint8Array }> }>
}

const bundled = async ({ folder, name, role }: System): Promise<Row> => {
  const { build } = createRequire(import.meta.url)("esbuild") as Bundler
  const { outputFiles } = await build({
    entryPoints: [inBench(`systems/${folder}/server-stdio.ts`)],
    bundle: true,
    minify: true,
    platform: "node",
    format: "esm",
    target: "node22",
    write: false,
    logLevel: "silent",
    conditions: ["import", "node", "production"],
    // Schema libraries that fastmcp looks for and does not depend on.
    external: folder === "fastmcp" ? ["effect", "sury", "@valibot/to-json-schema"] : []
  })
  const contents = outputFiles[0]?.contents ?? new Uint8Array(0)
  return { system: name, role, value: contents.length, more: { "B compressed": gzipSync(contents).length } }
}

const weigh = async (
  workload: string,
  title: string,
  systems: ReadonlyArray<System>,
  measure: (system: System) => Row | Promise<Row>
): Promise<Result> => {
  const rows: Array<Row> = []
  const absent: Array<{ system: string; why: string }> = []
  for (const system of systems) {
    try {
      rows.push(await measure(system))
    } catch (cause) {
      absent.push({ system: system.name, why: String(cause).split("\n")[0] ?? "" })
    }
  }
  return { workload, title, unit: "bytes", better: "lower", rows, absent }
}

export const workloads: ReadonlyArray<Workload> = [
  {
    name: "installed",
    title: "Bytes installed for a stdio server",
    quick: true,
    run: ({ systems }) =>
      weigh(
        "installed",
        "Bytes installed for a stdio server",
        systems.filter(({ everywhere, role }) => everywhere && role !== "limit"),
        installed
      )
  },
  {
    name: "bundled",
    title: "Bytes of a stdio server, bundled and minified",
    quick: true,
    run: ({ systems }) =>
      weigh(
        "bundled",
        "Bytes of a stdio server, bundled and minified",
        systems.filter(({ everywhere, role }) => everywhere && role !== "limit"),
        bundled
      )
  }
]
