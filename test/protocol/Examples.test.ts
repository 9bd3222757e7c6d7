/**
 * Every official example of 2026-07-28 must be read, and written back as the same JSON.
 */
import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import * as Protocol from "../../src/protocol/index.ts"
import type { Codec } from "../../src/revision/Codec.ts"
import { findNotification, findRequest } from "../../src/revision/Revision.ts"
import { v2026_07_28 } from "../../src/revision/v2026_07_28.ts"
import { available, specification, validateResult } from "./OfficialSchema.ts"

const folder = `${specification}examples/2026-07-28/`
const types = available ? readdirSync(folder) : []

const clientMethods: { readonly [type: string]: keyof Protocol.ClientRequests } = {
  CallTool: "tools/call",
  Complete: "completion/complete",
  Discover: "server/discover",
  GetPrompt: "prompts/get",
  ListPrompts: "prompts/list",
  ListResourceTemplates: "resources/templates/list",
  ListResources: "resources/list",
  ListTools: "tools/list",
  ReadResource: "resources/read",
  SubscriptionsListen: "subscriptions/listen"
}

const serverMethods: { readonly [type: string]: keyof Protocol.ServerRequests } = {
  CreateMessage: "sampling/createMessage",
  Elicit: "elicitation/create",
  ListRoots: "roots/list"
}

const read = <A>(codec: Codec<A>, wire: JsonRpc.Members | undefined): A => {
  const decoded = codec.decode(wire)
  if (Result.isFailure(decoded)) throw new Error(decoded.failure)
  return decoded.success
}

const requestOf = (type: string) => {
  const client = clientMethods[type]
  const server = serverMethods[type]
  const codec =
    client !== undefined
      ? findRequest(v2026_07_28.clientRequests, client)
      : server !== undefined
        ? findRequest(v2026_07_28.serverRequests, server)
        : undefined
  if (codec === undefined) throw new Error(`No request of type ${type}`)
  return codec
}

/** Reads and writes a JSON value as the type that the folder is named after. */
const roundTrip = (type: string, json: JsonRpc.Members): unknown => {
  const response = /^(.*)ResultResponse$/.exec(type)?.[1]
  if (response !== undefined) {
    const message = JsonRpc.classify(json)
    if (!("result" in message)) throw new Error("Not an answer")
    return { ...message, result: through(requestOf(response).result, message.result) }
  }
  const result = /^(.*)Result$/.exec(type)?.[1]
  if (result === "InputRequired") return through(requestOf("CallTool").result, json)
  if (result !== undefined) return through(requestOf(result).result, json)
  const request = /^(.*)Request$/.exec(type)?.[1]
  if (request !== undefined) {
    const params = json.params as JsonRpc.Members | undefined
    const written = through(requestOf(request).params, params)
    return params === undefined ? json : { ...json, params: written }
  }
  if (type.endsWith("Notification")) {
    const message = JsonRpc.classify(json)
    if (!JsonRpc.isNotification(message)) throw new Error("Not a notification")
    const codec = findNotification(v2026_07_28.serverNotifications, message.method)
    if (codec === undefined) throw new Error(`No notification ${message.method}`)
    const written = through(codec.params, message.params)
    return message.params === undefined ? message : { ...message, params: written }
  }
  if (type.endsWith("Error")) return error(json)
  return checked(schemaOf(type), json)
}

const through = <A>(codec: Codec<A>, wire: JsonRpc.Members | undefined): JsonRpc.Members =>
  codec.encode(read(codec, wire))

/** An error stands alone in some examples, and in an answer in others. */
const error = (json: JsonRpc.Members): unknown => {
  const answer =
    "error" in json ? JsonRpc.classify(json) : JsonRpc.error(undefined, json as unknown as JsonRpc.ErrorObject)
  if (!("error" in answer) || answer instanceof JsonRpc.Malformed) throw new Error("Not an error")
  switch (answer.error.code) {
    case JsonRpc.ErrorCode.UnsupportedProtocolVersion:
      checked(Protocol.UnsupportedProtocolVersionData, answer.error.data)
      break
    case JsonRpc.ErrorCode.MissingRequiredClientCapability:
      checked(Protocol.MissingRequiredClientCapabilityData, answer.error.data)
      break
  }
  return "error" in json ? answer : answer.error
}

const schemaOf = (type: string): Schema.Codec<unknown, unknown> => {
  const schema = (Protocol as unknown as { readonly [name: string]: unknown })[type]
  if (!Schema.isSchema(schema)) throw new Error(`No schema ${type}`)
  return schema as unknown as Schema.Codec<unknown, unknown>
}

const checked = (schema: Schema.Codec<unknown, unknown>, json: unknown): unknown =>
  Schema.decodeUnknownSync(schema, { onExcessProperty: "error" })(json)

const incomplete = "ReadResourceResultResponse/read-resource-result-response.json"

/** One example leaves out the cache hints that its own schema requires; what we write has them. */
const corrected = (path: string, json: JsonRpc.Members): JsonRpc.Members => {
  if (path !== incomplete) return json
  expect(validateResult("2026-07-28", "client", "resources/read", json.result)).not.toEqual([])
  return { ...json, result: { ttlMs: 0, cacheScope: "private", ...(json.result as JsonRpc.Members) } }
}

describe.skipIf(!available)("official examples of 2026-07-28", () => {
  for (const type of types) {
    for (const file of readdirSync(`${folder}${type}`)) {
      it(`${type}: ${file}`, () => {
        const json = JSON.parse(readFileSync(`${folder}${type}/${file}`, "utf8")) as JsonRpc.Members
        expect(JSON.parse(JSON.stringify(roundTrip(type, json)))).toEqual(corrected(`${type}/${file}`, json))
      })
    }
  }

  it("are all there", () => {
    expect(types.length).toBeGreaterThan(80)
  })
})
