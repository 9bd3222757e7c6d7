/**
 * Clients over stdio: many on one connection that lasts, and now and then one with a server of its own.
 */
import { Pipe } from "./Pipe.ts"
import { behaviours, visit } from "./pipes.ts"
import { expectEqual, type Tally, Wrong } from "./Tally.ts"
import type { Json } from "./Wire.ts"
import { act, work } from "./Worker.ts"

const pipe = new Pipe()
const ready = pipe.initialize()
let isVisiting = false

/** Whatever came and should not have is wrong; then what the server holds. */
const finish = async (tally: Tally): Promise<unknown> => {
  const measured = await pipe.ask(pipe.modern("tools/call", { name: "measure", arguments: {} }))
  for (const surprise of pipe.surprises.splice(0)) tally.failure("stdio: surprises", new Wrong(surprise))
  expectEqual(pipe.child.exitCode, null, "The exit code")
  return (measured.result as Json).structuredContent
}

work(async (setting) => {
  await ready
  if (!isVisiting && setting.random.next() < 0.02) {
    isVisiting = true
    await visit(setting)
    isVisiting = false
  } else await act(behaviours, pipe, setting)
}, finish)

process.once("exit", () => pipe.child.kill("SIGKILL"))
