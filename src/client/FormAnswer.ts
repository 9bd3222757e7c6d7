/**
 * The answer to a form: completed with the form's defaults, and checked before it leaves (ELIC-13, ELIC-16, ELIC-27).
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
 */
import * as Effect from "effect/Effect"
import { compileValidator } from "../protocol/JsonSchemaValidator.ts"
import { McpError } from "../protocol/McpError.ts"
import { without } from "../revision/Rewrite.ts"
import type { Refuse } from "../revision/Spelling.ts"
import type { ElicitContentValue, ElicitationSchema, ElicitResult } from "../protocol/index.ts"

/** Only an accepted form has content. */
export const withoutContent = (answer: ElicitResult): ElicitResult => without(answer, ["content"])

/**
 * Fills in the defaults of what an accepted form leaves out; fails with `DecodeFailure` when it still does not fit.
 * Defaults that the revision in use can't carry, as `refuse` says, are left out: servers send forms that are newer than
 * the revision they agreed to.
 */
export const complete = Effect.fnUntraced(function* (
  form: ElicitationSchema,
  answer: ElicitResult,
  refuse: Refuse<ElicitResult> | undefined
): Effect.fn.Return<ElicitResult, McpError> {
  if (answer.action !== "accept") return withoutContent(answer)
  const content: { [field: string]: ElicitContentValue } = {}
  for (const [field, { default: value }] of Object.entries(form.properties)) {
    if (value === undefined || refuse?.({ ...answer, content: { [field]: value } }) !== undefined) continue
    content[field] = value
  }
  Object.assign(content, answer.content)
  const validate = yield* compileValidator(form)
  const problem = validate(content)
  if (problem !== undefined) return yield* McpError.decode(`The answer does not fit the form: ${problem}`)
  return { ...answer, content }
})
