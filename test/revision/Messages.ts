/**
 * Everything a revision writes when it is given every canonical sample: to look for what must not be in it.
 */
import { findNotification, findRequest, type Revision } from "../../src/revision/Revision.ts"
import * as samples from "./samples.ts"

type Requests = { readonly [method: string]: { readonly params: unknown; readonly result: unknown } }
type Notifications = { readonly [method: string]: { readonly params: unknown } }

const requestSamples = [
  ["clientRequests", samples.clientRequests],
  ["serverRequests", { ...samples.serverRequests, ...samples.plainServerRequests }]
] as const

const notificationSamples = [
  ["clientNotifications", samples.clientNotifications],
  ["serverNotifications", samples.serverNotifications]
] as const

/** Params and results by method, as they are on the wire. */
export const written = (revision: Revision): ReadonlyMap<string, unknown> => {
  const messages = new Map<string, unknown>()
  for (const [side, all] of requestSamples) {
    for (const [method, sample] of Object.entries(all as Requests)) {
      const codec = findRequest(revision[side], method)
      if (codec === undefined) continue
      messages.set(`${method} params of ${side}`, codec.params.encode(sample.params))
      messages.set(`${method} result of ${side}`, codec.result.encode(sample.result))
    }
  }
  for (const [side, all] of notificationSamples) {
    for (const [method, sample] of Object.entries(all as Notifications)) {
      const codec = findNotification(revision[side], method)
      if (codec !== undefined) messages.set(`${method} of ${side}`, codec.params.encode(sample.params))
    }
  }
  return messages
}

/** Where members of this name are, anywhere but inside the `_meta` of a message, which belongs to whoever wrote it. */
export const placesOf = (revision: Revision, member: string): ReadonlyArray<string> => {
  const places: Array<string> = []
  const look = (value: unknown, path: string): void => {
    if (typeof value !== "object" || value === null) return
    for (const [key, inner] of Object.entries(value)) {
      if (key === member) places.push(`${path}.${key}`)
      if (key !== "_meta") look(inner, Array.isArray(value) ? `${path}[]` : `${path}.${key}`)
    }
  }
  for (const [message, value] of written(revision)) look(value, message)
  return [...new Set(places)]
}

/** The methods of one of a revision's tables, in order of name. */
export const methodsOf = (
  revision: Revision,
  side: "clientRequests" | "serverRequests" | "clientNotifications" | "serverNotifications"
): ReadonlyArray<string> => Object.keys(revision[side]).toSorted()
