/**
 * Assertions on what a schema takes for its own.
 */
import { expect } from "@effect/vitest"
import { Schema } from "effect"

/** Expects that every value passes. */
export const accepts = (schema: Schema.Schema<unknown>, ...values: ReadonlyArray<unknown>): void => {
  for (const value of values) expect(Schema.is(schema)(value), JSON.stringify(value)).toBe(true)
}

/** Expects that no value passes. */
export const refuses = (schema: Schema.Schema<unknown>, ...values: ReadonlyArray<unknown>): void => {
  for (const value of values) expect(Schema.is(schema)(value), JSON.stringify(value)).toBe(false)
}
