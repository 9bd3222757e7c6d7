/**
 * From a schema to an arbitrary of fast-check: Effect derives the values, fast-check runs, shrinks and replays them.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as FastCheck from "fast-check"
import * as JsonCodec from "../protocol/JsonCodec.ts"
import { simpler } from "./JsonShrinking.ts"

/** The module `fast-check`, which its user passes in: this package only knows its types. */
export type FastCheckModule = typeof FastCheck

/** How large strings, lists and records get, as Effect's `Arbitrary` counts it. */
const maximumSize = 6

/** Values that one sample may throw away before it is given up; filters of the schemas need some. */
const maximumDiscards = 100

/** A value as JSON has it: what JSON lacks is gone, `toJSON` was asked, and no prototype but its own is left. */
const asJson = (value: unknown): unknown => {
  const text = JSON.stringify(value)
  return text === undefined ? null : JSON.parse(text)
}

/**
 * JSON that a schema takes, as an arbitrary. A failing value is shrunk by leaving out and shortening parts, as long as
 * the schema still takes it.
 */
export const make = <S extends Schema.Constraint>(fc: FastCheckModule, schema: S): FastCheck.Arbitrary<unknown> => {
  const codec = JsonCodec.make(schema)
  const values = Arbitrary.schema(codec)
  const encode = Schema.encodeUnknownSync(codec)
  const decode = Schema.decodeUnknownResult(codec)
  const accepts = (json: unknown): boolean => Result.isSuccess(decode(json))

  class SchemaArbitrary extends fc.Arbitrary<unknown> {
    generate(random: FastCheck.Random): FastCheck.Value<unknown> {
      // Sampling can come up with what has no JSON form, such as a value that a filter takes only as it is in memory.
      for (let attempt = 0; attempt < 20; attempt++) {
        const options = {
          count: 1,
          size: random.nextInt(0, maximumSize),
          seed: random.nextInt(0, 0x7fffffff),
          maxDiscards: maximumDiscards
        }
        const sampled = Effect.runSync(Effect.result(Arbitrary.sampleEffect(values, options)))
        if (Result.isFailure(sampled)) continue
        const json = asJson(encode(sampled.success[0]))
        if (accepts(json)) return new fc.Value(json, undefined)
      }
      throw new TypeError("No values were found that this schema takes after they were written as JSON and read again")
    }

    canShrinkWithoutContext(value: unknown): value is unknown {
      return accepts(value)
    }

    shrink(value: unknown): FastCheck.Stream<FastCheck.Value<unknown>> {
      return fc
        .stream(simpler(value))
        .filter(accepts)
        .map((json) => new fc.Value<unknown>(json, undefined))
    }
  }

  return new SchemaArbitrary()
}
