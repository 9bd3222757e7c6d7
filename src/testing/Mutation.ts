/**
 * Hostile JSON: what nobody would send on purpose, alone or in place of a part of something valid.
 */
import type * as FastCheck from "fast-check"
import type { FastCheckModule } from "./SchemaArbitrary.ts"

/** JSON text that stands for itself, for what no value can express: numbers out of range, members that come twice. */
export class Raw {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** Writes JSON with raw parts in it. */
export const write = (value: unknown): string => {
  if (value instanceof Raw) return value.text
  if (Array.isArray(value)) return `[${value.map(write).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null"
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${write(member)}`)
  return `{${members.join(",")}}`
}

/** Member names that mean something to JavaScript, to JSON-RPC or to us. */
const names = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "then",
  "",
  "\u0000",
  "\u2028",
  "id",
  "jsonrpc",
  "method",
  "params",
  "result",
  "error",
  "_meta",
  "_tag",
  "arguments",
  "cursor",
  "progressToken",
  "requestState",
  "inputResponses",
  "io.modelcontextprotocol/protocolVersion",
  "io.modelcontextprotocol/clientCapabilities"
]

const values: ReadonlyArray<unknown> = [
  null,
  true,
  false,
  0,
  -1,
  0.5,
  Number.MAX_SAFE_INTEGER + 1,
  Number.MIN_VALUE,
  "",
  "0",
  "\ud800",
  "\u0000",
  "../../../etc/passwd",
  "constructor",
  [],
  {},
  [[]],
  [null],
  { "": null },
  new Raw("1e999"),
  new Raw("-0"),
  new Raw(`1${"0".repeat(400)}`),
  new Raw('{"__proto__":{"polluted":true}}'),
  new Raw('{"constructor":{"prototype":{"polluted":true}}}'),
  new Raw('{"id":1,"id":2}')
]

const nested = (depth: number, object: boolean): Raw =>
  new Raw(object ? '{"a":'.repeat(depth) + "1" + "}".repeat(depth) : "[".repeat(depth) + "]".repeat(depth))

/** How large hostile values get. */
export interface Sizes {
  /** The deepest nesting. */
  readonly depth: number
  /** The longest string, in UTF-16 units. */
  readonly length: number
}

/** A hostile value. */
export const hostileValue = (fc: FastCheckModule, { depth, length }: Sizes): FastCheck.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...values) },
    { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 20 }) },
    { weight: 1, arbitrary: fc.nat({ max: length }).map((size) => "x".repeat(size)) },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.nat({ max: depth }), fc.boolean()).map(([deep, object]) => nested(deep, object))
    },
    { weight: 1, arbitrary: fc.nat({ max: length >> 3 }).map((size) => Array.from({ length: size }, () => 0)) }
  )

/** One change of one place. `at` picks the place, modulo how many there are. */
interface Edit {
  readonly at: number
  readonly kind: "replace" | "remove" | "add" | "rename" | "repeat" | "wrap"
  readonly name: string
  readonly value: unknown
}

interface Place {
  readonly path: ReadonlyArray<string | number>
  readonly value: unknown
}

const places = (value: unknown, path: ReadonlyArray<string | number> = []): ReadonlyArray<Place> => {
  const here: Place = { path, value }
  if (value instanceof Raw || typeof value !== "object" || value === null) return [here]
  const inner = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  return [here, ...inner.flatMap(([key, member]) => places(member, [...path, key]))]
}

const changeAt = (
  value: unknown,
  path: ReadonlyArray<string | number>,
  change: (value: unknown) => unknown
): unknown => {
  const [key, ...rest] = path
  if (key === undefined) return change(value)
  if (Array.isArray(value))
    return value.map((member, index) => (index === key ? changeAt(member, rest, change) : member))
  return Object.fromEntries(
    Object.entries(value as object).map(([name, member]) => [
      name,
      name === key ? changeAt(member, rest, change) : member
    ])
  )
}

const isRecord = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Raw)

const without = (value: unknown, key: string | number): unknown =>
  Array.isArray(value)
    ? value.filter((_, index) => index !== key)
    : Object.fromEntries(Object.entries(value as object).filter(([name]) => name !== key))

const renamed = (value: unknown, from: string | number, to: string): unknown =>
  isRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name === from ? to : name, member]))
    : value

/** A member that is there twice has to be written by hand. */
const repeated = (value: unknown, name: string, other: unknown): unknown => {
  if (!isRecord(value)) return [value, value]
  const text = write(value)
  const again = `${JSON.stringify(name)}:${write(other)}`
  return new Raw(text === "{}" ? `{${again}}` : `${text.slice(0, -1)},${again}}`)
}

const apply = (root: unknown, { at, kind, name, value }: Edit): unknown => {
  const all = places(root)
  const place = all[at % all.length] as Place
  const parent = place.path.slice(0, -1)
  const last = place.path.at(-1)
  switch (kind) {
    case "replace":
      return changeAt(root, place.path, () => value)
    case "remove":
      return last === undefined ? root : changeAt(root, parent, (holder) => without(holder, last))
    case "rename":
      return last === undefined ? root : changeAt(root, parent, (holder) => renamed(holder, last, name))
    case "add":
      return changeAt(root, place.path, (here) =>
        isRecord(here)
          ? Object.fromEntries([...Object.entries(here), [name, value]])
          : Array.isArray(here)
            ? [...here, value]
            : value
      )
    case "repeat":
      return changeAt(root, place.path, (here) => repeated(here, name, value))
    case "wrap":
      return changeAt(root, place.path, (here) => (at % 2 === 0 ? [here] : { [name]: here }))
  }
}

/** Valid JSON with up to `most` changes, as text. */
export const mutatedText = (
  fc: FastCheckModule,
  valid: FastCheck.Arbitrary<unknown>,
  sizes: Sizes,
  most: number
): FastCheck.Arbitrary<string> => {
  const edit: FastCheck.Arbitrary<Edit> = fc.record({
    at: fc.nat({ max: 200 }),
    kind: fc.constantFrom("replace", "remove", "add", "rename", "repeat", "wrap"),
    name: fc.oneof(fc.constantFrom(...names), fc.string({ maxLength: 8 })),
    value: hostileValue(fc, sizes)
  })
  return fc
    .tuple(valid, fc.array(edit, { minLength: 1, maxLength: most }))
    .map(([json, edits]) => write(edits.reduce<unknown>(apply, json)))
}
