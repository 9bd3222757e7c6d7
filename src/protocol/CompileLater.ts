/**
 * Compiling schemas to code when it is worth it. Generating code takes as long as thousands of checks by interpretation,
 * which a process that answers a few requests, or a message that comes once in a session, never makes up for.
 */
import type * as Schema from "effect/Schema"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"

/** Uses after which a schema is compiled. */
const worthIt = 100

/**
 * A function that `make` makes of a schema: on first use, so that what a process never needs costs it nothing, and once more
 * after a number of uses, compiled. Where code generation is blocked the schema is interpreted for good.
 */
export const compileLater = <A, B>(schema: Schema.Top, make: () => (value: A) => B): ((value: A) => B) => {
  let run: ((value: A) => B) | undefined
  let uses = 0
  return (value) => {
    if (uses < worthIt) {
      if (++uses === worthIt) {
        SchemaJITCompiler.enable(schema.ast)
        run = undefined
      }
      run ??= make()
    }
    return (run as (value: A) => B)(value) // made at the first use
  }
}
