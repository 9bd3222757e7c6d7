/**
 * JSON-RPC 2.0 as MCP uses it: the envelope, ids, error codes, and the one place where bytes become messages.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic
 */
import * as Predicate from "effect/Predicate"
import { defaultMaximumDepth, isDeeper } from "./JsonDepth.ts"

/** An id as the peer sent it: a string or an integer, never `null` (BASE-02, BASE-03). */
export type RequestId = string | number

/** The members of a `params` or `result` object; open, so unknown members survive. */
export interface Members {
  readonly [member: string]: unknown
}

/** A request: it has an id and will be answered exactly once, unless it is cancelled. */
export interface Request {
  readonly jsonrpc: "2.0"
  readonly id: RequestId
  readonly method: string
  readonly params?: Members | undefined
}

/** A notification: no id, never answered. */
export interface Notification {
  readonly jsonrpc: "2.0"
  readonly method: string
  readonly params?: Members | undefined
}

/** A successful answer. */
export interface ResultResponse {
  readonly jsonrpc: "2.0"
  readonly id: RequestId
  readonly result: Members
}

/** The `error` member of a failed answer. `code` is an integer, `data` may be anything (BASE-10). */
export interface ErrorObject {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** A failed answer. `id` is left out only when the id of the request could not be read (BASE-09). */
export interface ErrorResponse {
  readonly jsonrpc: "2.0"
  readonly id?: RequestId | undefined
  readonly error: ErrorObject
}

/** An answer of either kind. */
export type Response = ResultResponse | ErrorResponse

/** Any well-formed message. */
export type Message = Request | Notification | Response

/**
 * Something that arrived and was not a message: text that is not JSON, or JSON that is not JSON-RPC.
 * `error` is what JSON-RPC says to answer; `id` is there when it could be read.
 * `response` tells that it was meant as an answer, so nobody must answer it.
 */
export class Malformed {
  readonly _tag = "Malformed"
  readonly error: ErrorObject
  readonly id: RequestId | undefined
  readonly response: boolean
  constructor(error: ErrorObject, id?: RequestId, response = false) {
    this.error = error
    this.id = id
    this.response = response
  }
}

/**
 * Several messages that came in one array: only in 2025-03-26 (BASE-15). What the array holds is read when it is asked
 * for, so that a batch that nobody takes costs next to nothing.
 */
export class Batch {
  readonly _tag = "Batch"
  readonly #values: ReadonlyArray<unknown>
  #messages: ReadonlyArray<Message | Malformed> | undefined
  constructor(values: ReadonlyArray<unknown>) {
    this.#values = values
  }

  /** How many messages there are. */
  get size(): number {
    return this.#values.length
  }

  /** The messages, in order, each of them good or bad by itself. */
  get messages(): ReadonlyArray<Message | Malformed> {
    return (this.#messages ??= this.#values.map(classifyMessage))
  }

  /** Whether any of the messages has to be answered. */
  get needsAnswer(): boolean {
    return this.#values.some((value) => needsAnswer(classifyMessage(value)))
  }
}

/** What a transport hands up: a message, several in one array, or the reason why the bytes were neither. */
export type Incoming = Message | Malformed | Batch

/** What a transport is given to send: a message, or several that go out as one array (2025-03-26 only). */
export type Outgoing = Message | ReadonlyArray<Message>

/** Codes of JSON-RPC and of MCP (ERR-01, ERR-08, ERR-09, ERR-10). */
export const ErrorCode = {
  ParseError: -32700,
  InvalidRequest: -32600,
  MethodNotFound: -32601,
  InvalidParams: -32602,
  InternalError: -32603,
  /** Up to 2025-11-25; retired in 2026-07-28, where `InvalidParams` says it. */
  ResourceNotFound: -32002,
  /** 2025-11-25 only. */
  UrlElicitationRequired: -32042,
  /** From 2026-07-28. */
  HeaderMismatch: -32020,
  /** From 2026-07-28. */
  MissingRequiredClientCapability: -32021,
  /** From 2026-07-28. */
  UnsupportedProtocolVersion: -32022,
  /** Ours: a limit of this runtime was reached. Outside the reserved range, as ERR-13 asks. */
  LimitExceeded: -31429
} as const

/** Whether a value can be a request id: a string or an integer. */
export const isRequestId = (value: unknown): value is RequestId =>
  typeof value === "string" || (typeof value === "number" && Number.isInteger(value))

/** Whether a message is a request. */
export const isRequest = (message: Incoming | Outgoing): message is Request => "method" in message && "id" in message

/** Whether a message is a notification. */
export const isNotification = (message: Incoming | Outgoing): message is Notification =>
  "method" in message && !("id" in message)

/** Whether a message is an answer. */
export const isResponse = (message: Incoming | Outgoing): message is Response =>
  "result" in message || ("error" in message && !(message instanceof Malformed))

/** Whether a message has to be answered, were it only to say that it is none. */
export const needsAnswer = (message: Incoming): boolean => {
  if (message instanceof Malformed) return !message.response
  return message instanceof Batch ? message.needsAnswer : isRequest(message)
}

/** Whether several messages are to be sent in one array. */
export const isBatch = (message: Outgoing): message is ReadonlyArray<Message> => Array.isArray(message)

/** Builds a request. */
export const request = (id: RequestId, method: string, params?: Members): Request =>
  params === undefined ? { jsonrpc: "2.0", id, method } : { jsonrpc: "2.0", id, method, params }

/** Builds a notification. */
export const notification = (method: string, params?: Members): Notification =>
  params === undefined ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", method, params }

/** Builds a successful answer. */
export const result = (id: RequestId, value: Members): ResultResponse => ({ jsonrpc: "2.0", id, result: value })

/** Builds a failed answer; without an id when the request's could not be read. */
export const error = (id: RequestId | undefined, value: ErrorObject): ErrorResponse =>
  id === undefined ? { jsonrpc: "2.0", error: value } : { jsonrpc: "2.0", id, error: value }

const invalid = (message: string, id?: unknown, response = false) =>
  new Malformed({ code: ErrorCode.InvalidRequest, message }, isRequestId(id) ? id : undefined, response)

/**
 * Reads a JSON value as a message. Unknown members of the envelope are allowed; what JSON-RPC requires is checked.
 * The returned message is the value itself, so that nothing is copied and nothing unknown is lost.
 */
export const classify = (value: unknown): Incoming => {
  if (!Array.isArray(value)) return classifyMessage(value)
  return value.length === 0 ? invalid("A batch must hold at least one message") : new Batch(value)
}

const classifyMessage = (value: unknown): Message | Malformed => {
  if (!Predicate.isObject(value)) {
    return invalid(Array.isArray(value) ? "A batch must not hold another one" : "A message must be a JSON object")
  }
  const message = value as Members
  const isAnswer = !("method" in message)
  if (message.jsonrpc !== "2.0") return invalid('"jsonrpc" must be "2.0"', message.id, isAnswer)
  if (isAnswer) return classifyResponse(message)
  if (typeof message.method !== "string") return invalid('"method" must be a string', message.id)
  // What JSON-RPC wants left out, programs in some languages spell as null.
  if (message.params === null) return classifyMessage(withoutParams(message))
  if (message.params !== undefined && !Predicate.isObject(message.params)) {
    return invalid('"params" must be an object', message.id)
  }
  if ("id" in message && !isRequestId(message.id)) return invalid('"id" must be a string or an integer')
  return message as unknown as Request | Notification
}

const withoutParams = ({ params: _params, ...message }: Members): Members => message

const classifyResponse = (message: Members): Response | Malformed => {
  const { error: failure, id, result: success } = message
  if (success !== undefined && failure !== undefined) {
    return invalid('An answer has either "result" or "error", not both', id, true)
  }
  if (success !== undefined) {
    if (!isRequestId(id)) return invalid('"id" must be a string or an integer', undefined, true)
    if (!Predicate.isObject(success)) return invalid('"result" must be an object', id, true)
    return message as unknown as ResultResponse
  }
  if (failure === undefined) return invalid('A message needs "method", "result" or "error"', id, isRequestId(id))
  const object = failure as Partial<ErrorObject>
  if (!Predicate.isObject(failure) || !Number.isInteger(object.code) || typeof object.message !== "string") {
    return invalid('"error" must have an integer "code" and a string "message"', id, true)
  }
  // A peer that could not read the id says null or nothing (A31).
  if (id === null || id === undefined) return error(undefined, failure as unknown as ErrorObject)
  if (!isRequestId(id)) return invalid('"id" must be a string or an integer', undefined, true)
  return message as unknown as ErrorResponse
}

/** Reads text as a message. Never throws. What nests deeper than `maximumDepth`, by default 128 levels, is none. */
export const parse = (text: string, maximumDepth: number = defaultMaximumDepth): Incoming => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return new Malformed({ code: ErrorCode.ParseError, message: "Parse error: the message is not JSON" })
  }
  return isDeeper(text, value, maximumDepth) ? tooDeep(value, maximumDepth) : classify(value)
}

const tooDeep = (value: unknown, maximum: number): Malformed => {
  const message = `The message nests deeper than ${maximum} levels`
  return Predicate.isObject(value) ? invalid(message, (value as Members).id, !("method" in value)) : invalid(message)
}

/** Writes a message, or an array of them, as one line of JSON, without the line end. */
export const stringify = (message: Outgoing): string => JSON.stringify(message)
