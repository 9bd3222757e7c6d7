/**
 * Installs what this directory compares with, if that has not been done yet.
 */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"

if (!existsSync(join(import.meta.dirname, "node_modules"))) {
  const { status } = spawnSync("npm", ["ci", "--prefix", import.meta.dirname], {
    stdio: "inherit",
    shell: process.platform === "win32"
  })
  process.exitCode = status ?? 1
}
