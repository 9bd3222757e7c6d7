/**
 * The documentation in the code: every public name has some, and every example in it compiles.
 */
import { describe, expect, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const source = join(root, "src")
// Ignored by git, and near enough to find the packages that the examples import.
const workshop = join(root, "results", "doc-examples")

const entries = ["index.ts", "node/index.ts", "testing/index.ts"].map((path) => join(source, path))

interface Example {
  /** Where it begins, as `src/a/B.ts:12`. */
  readonly place: string
  readonly code: string
}

/** The code blocks of all doc comments in a file. */
const examplesIn = (file: string): ReadonlyArray<Example> => {
  const text = readFileSync(file, "utf8")
  return [...text.matchAll(/^( *)\* ```ts\n([^]*?)\n\1\* ```$/gm)].map(({ 1: indent = "", 2: block = "", index }) => ({
    place: `${relative(root, file)}:${text.slice(0, index).split("\n").length}`,
    code: block
      .split("\n")
      .map((line) => line.slice(indent.length + 2))
      .join("\n")
  }))
}

const examples = globSync("**/*.ts", { cwd: source }).flatMap((file) => examplesIn(join(source, file)))

/** What the compiler says about a program of all examples, each a module of its own. */
const complaints = (examples: ReadonlyArray<Example>): Promise<string> => {
  rmSync(workshop, { recursive: true, force: true })
  mkdirSync(workshop, { recursive: true })
  const nameOf = ({ place }: Example) => `${place.replaceAll("/", "-").replace(":", "-line-")}.ts`
  for (const example of examples) writeFileSync(join(workshop, nameOf(example)), `${example.code}\nexport {}\n`)
  const settings = {
    extends: "../../tsconfig.json",
    // An example may name what it does not go on to use.
    compilerOptions: { noUnusedLocals: false },
    include: ["*.ts"],
    exclude: []
  }
  writeFileSync(join(workshop, "tsconfig.json"), JSON.stringify(settings))
  return new Promise((resolve) => {
    const compiler = join(root, "node_modules", ".bin", "tsc")
    execFile(process.execPath, [compiler, "-p", workshop, "--pretty", "false"], { cwd: root }, (error, stdout) => {
      // What is wrong with the sources themselves is not for this test to say.
      const about = stdout.split("\n").filter((line) => line.startsWith(relative(root, workshop)))
      resolve(error !== null && stdout === "" ? String(error) : about.join("\n"))
    })
  })
}

/** Files that can be imported by users, with the names that are: all of a file, unless it is only named in part. */
const publicFiles = (): ReadonlyMap<string, ReadonlySet<string> | "all"> => {
  const found = new Map<string, Set<string> | "all">()
  const visit = (file: string, names: ReadonlyArray<string> | "all") => {
    const before = found.get(file)
    if (before === "all") return
    found.set(file, names === "all" ? "all" : new Set([...(before ?? []), ...names]))
    const text = readFileSync(file, "utf8")
    for (const [, from = ""] of text.matchAll(/^export (?:type )?\*(?: as \w+)? from "(\.[^"]+)"/gm)) {
      visit(join(dirname(file), from), "all")
    }
    for (const [, list = "", from = ""] of text.matchAll(/^export (?:type )?\{([^}]+)\} from "(\.[^"]+)"/gm)) {
      const exported = list.split(",").map((name) =>
        name
          .trim()
          .replace(/^type /, "")
          .replace(/ as .*/, "")
      )
      visit(join(dirname(file), from), exported)
    }
  }
  for (const entry of entries) visit(entry, "all")
  return found
}

/**
 * Names that are exported without a comment above them, and members of exported interfaces that lack one; those of the
 * messages mean what the specification says.
 */
const bareNames = (file: string, names: ReadonlySet<string> | "all"): ReadonlyArray<string> => {
  const lines = readFileSync(file, "utf8").split("\n")
  const isMessage = relative(source, file).startsWith("protocol")
  const bare: Array<string> = []
  let open: string | undefined
  for (const [index, line] of lines.entries()) {
    const isDocumented = lines[index - 1]?.trim().endsWith("*/") === true
    const [, kind, name] = /^export (?:abstract )?(const|function|class|interface|type) (\w+)/.exec(line) ?? []
    if (name !== undefined && (names === "all" || names.has(name))) {
      open = kind === "interface" && line.endsWith("{") ? name : undefined
      if (!isDocumented) bare.push(name)
    }
    if (line === "}") open = undefined
    const [, member] = /^ {2}(?:readonly )?([a-z]\w*)\??:/.exec(line) ?? []
    if (open !== undefined && member !== undefined && !isDocumented && !isMessage) bare.push(`${open}.${member}`)
  }
  return bare.map((name) => `${relative(root, file)} ${name}`)
}

describe("doc comments", () => {
  it("have examples that compile", { timeout: 60_000 }, async () => {
    expect(examples.length).toBeGreaterThan(20)
    expect(await complaints(examples)).toBe("")
  })

  it("begin every public file", () => {
    const without = [...publicFiles().keys()].filter((file) => !readFileSync(file, "utf8").startsWith("/**"))
    expect(without.map((file) => relative(root, file))).toEqual([])
  })

  it("are there for every public name", () => {
    expect([...publicFiles()].flatMap(([file, names]) => bareNames(file, names))).toEqual([])
  })
})
