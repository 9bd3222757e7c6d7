/**
 * Everything the revisions write is valid under the official schema of that revision, and is read back by us.
 */
import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import * as JsonRpc from "../../src/protocol/JsonRpc.ts"
import type { RequestTypes } from "../../src/protocol/Methods.ts"
import { findNotification, findRequest, type RequestCodec, type Revision } from "../../src/revision/Revision.ts"
import { revisions } from "../../src/revision/Revisions.ts"
import {
  available,
  type Direction,
  validate,
  validateMessage,
  validateResult,
  type Version
} from "../protocol/OfficialSchema.ts"
import * as samples from "./samples.ts"

type Requests = { readonly [method: string]: { readonly params: unknown; readonly result: unknown } }
type Notifications = { readonly [method: string]: { readonly params: unknown } }

const requests = (revision: Revision, from: Direction) =>
  from === "client" ? revision.clientRequests : revision.serverRequests

const notifications = (revision: Revision, from: Direction) =>
  from === "client" ? revision.clientNotifications : revision.serverNotifications

const requestSamples: { readonly [from in Direction]: Requests } = {
  client: samples.clientRequests,
  server: samples.serverRequests
}

const notificationSamples: { readonly [from in Direction]: Notifications } = {
  client: samples.clientNotifications,
  server: samples.serverNotifications
}

/** The sample with all that there is, or the plainer one where the revision refuses that. */
const sampleOf = (from: Direction, method: string, codec: RequestCodec<RequestTypes<unknown, unknown>>) => {
  const sample = requestSamples[from][method]!
  const plain = (samples.plainServerRequests as Requests)[method] ?? sample
  return {
    params: codec.params.refuse?.(sample.params) === undefined ? sample.params : plain.params,
    result: codec.result.refuse?.(sample.result) === undefined ? sample.result : plain.result
  }
}

const embeddedTypes: { readonly [method: string]: string } = {
  "elicitation/create": "Elicit",
  "roots/list": "ListRoots",
  "sampling/createMessage": "CreateMessage"
}

for (const revision of revisions) {
  const version = revision.version as Version

  for (const from of ["client", "server"] as const) {
    describe.skipIf(!available)(`${version}, messages of the ${from}`, () => {
      for (const method of Object.keys(requests(revision, from))) {
        const codec = findRequest(requests(revision, from), method)!
        const sample = sampleOf(from, method, codec)
        const params = codec.params.encode(sample.params)
        const result = codec.result.encode(sample.result)

        it(`${method}: params`, () => {
          if (revision.era === "modern" && from === "server") {
            expect(validate(version, `${embeddedTypes[method]}Request`, { method, params })).toEqual([])
          } else {
            expect(validateMessage(version, from, JsonRpc.request(1, method, params))).toEqual([])
          }
          expect(codec.params.decode(params)).toEqual(Result.succeed(params))
        })

        it(`${method}: result`, () => {
          if (revision.era === "modern" && from === "server") {
            expect(validate(version, `${embeddedTypes[method]}Result`, result)).toEqual([])
          } else {
            expect(validateResult(version, from, method, result)).toEqual([])
          }
          expect(codec.result.decode(result)).toEqual(Result.succeed(result))
        })
      }

      for (const method of Object.keys(notifications(revision, from))) {
        it(method, () => {
          const codec = findNotification(notifications(revision, from), method)!
          const params = codec.params.encode(notificationSamples[from][method]!.params)
          expect(validateMessage(version, from, JsonRpc.notification(method, params))).toEqual([])
          expect(codec.params.decode(params)).toEqual(Result.succeed(params))
        })
      }
    })
  }
}

describe.skipIf(!available)("2026-07-28, input_required", () => {
  it("[MRTR-01, MRTR-04] of the three methods, with bare requests inside", () => {
    const [modern] = revisions
    for (const method of ["tools/call", "prompts/get", "resources/read"]) {
      const codec = findRequest(modern!.clientRequests, method)!.result
      const written = codec.encode(samples.inputRequired)
      expect(validateResult("2026-07-28", "client", method, written)).toEqual([])
      expect(codec.decode(written)).toEqual(Result.succeed(written))
      for (const request of Object.values(written.inputRequests as object)) {
        expect(Object.keys(request as object).filter((member) => member !== "params")).toEqual(["method"])
      }
    }
  })
})
