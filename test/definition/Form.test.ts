/**
 * Forms that are made of schemas: flat, and in the specification's own words.
 */
import { expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as Form from "../../src/definition/Form.ts"

const Titled = Schema.Union([
  Schema.Literal("a").annotate({ title: "First" }),
  Schema.Literal("b").annotate({ title: "Second" })
])

const fieldOf = (schema: Schema.Top): unknown =>
  Result.map(Form.fromSchema(Schema.Struct({ field: schema })), ({ properties }) => properties.field)

it("[ELIC-15] strings, numbers and booleans keep their default and their bounds", () => {
  expect(fieldOf(Schema.String.annotate({ default: "John Doe" }))).toEqual(
    Result.succeed({ type: "string", default: "John Doe" })
  )
  const Age = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 150 })).annotate({ default: 30 })
  expect(fieldOf(Age)).toEqual(Result.succeed({ type: "integer", minimum: 0, maximum: 150, default: 30 }))
  expect(fieldOf(Schema.Number.annotate({ default: 95.5 }))).toEqual(Result.succeed({ type: "number", default: 95.5 }))
  expect(fieldOf(Schema.Boolean.annotate({ default: true }))).toEqual(
    Result.succeed({ type: "boolean", default: true })
  )
  expect(fieldOf(Schema.String.check(Schema.isMinCodePoints(2), Schema.isMaxCodePoints(5)))).toEqual(
    Result.succeed({ type: "string", minLength: 2, maxLength: 5 })
  )
})

it("[ELIC-16] one choice is an enum, or oneOf when it has titles", () => {
  expect(fieldOf(Schema.Literals(["x", "y"]))).toEqual(Result.succeed({ type: "string", enum: ["x", "y"] }))
  expect(fieldOf(Titled)).toEqual(
    Result.succeed({
      type: "string",
      oneOf: [
        { const: "a", title: "First" },
        { const: "b", title: "Second" }
      ]
    })
  )
})

it("[ELIC-16] several choices are a list of an enum, or of anyOf when they have titles", () => {
  expect(fieldOf(Schema.Array(Schema.Literals(["x", "y"])))).toEqual(
    Result.succeed({ type: "array", items: { type: "string", enum: ["x", "y"] } })
  )
  expect(fieldOf(Schema.Array(Titled).check(Schema.isMinLength(1)))).toEqual(
    Result.succeed({
      type: "array",
      minItems: 1,
      items: {
        anyOf: [
          { const: "a", title: "First" },
          { const: "b", title: "Second" }
        ]
      }
    })
  )
})

it("[ELIC-06] what a form can't ask for is refused, and named", () => {
  for (const schema of [
    Schema.Struct({ inner: Schema.String }),
    Schema.Array(Schema.String),
    Schema.Array(Schema.Array(Titled)),
    Schema.Union([Schema.String, Schema.Number])
  ]) {
    expect(Form.fromSchema(Schema.Struct({ field: schema }))).toEqual(
      Result.fail('"field" is neither a string, a number, a boolean nor a choice of strings')
    )
  }
})

it("a field that may be left out is not required", () => {
  const form = Form.fromSchema(Schema.Struct({ must: Schema.String, may: Schema.optional(Schema.String) }))
  expect(form).toEqual(
    Result.succeed({
      type: "object",
      properties: { must: { type: "string" }, may: { type: "string" } },
      required: ["must"]
    })
  )
})
