/**
 * What the canonical schemas accept and refuse: sampling, elicitation, roots, and asking for input.
 */
import { describe, it } from "@effect/vitest"
import * as Protocol from "../../src/protocol/index.ts"
import { accepts, refuses } from "./Shape.ts"

const text = { type: "text", text: "a" }

describe("what servers ask of clients", () => {
  it("[SAMP-03] sampling needs messages and maxTokens, and answers with a model", () => {
    accepts(Protocol.CreateMessageRequestParams, { messages: [{ role: "user", content: text }], maxTokens: 10 })
    refuses(
      Protocol.CreateMessageRequestParams,
      { messages: [] },
      { maxTokens: 10 },
      { messages: [], maxTokens: 0.5 },
      { messages: [{ role: "system", content: text }], maxTokens: 10 }
    )
    accepts(Protocol.CreateMessageResult, { role: "assistant", content: text, model: "m", stopReason: "whatever" })
    refuses(Protocol.CreateMessageResult, { role: "assistant", content: text }, { role: "assistant", model: "m" })
  })

  it("[SAMP-05, SAMP-07] content is one block or several, tools included", () => {
    const use = { type: "tool_use", id: "1", name: "a", input: {} }
    const result = { type: "tool_result", toolUseId: "1", content: [text] }
    accepts(
      Protocol.SamplingMessage,
      { role: "user", content: text },
      { role: "user", content: [result] },
      { role: "assistant", content: [text, use, use] },
      { role: "assistant", content: [] }
    )
    refuses(
      Protocol.SamplingMessage,
      { role: "user", content: { type: "tool_result", toolUseId: "1" } },
      { role: "assistant", content: [{ type: "tool_use", id: "1", name: "a" }] }
    )
  })

  it("[SAMP-09] the tool choice is auto, required or none", () => {
    accepts(Protocol.ToolChoice, {}, { mode: "auto" }, { mode: "required" }, { mode: "none" })
    refuses(Protocol.ToolChoice, { mode: "any" })
  })

  const form = { message: "a", requestedSchema: { type: "object", properties: {} } }

  it("[ELIC-06, ELIC-07] elicitation is a form unless its mode is url", () => {
    accepts(
      Protocol.ElicitRequestParams,
      form,
      { ...form, mode: "form" },
      { mode: "url", message: "a", url: "https://b" }
    )
    refuses(
      Protocol.ElicitRequestParams,
      { message: "a" },
      { requestedSchema: form.requestedSchema },
      { mode: "url", message: "a" },
      { mode: "url", url: "https://b" },
      { message: "a", url: "https://b" },
      { ...form, mode: "voice" }
    )
  })

  it("[ELIC-15, ELIC-16] forms are flat: strings, numbers, booleans and choices", () => {
    accepts(
      Protocol.PrimitiveSchemaDefinition,
      { type: "string", minLength: 1, maxLength: 2, format: "date-time", default: "a" },
      { type: "number", minimum: 0.5, maximum: 2, default: 1 },
      { type: "integer" },
      { type: "boolean", default: false },
      { type: "string", enum: ["a"], enumNames: ["A"] },
      { type: "string", oneOf: [{ const: "a", title: "A" }], default: "a" },
      { type: "array", items: { type: "string", enum: ["a"] }, minItems: 1, default: ["a"] },
      { type: "array", items: { anyOf: [{ const: "a", title: "A" }] } }
    )
    refuses(
      Protocol.PrimitiveSchemaDefinition,
      { type: "object", properties: {} },
      { type: "array", items: { type: "object" } },
      { type: "string", format: "password" },
      { type: "string", minLength: 0.5 },
      { type: "boolean", default: "yes" }
    )
    refuses(Protocol.ElicitRequestParams, { message: "a", requestedSchema: { type: "array", properties: {} } })
  })

  it("[ELIC-13, ELIC-14] the answer is accept, decline or cancel, with flat values", () => {
    accepts(
      Protocol.ElicitResult,
      { action: "decline" },
      { action: "cancel" },
      { action: "accept", content: { a: "b", c: 1.5, d: true, e: ["f"] } }
    )
    refuses(
      Protocol.ElicitResult,
      { action: "reject" },
      { content: {} },
      { action: "accept", content: { a: {} } },
      { action: "accept", content: { a: [1] } },
      { action: "accept", content: { a: null } }
    )
  })

  it("[ROOT-03] roots have a uri and maybe a name", () => {
    accepts(Protocol.ListRootsResult, { roots: [] }, { roots: [{ uri: "file:///a" }, { uri: "file:///b", name: "b" }] })
    refuses(Protocol.ListRootsResult, {}, { roots: [{ name: "a" }] }, { roots: ["file:///a"] })
  })

  it("[MRTR-03] input_required has questions or a state", () => {
    const ask = { roots: { method: "roots/list" } }
    accepts(
      Protocol.InputRequiredResult,
      { resultType: "input_required", inputRequests: ask },
      { resultType: "input_required", requestState: "" },
      { resultType: "input_required", inputRequests: {}, requestState: "a" }
    )
    refuses(
      Protocol.InputRequiredResult,
      { resultType: "input_required" },
      { resultType: "input_required", inputRequests: {} },
      { resultType: "input_required", inputRequests: { a: { method: "tools/list" } } },
      { inputRequests: ask }
    )
  })
})
