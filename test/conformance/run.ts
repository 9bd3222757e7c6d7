/**
 * Runs the official conformance suite against `server.ts` and `client.ts` and prints one table.
 *
 *     npm run conformance                                            every required scenario, both roles
 *     npm run conformance -- --role server --revision 2026-07-28     a part of them
 *     npm run conformance -- --scenario caching                      one scenario, with every check
 *     npm run conformance -- --spec-version 2025-06-18               all that applies to another revision
 *
 * Exits with 1 when a scenario fails that `baseline.yaml` does not list, or passes although it is listed.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, globSync, mkdirSync, readFileSync, rmSync } from "node:fs"
import { basename, delimiter, dirname, join, resolve } from "node:path"
import { createInterface } from "node:readline"
import { parseArgs } from "node:util"

type Role = "server" | "client"

interface Check {
  readonly id: string
  readonly status: string
  readonly description: string
  readonly errorMessage?: string
}

interface Outcome {
  readonly scenario: string
  readonly scored: boolean
  readonly failures: ReadonlyArray<Check>
}

interface Leg {
  readonly role: Role
  readonly revision: string
  readonly outcomes: ReadonlyArray<Outcome>
}

const root = resolve(import.meta.dirname, "../..")
const suite = join(root, "node_modules/@modelcontextprotocol/conformance")
const baselineFile = join(import.meta.dirname, "baseline.yaml")

const { values: options } = parseArgs({
  options: {
    role: { type: "string" },
    revision: { type: "string" },
    scenario: { type: "string" },
    "spec-version": { type: "string" },
    timeout: { type: "string", default: "30000" }
  }
})

// The suite starts the client through a shell, which must find this Node and not the host's.
const environment = { ...process.env, PATH: dirname(process.execPath) + delimiter + (process.env["PATH"] ?? "") }

/** The scenarios that a revision requires of a role, and those that it only reports, from the suite's own list. */
const required = (revision: string, role: Role): { scored: ReadonlyArray<string>; unscored: ReadonlyArray<string> } => {
  const file = join(suite, "requirements", `${revision}.yaml`)
  const sections = existsSync(file) ? readFileSync(file, "utf8").split(/^(?=\w+:)/m) : []
  const section = (name: string): string => sections.find((text) => text.startsWith(`${name}:`)) ?? ""
  return {
    scored: [...section(role).matchAll(/^ {2}- (\S+)$/gm)].map((match) => match[1] ?? ""),
    unscored: [...section("not_scored").matchAll(/^ {2}- scenario: (\S+)\n {4}leg: (\w+)$/gm)]
      .filter((match) => match[2] === role)
      .map((match) => match[1] ?? "")
  }
}

const baseline = [...readFileSync(baselineFile, "utf8").matchAll(/^ {2}- (\S+)$/gm)].map((match) => match[1] ?? "")

/** Starts the server fixture and waits for the URL that it prints. */
const startServer = async (): Promise<{ url: string; child: ChildProcess }> => {
  const child = spawn(process.execPath, [join(import.meta.dirname, "server.ts"), "--port", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: environment
  })
  const exited = once(child, "exit").then(() => {
    throw new Error("The server ended before it printed its URL")
  })
  const printed = (async () => {
    for await (const line of createInterface({ input: child.stdout })) {
      const url = /https?:\/\/\S+/.exec(line)?.[0]
      if (url !== undefined) return url
    }
    return exited
  })()
  const url = await Promise.race([printed, exited])
  exited.catch(() => undefined)
  child.stdout.resume()
  return { url, child }
}

const runSuite = async (parameters: ReadonlyArray<string>): Promise<number> => {
  const child = spawn(process.execPath, [join(suite, "dist/index.js"), ...parameters], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    env: environment
  })
  const [code] = await once(child, "exit")
  return typeof code === "number" ? code : 1
}

/** Reads what the suite wrote: one `checks.json` in a directory `[server-]<scenario>-<time>` for each scenario. */
const readOutcomes = (directory: string, wanted: ReturnType<typeof required>): ReadonlyArray<Outcome> => {
  const found = new Map<string, ReadonlyArray<Check>>()
  for (const file of globSync("**/checks.json", { cwd: directory })) {
    const name = dirname(file)
      .replaceAll("\\", "/")
      .replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, "")
    const scenario = basename(directory).endsWith("server") ? name.replace(/^server-/, "") : name
    found.set(scenario, JSON.parse(readFileSync(join(directory, file), "utf8")))
  }
  const expected = [...wanted.scored, ...wanted.unscored]
  const scenarios = expected.length > 0 ? expected : [...found.keys()].toSorted()
  return scenarios.map((scenario) => ({
    scenario,
    scored: !wanted.unscored.includes(scenario),
    failures: failuresOf(found.get(scenario) ?? [])
  }))
}

/** A scenario in which nothing succeeded has not passed either: the peer was not there, or everything was skipped. */
const failuresOf = (checks: ReadonlyArray<Check>): ReadonlyArray<Check> => {
  const failures = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING")
  const succeeded = checks.some(({ status }) => status === "SUCCESS")
  if (failures.length > 0 || succeeded) return failures
  return [{ id: "nothing-checked", status: "FAILURE", description: "No check of this scenario succeeded" }]
}

const runLeg = async (role: Role, revision: string, url: string | undefined): Promise<Leg & { code: number }> => {
  const directory = join(root, "results/conformance", `${revision}-${role}`)
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true })

  const { scenario, "spec-version": specVersion } = options
  const target =
    role === "server"
      ? ["--url", url ?? ""]
      : ["--command", "node test/conformance/client.ts", "--timeout", options.timeout]
  const selection =
    scenario !== undefined
      ? ["--scenario", scenario, "--spec-version", revision, "--force", "--verbose"]
      : specVersion !== undefined
        ? ["--suite", "all", "--spec-version", specVersion]
        : ["--requirements", revision]
  const code = await runSuite([
    role,
    ...target,
    ...selection,
    "--expected-failures",
    baselineFile,
    "--output-dir",
    directory
  ])

  const all = specVersion === undefined ? required(revision, role) : { scored: [], unscored: [] }
  const chosen = (name: string): boolean => scenario === undefined || name === scenario
  const wanted = { scored: all.scored.filter(chosen), unscored: all.unscored.filter(chosen) }
  return { role, revision, code, outcomes: readOutcomes(directory, wanted) }
}

const isAuthorization = ({ scenario }: Outcome): boolean => scenario.startsWith("auth/")
const hasPassed = ({ failures }: Outcome): boolean => failures.length === 0

const printTable = (legs: ReadonlyArray<Leg>): void => {
  const title = [
    "revision",
    "role",
    "passed",
    "failed",
    "auth passed",
    "auth failed",
    "unscored passed",
    "unscored failed"
  ]
  const rows = legs.map(({ role, revision, outcomes }) => {
    const scored = outcomes.filter((outcome) => outcome.scored)
    const groups = [
      scored.filter((outcome) => !isAuthorization(outcome)),
      scored.filter(isAuthorization),
      outcomes.filter((outcome) => !outcome.scored)
    ]
    const counts = groups.map((group) => [
      group.filter(hasPassed).length,
      group.filter((one) => !hasPassed(one)).length
    ])
    return [revision, role, ...counts.flat().map(String)]
  })
  const widths = title.map((cell, column) => Math.max(cell.length, ...rows.map((row) => (row[column] ?? "").length)))
  for (const row of [title, widths.map((width) => "-".repeat(width)), ...rows]) {
    console.log(row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "))
  }
}

const printFailures = (legs: ReadonlyArray<Leg>): void => {
  for (const { role, revision, outcomes } of legs) {
    for (const outcome of outcomes) {
      if (hasPassed(outcome) || isAuthorization(outcome)) continue
      console.log(`\n${revision} ${role} ${outcome.scenario}${outcome.scored ? "" : " (not scored)"}`)
      for (const { id, status, description, errorMessage } of outcome.failures) {
        console.log(`  ${status} ${id}: ${errorMessage ?? description}`)
      }
    }
  }
}

const main = async (): Promise<boolean> => {
  const roles = (["server", "client"] as const).filter((role) => options.role === undefined || options.role === role)
  const revisions = [options["spec-version"] ?? options.revision ?? ["2025-11-25", "2026-07-28"]].flat()
  const stray = baseline.filter((entry) => !entry.startsWith("auth/"))
  if (stray.length > 0) throw new Error(`baseline.yaml may hold auth/ scenarios only, not ${stray.join(", ")}`)

  const plan = roles.flatMap((role) => revisions.map((revision) => ({ role, revision })))
  const isPlanned = (leg: { role: Role; revision: string }): boolean => {
    if (options.scenario === undefined || options["spec-version"] !== undefined) return true
    const { scored, unscored } = required(leg.revision, leg.role)
    return [...scored, ...unscored].includes(options.scenario)
  }
  const planned = plan.filter(isPlanned)
  if (planned.length === 0) throw new Error("No such role, revision or scenario")

  const server = planned.some(({ role }) => role === "server") ? await startServer() : undefined
  const legs: Array<Leg & { code: number }> = []
  try {
    for (const { role, revision } of planned) legs.push(await runLeg(role, revision, server?.url))
  } finally {
    server?.child.kill()
  }

  console.log("\n")
  printTable(legs)
  printFailures(legs)
  const unexpected = legs.flatMap(({ outcomes }) =>
    outcomes.filter((outcome) => outcome.scored && !hasPassed(outcome) && !baseline.includes(outcome.scenario))
  )
  return unexpected.length === 0 && legs.every(({ code }) => code === 0)
}

process.exitCode = (await main()) ? 0 : 1
