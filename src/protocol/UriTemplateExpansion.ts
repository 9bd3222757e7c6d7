/**
 * Expansion of URI templates: from values to a URI.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6570#section-3.2
 */
import type { Operator, UriTemplate, Value, Values, VariableSpecification } from "./UriTemplate.ts"

/** How an operator joins and encodes its values (RFC 6570, appendix A). */
interface Style {
  readonly first: string
  readonly separator: string
  readonly named: boolean
  /** What follows the name of an empty value. */
  readonly whenEmpty: string
  /** Whether reserved characters and percent-encoded triplets stay as they are. */
  readonly reserved: boolean
}

const styles: { readonly [operator in Operator]: Style } = {
  "": { first: "", separator: ",", named: false, whenEmpty: "", reserved: false },
  "+": { first: "", separator: ",", named: false, whenEmpty: "", reserved: true },
  "#": { first: "#", separator: ",", named: false, whenEmpty: "", reserved: true },
  ".": { first: ".", separator: ".", named: false, whenEmpty: "", reserved: false },
  "/": { first: "/", separator: "/", named: false, whenEmpty: "", reserved: false },
  ";": { first: ";", separator: ";", named: true, whenEmpty: "", reserved: false },
  "?": { first: "?", separator: "&", named: true, whenEmpty: "=", reserved: false },
  "&": { first: "&", separator: "&", named: true, whenEmpty: "=", reserved: false }
}

/**
 * Puts values into a template. Never fails: a variable without a value expands to nothing, and characters that a URI
 * can't have are percent-encoded as UTF-8. Lone surrogates become U+FFFD. A length (`{name:3}`) has no effect on lists
 * and maps, for which RFC 6570 does not define it.
 */
export const expand = (template: UriTemplate, values: Values): string => {
  let out = ""
  for (const part of template.parts) {
    if (part._tag === "Literal") {
      out += encodeReserved(part.text)
      continue
    }
    const style = styles[part.operator]
    const pieces = part.variables.flatMap((variable) =>
      Object.hasOwn(values, variable.name) ? expandVariable(style, variable, values[variable.name]) : []
    )
    if (pieces.length > 0) out += style.first + pieces.join(style.separator)
  }
  return out
}

const expandVariable = (style: Style, variable: VariableSpecification, value: Value): ReadonlyArray<string> => {
  if (value === undefined || value === null) return []
  const encode = style.reserved ? encodeReserved : encodeUnreserved
  if (typeof value !== "object") {
    const text = variable.prefix === undefined ? String(value) : [...String(value)].slice(0, variable.prefix).join("")
    return [style.named ? named(style, variable.name, encode(text)) : encode(text)]
  }
  if (isList(value)) {
    const members = value
      .filter((member) => member !== undefined && member !== null)
      .map(String)
      .map(encode)
    if (members.length === 0) return []
    if (variable.explode) return style.named ? members.map((member) => named(style, variable.name, member)) : members
    return [style.named ? named(style, variable.name, members.join(",")) : members.join(",")]
  }
  const pairs = Object.entries(value).flatMap(([key, member]) =>
    member === undefined || member === null ? [] : [[encode(key), encode(String(member))] as const]
  )
  if (pairs.length === 0) return []
  if (variable.explode) {
    return pairs.map(([key, member]) => (style.named ? named(style, key, member) : `${key}=${member}`))
  }
  const joined = pairs.map(([key, member]) => `${key},${member}`).join(",")
  return [style.named ? named(style, variable.name, joined) : joined]
}

// `Array.isArray` does not narrow readonly arrays away.
const isList = (value: Value & object): value is Extract<Value, ReadonlyArray<unknown>> => Array.isArray(value)

const named = (style: Style, name: string, encoded: string): string =>
  encoded === "" ? name + style.whenEmpty : `${name}=${encoded}`

const percent = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`

/** Leaves only the unreserved characters of RFC 3986 as they are. */
const encodeUnreserved = (text: string): string => encodeURIComponent(text.toWellFormed()).replace(/[!'()*]/g, percent)

/** Leaves reserved characters and percent-encoded triplets as they are too. */
const encodeReserved = (text: string): string =>
  encodeURI(text.toWellFormed())
    .replace(/%5B/g, "[")
    .replace(/%5D/g, "]")
    .replace(/%25([0-9A-Fa-f]{2})/g, "%$1")
